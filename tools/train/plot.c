/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The drawing of --plot: gnuplot is handed a script with the numbers in it.
 * Three panels: loss by step, test accuracy by epoch, and where the time of a
 * step went in each epoch.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "train.h"

typedef unsigned long long ull;

static bool have_gnuplot(void)
{
	const char *path = getenv("PATH");
	char file[PATH_MAX];

	while (path && *path) {
		size_t len = strcspn(path, ":");

		snprintf(file, sizeof(file), "%.*s/gnuplot", (int)len, path);
		if (!access(file, X_OK))
			return true;
		path += len + (path[len] == ':');
	}
	return false;
}

int plot_probe(const char *path, char *why)
{
	FILE *file;

	if (!have_gnuplot())
		return fail(why, "--plot needs gnuplot, which is not in PATH; "
			    "install the Debian package gnuplot-nox, or leave "
			    "out --plot");
	if (strpbrk(path, "'\n"))
		return fail(why, "--plot: the file name must not contain a "
			    "quote or a new line");
	file = replace_open(path, why);
	if (!file)
		return -1;
	return replace_close(file, path, false, why);
}

static void put_losses(FILE *out, const struct report *r)
{
	/* A smoothed line reads better than a cloud.  It follows quickly at
	 * first, when the loss falls quickly. */
	double smooth = 0;
	size_t i;

	fprintf(out, "$loss << EOD\n");
	for (i = 0; i < r->losses; i++) {
		double weight = i < 120 ? 4 / (double)(i + 4) : 4 / 124.;
		ull step = r->first + i + 1;

		smooth += weight * (r->loss[i] - smooth);
		fprintf(out, "%llu %.6g %.6g\n", step, r->loss[i], smooth);
	}
	fprintf(out, "EOD\n");
}

static void put_epochs(FILE *out, const struct report *r)
{
	size_t i;

	fprintf(out, "$epoch << EOD\n");
	for (i = 0; i < r->epochs; i++) {
		const struct epoch_report *e = &r->epoch[i];

		fprintf(out, "%llu %.6g %.6g %.6g %.6g %.6g\n",
			(ull)e->epoch,
			e->accuracy < 0 ? NAN : e->accuracy * 100,
			e->mean.compute * 1e3, e->mean.communicate * 1e3,
			e->mean.wait * 1e3, e->mean.other * 1e3);
	}
	fprintf(out, "EOD\n");
}

static const char panels[] =
	"set grid ytics lc rgb '#dddddd'\n"
	"set border 3\n"
	"set tics nomirror\n"
	"set lmargin 9\n"
	"set rmargin 19\n"
	"set key outside right top\n"
	"set multiplot layout 3,1\n"
	"set title 'Training loss'\n"
	"set xlabel 'step'\n"
	"if (learning) {\n"
	"set logscale y\n"
	"set ytics (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50)\n"
	"set yrange [loss_low:loss_high]\n"
	"set xrange [begin:end]\n"
	"plot $loss using 1:2 with points pt 7 ps 0.25 lc rgb '#8fb0dc' "
	"title 'each step', "
	"'' using 1:3 with lines lw 2 lc rgb '#1f5fa8' title 'smoothed'\n"
	"unset logscale y\n"
	"set ytics autofreq\n"
	"} else {\n"
	"set label 1 'computing was emulated' at graph 0.5,0.5 center\n"
	"set xrange [0:1]\n"
	"set yrange [0:1]\n"
	"plot NaN notitle\n"
	"unset label 1\n"
	"}\n"
	"every = ceil((last - first + 1) / 20.)\n"
	"set title 'Test accuracy'\n"
	"set xlabel 'epoch'\n"
	"set ylabel '%'\n"
	"set xtics every\n"
	"set xrange [first - 0.6:last + 0.6]\n"
	"if (known) {\n"
	"set yrange [right_low:right_high]\n"
	"plot $epoch using 1:2 with linespoints lw 2 pt 7 ps 0.7 "
	"lc rgb '#2a8a4a' notitle\n"
	"} else {\n"
	"set label 1 'not measured' at graph 0.5,0.5 center\n"
	"set yrange [0:100]\n"
	"plot NaN notitle\n"
	"unset label 1\n"
	"}\n"
	"set title 'Time of a step, mean of all ranks'\n"
	"set ylabel 'ms'\n"
	"set yrange [0:*]\n"
	"set style data histograms\n"
	"set style histogram rowstacked\n"
	"set style fill solid 0.9 noborder\n"
	"set boxwidth 0.6\n"
	"set xtics autofreq\n"
	"set xrange [-0.6:last - first + 0.6]\n"
	"name(row, epoch) = int(row) % every ? '' : epoch\n"
	"plot $epoch using 3:xtic(name($0, stringcolumn(1))) "
	"lc rgb '#1f5fa8' title 'computing', "
	"'' using 4 lc rgb '#e08a1e' title 'communicating', "
	"'' using 5 lc rgb '#b03a3a' title 'waiting', "
	"'' using 6 lc rgb '#999999' title 'other'\n"
	"unset multiplot\n"
	"unset output\n";

/* Ranges, which gnuplot would not make from a single value. */
static void put_ranges(FILE *out, const struct report *r)
{
	double low = INFINITY, high = 0, worst = 100, best = -1;
	size_t i;

	for (i = 0; i < r->losses; i++) {
		low = fmin(low, r->loss[i]);
		high = fmax(high, r->loss[i]);
	}
	for (i = 0; i < r->epochs; i++) {
		double right = r->epoch[i].accuracy * 100;

		best = fmax(best, right);
		if (right >= 0)
			worst = fmin(worst, right);
	}
	fprintf(out, "learning = %d\nloss_low = %g\nloss_high = %g\n",
		high > 0, high > 0 ? fmax(low, 1e-12) * 0.8 : 0, high * 1.25);
	fprintf(out, "known = %d\nright_low = %g\nright_high = %g\n",
		best >= 0, worst - 0.5, best + 0.5);
	fprintf(out, "begin = %llu\nend = %llu\n", (ull)r->first,
		(ull)r->first + r->losses);
	fprintf(out, "first = %llu\nlast = %llu\n", (ull)r->epoch[0].epoch,
		(ull)r->epoch[r->epochs - 1].epoch);
}

static void put_script(FILE *out, const char *name, const struct report *r)
{
	fprintf(out, "set terminal svg size 800,900 font 'sans-serif,13' "
		"background rgb 'white'\n"
		"set output '%s'\n", name);
	put_ranges(out, r);
	put_losses(out, r);
	put_epochs(out, r);
	fputs(panels, out);
}

int plot_draw(const char *path, const struct report *r, char *why)
{
	char name[PATH_MAX];
	void (*old)(int);
	FILE *out;
	int status;

	if (r->epochs == 0)
		return fail(why, "there is nothing to draw in %s: no step was "
			    "made", path);
	snprintf(name, sizeof(name), "%s.tmp", path);
	/* If gnuplot ends early, its status says so; no signal is needed. */
	old = signal(SIGPIPE, SIG_IGN);
	out = popen("gnuplot", "we");
	if (!out) {
		signal(SIGPIPE, old);
		return fail(why, "cannot start gnuplot: %s", strerror(errno));
	}
	put_script(out, name, r);
	status = pclose(out);
	signal(SIGPIPE, old);
	if (status || rename(name, path)) {
		unlink(name);
		return fail(why, "gnuplot could not draw %s (its status: %d)",
			    path, WIFEXITED(status) ? WEXITSTATUS(status) :
			    -1);
	}
	return 0;
}
