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
	/* A smoothed line reads better than a cloud. */
	double smooth = NAN, keep = r->losses > 200 ? 0.97 : 0.8;
	size_t i;

	fprintf(out, "$loss << EOD\n");
	for (i = 0; i < r->losses; i++) {
		smooth = isnan(smooth) ? r->loss[i] :
			 keep * smooth + (1 - keep) * r->loss[i];
		fprintf(out, "%llu %.6g %.6g\n",
			(unsigned long long)(r->first + i + 1), r->loss[i],
			smooth);
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
			(unsigned long long)e->epoch,
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
	"set multiplot layout 3,1\n"
	"set title 'Training loss'\n"
	"set xlabel 'step'\n"
	"set key top right\n"
	"if (learning) {\n"
	"plot $loss using 1:2 with dots lc rgb '#a0b8d8' notitle, "
	"$loss using 1:3 with lines lw 2 lc rgb '#1f5fa8' title 'smoothed'\n"
	"} else {\n"
	"set label 1 'computing was emulated' at graph 0.5,0.5 center\n"
	"set xrange [0:1]\n"
	"set yrange [0:1]\n"
	"plot NaN notitle\n"
	"unset label 1\n"
	"set yrange [*:*]\n"
	"}\n"
	"set title 'Test accuracy'\n"
	"set xlabel 'epoch'\n"
	"set ylabel '%'\n"
	"set xtics 1\n"
	"set xrange [first - 0.6:last + 0.6]\n"
	"if (known) {\n"
	"plot $epoch using 1:2 with linespoints lw 2 pt 7 lc rgb '#2a8a4a' "
	"notitle\n"
	"} else {\n"
	"set label 1 'not measured' at graph 0.5,0.5 center\n"
	"set yrange [0:100]\n"
	"plot NaN notitle\n"
	"unset label 1\n"
	"set yrange [*:*]\n"
	"}\n"
	"set title 'Time of a step, mean of all ranks'\n"
	"set ylabel 'ms'\n"
	"set yrange [0:*]\n"
	"set style data histograms\n"
	"set style histogram rowstacked\n"
	"set style fill solid 0.9 noborder\n"
	"set boxwidth 0.6\n"
	"set key outside right top\n"
	"set xrange [-0.6:last - first + 0.6]\n"
	"plot $epoch using 3:xtic(1) lc rgb '#1f5fa8' title 'computing', "
	"'' using 4 lc rgb '#e08a1e' title 'communicating', "
	"'' using 5 lc rgb '#b03a3a' title 'waiting', "
	"'' using 6 lc rgb '#999999' title 'other'\n"
	"unset multiplot\n"
	"unset output\n";

static void put_script(FILE *out, const char *name, const struct report *r)
{
	bool known = false;
	size_t i;

	for (i = 0; i < r->epochs; i++)
		known = known || r->epoch[i].accuracy >= 0;
	fprintf(out, "set terminal svg size 800,900 font 'sans-serif,13' "
		"background rgb 'white'\n"
		"set output '%s'\n", name);
	fprintf(out, "first = %llu\nlast = %llu\nknown = %d\nlearning = %d\n",
		(unsigned long long)r->epoch[0].epoch,
		(unsigned long long)r->epoch[r->epochs - 1].epoch, known,
		r->opt->emulate_ms <= 0);
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
