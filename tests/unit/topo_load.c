/* SPDX-License-Identifier: BSD-3-Clause */
/* Machines from files and descriptions have the parts they should, and what
 * is no machine gives a flat one with a reason. */
#include "config.h"

#include "base/bits.h"
#include "base/fail.h"
#include "base/settings.h"
#include "topo/topo.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(topo_load, .timeout = 60);

static const char *fixture(const char *name, char *out, size_t cap)
{
	const char *top = getenv("top_srcdir");

	snprintf(out, cap, "%s/tests/fixtures/%s.xml", top ? top : ".", name);
	return out;
}

static struct tutti_topo *load(const char *xml, const char *synthetic)
{
	struct tutti_topo_from from = { .xml = xml, .synthetic = synthetic,
					.devices = true };
	struct tutti_topo *t = tutti_topo_load(&from);

	cr_assert_not_null(t);
	return t;
}

/* What can be used of each; pus are all there are. */
static const struct machine {
	const char *name, *synthetic;
	int packages, dies, numas, llc_level, llcs, cores, allowed, pus;
	int devices;
} machines[] = {
	{ "0s8l2-16c", "l2:8(size=2MiB) core:2 pu:1",
	  0, 0, 1, 2, 8, 16, 16, 16, 0 },
	{ "1s2c", "pack:1 [numa] l3:1 core:2 pu:1", 1, 0, 1, 3, 1, 2, 2, 2, 0 },
	{ "1s2d-12c", "pack:1 [numa] die:2 l3:1 core:6 pu:1",
	  1, 2, 1, 3, 2, 12, 12, 12, 0 },
	{ "1s4l3-16c", "pack:1 [numa] l3:4 core:4 pu:1",
	  1, 0, 1, 3, 4, 16, 16, 16, 0 },
	{ "1s8c-smt2", "pack:1 [numa] l3:1 l2:8 core:1 pu:2(indexes=2*8:1*2)",
	  1, 0, 1, 3, 1, 8, 16, 16, 0 },
	{ "2s16c", "pack:2 [numa] l3:1 core:8 pu:1",
	  2, 0, 2, 3, 2, 16, 16, 16, 0 },
	{ "2s16c-nic", NULL, 2, 0, 2, 3, 2, 16, 16, 16, 5 },
	{ "2s16c-odd", NULL, 2, 0, 2, 3, 2, 8, 8, 16, 0 },
	{ "2s8c-uneven", NULL, 2, 0, 2, 3, 2, 8, 8, 8, 0 },
	{ "2s4n-16c-smt2",
	  "pack:2 group:2 [numa] l3:1 core:4 pu:2(indexes=2*16:1*2)",
	  2, 0, 4, 3, 4, 16, 32, 32, 0 },
	{ "2s8l3-32c", "pack:2 [numa] l3:4 core:4 pu:1",
	  2, 0, 2, 3, 8, 32, 32, 32, 0 },
	{ "2s8n-32c", "pack:2 group:4 [numa] l3:1 core:4 pu:1",
	  2, 0, 8, 3, 8, 32, 32, 32, 0 },
	{ "4s32c", "pack:4 [numa] l3:1 core:8 pu:1",
	  4, 0, 4, 3, 4, 32, 32, 32, 0 },
	{ "8s32c", "pack:8 [numa] l3:1 core:4 pu:1",
	  8, 0, 8, 3, 8, 32, 32, 32, 0 },
};

static void compare(const struct tutti_topo *t, const struct machine *m)
{
	cr_assert_not(t->flat, "%s: %s", m->name, t->reason);
	cr_assert_not(t->live);
	cr_assert_neq(t->source, 0);
	cr_expect_eq(tutti_topo_count(t, TUTTI_TOPO_PACKAGE, 0), m->packages);
	cr_expect_eq(tutti_topo_count(t, TUTTI_TOPO_DIE, 0), m->dies);
	cr_expect_eq(tutti_topo_count(t, TUTTI_TOPO_NUMA, 0), m->numas);
	cr_expect_eq(t->llc_level, m->llc_level);
	cr_expect_eq(tutti_topo_count(t, TUTTI_TOPO_CACHE, t->llc_level),
		     m->llcs, "%s", m->name);
	cr_expect_eq(tutti_topo_count(t, TUTTI_TOPO_CORE, 0), m->cores);
	cr_expect_eq(tutti_topo_count(t, TUTTI_TOPO_PU, 0), m->allowed);
	cr_expect_eq(tutti_topo_allowed(t, 0, t->npus), m->allowed);
	cr_expect_eq(t->npus, m->pus);
	cr_expect_eq(t->ndevices, m->devices);
}

Test(topo_load, fixtures)
{
	char path[512];

	for (size_t i = 0; i < tutti_countof(machines); i++) {
		struct tutti_topo *t = load(fixture(machines[i].name, path,
						    sizeof(path)), NULL);

		compare(t, &machines[i]);
		tutti_topo_free(t);
	}
}

/* hwloc's own walk and the reader of its files agree, object by object. */
static void same(const struct tutti_topo *a, const struct tutti_topo *b,
		 const char *name)
{
	cr_assert_eq(a->nobjects, b->nobjects, "%s", name);
	for (int i = 0; i < a->nobjects; i++) {
		const struct tutti_topo_object *x = &a->objects[i];
		const struct tutti_topo_object *y = &b->objects[i];

		cr_assert(x->kind == y->kind && x->level == y->level &&
			  x->parent == y->parent && x->number == y->number &&
			  x->pu_first == y->pu_first &&
			  x->pu_count == y->pu_count, "%s: object %d", name,
			  i);
	}
	for (int i = 0; i < a->npus; i++)
		cr_assert(a->pus[i].os_number == b->pus[i].os_number &&
			  a->pus[i].package == b->pus[i].package &&
			  a->pus[i].numa == b->pus[i].numa &&
			  a->pus[i].llc == b->pus[i].llc &&
			  a->pus[i].core == b->pus[i].core, "%s: CPU %d", name,
			  i);
}

Test(topo_load, file_and_hwloc_agree)
{
	char path[512];

	for (size_t i = 0; i < tutti_countof(machines); i++) {
		struct tutti_topo *t, *u;

		if (!machines[i].synthetic)
			continue;
		t = load(NULL, machines[i].synthetic);
		u = load(fixture(machines[i].name, path, sizeof(path)), NULL);
		compare(t, &machines[i]);
		same(t, u, machines[i].name);
		tutti_topo_free(t);
		tutti_topo_free(u);
	}
}

/* Every PU knows what it is in, and the ranges of objects say the same. */
Test(topo_load, links)
{
	char path[512];

	for (size_t i = 0; i < tutti_countof(machines); i++) {
		struct tutti_topo *t = load(fixture(machines[i].name, path,
						    sizeof(path)), NULL);

		for (int k = 0; k < t->npus; k++) {
			const struct tutti_topo_pu *p = &t->pus[k];
			int in[] = { p->package, p->numa, p->llc, p->core };

			cr_assert_eq(p->package >= 0,
				     machines[i].packages > 0);
			cr_assert(p->numa >= 0 && p->llc >= 0 && p->core >= 0);
			for (int j = 0; j < 4; j++) {
				if (in[j] < 0)
					continue;
				cr_assert_leq(t->objects[in[j]].pu_first, k);
				cr_assert_gt(t->objects[in[j]].pu_first +
					     t->objects[in[j]].pu_count, k);
			}
		}
		tutti_topo_free(t);
	}
}

Test(topo_load, devices)
{
	char path[512];
	struct tutti_topo *t = load(fixture("2s16c-nic", path, sizeof(path)),
				    NULL);
	static const struct {
		const char *name, *bus;
		bool rdma;
		int numa;
	} want[] = {
		{ "ens1np0", "0000:3b:00.0", false, 0 },
		{ "mlx5_0", "0000:3b:00.0", true, 0 },
		{ "ens2np0", "0000:b0:00.0", false, 1 },
		{ "mlx5_1", "0000:b0:00.0", true, 1 },
		{ "eno1", "0000:01:00.0", false, -1 },
	};

	cr_assert_eq(t->ndevices, 5);
	for (int i = 0; i < t->ndevices; i++) {
		const struct tutti_topo_device *d = &t->devices[i];

		cr_expect_str_eq(d->name, want[i].name);
		cr_expect_str_eq(d->bus, want[i].bus);
		cr_expect_eq(d->rdma, want[i].rdma);
		cr_expect_eq(d->numa < 0 ? -1 : t->objects[d->numa].number,
			     want[i].numa);
	}
	tutti_topo_free(t);
}

Test(topo_load, allowed_cpus)
{
	char path[512];
	struct tutti_topo *t = load(fixture("2s16c-odd", path, sizeof(path)),
				    NULL);

	for (int i = 0; i < t->npus; i++)
		cr_expect_eq(t->pus[i].allowed,
			     0xf207 >> t->pus[i].os_number & 1);
	tutti_topo_free(t);
}

/* The machine this runs on, whatever it is (case 73: what affinity leaves). */
Test(topo_load, this_machine)
{
	struct tutti_topo *t = load(NULL, NULL);

	cr_assert_not(t->flat, "%s", t->reason);
	cr_assert(t->live);
	cr_assert_eq(t->source, 0);
	cr_assert_geq(tutti_topo_count(t, TUTTI_TOPO_CORE, 0), 1);
	cr_assert_leq(tutti_topo_allowed(t, 0, t->npus),
		      (int)sysconf(_SC_NPROCESSORS_CONF));
	tutti_topo_free(t);
}

/* ---- What is no machine -------------------------------------------------- */

static char *read_all(const char *path, size_t *len)
{
	FILE *f = fopen(path, "r");
	char *text = calloc(1, 1 << 20);

	cr_assert(f && text);
	*len = fread(text, 1, (1 << 20) - 1, f);
	fclose(f);
	return text;
}

/* The file with the first `what` replaced. */
static struct tutti_topo *load_changed(const char *what, const char *with)
{
	char path[512], file[] = "/tmp/topo-test-XXXXXX";
	size_t len;
	char *text = read_all(fixture("2s16c", path, sizeof(path)), &len);
	char *at = strstr(text, what);
	int fd = mkstemp(file);
	struct tutti_topo *t;
	FILE *f;

	cr_assert(at && fd >= 0, "%s", what);
	f = fdopen(fd, "w");
	fwrite(text, 1, (size_t)(at - text), f);
	fputs(with, f);
	fwrite(at + strlen(what), 1, len - (size_t)(at - text) - strlen(what),
	       f);
	fclose(f);
	free(text);
	t = load(file, NULL);
	unlink(file);
	return t;
}

static const struct {
	const char *what, *with, *why;
} damages[] = {
	{ "<topology version=\"2.0\">", "<html>", "<html> begins" },
	{ "<topology version=\"2.0\">", "<topology>", "version 1" },
	{ "version=\"2.0\"", "version=\"3.0\"", "version 3.0" },
	{ "<?xml", "{ \"a\": 1 } <?xml", "not XML" },
	{ "SYSTEM \"hwloc2.dtd\"", "[<!ENTITY a \"b\">]", "defines nothing" },
	{ "type=\"Package\"", "type=\"Packet\"", "\"Packet\"" },
	{ "type=\"Package\"", "type=\"Machine\"", "outermost" },
	{ "type=\"Machine\"", "type=\"Package\"", "outermost" },
	{ "<object type=\"Package\"", "<thing type=\"Package\"", "<thing>" },
	{ "cpuset=\"0x000000ff\"", "cpuset=\"0x000000fe\"", "within" },
	{ "cpuset=\"0x00000001\"", "cpuset=\"0x00000003\"", "PUs in it" },
	{ "cpuset=\"0x00000001\"", "", "has no cpuset" },
	{ "cpuset=\"0x00000001\"", "cpuset=\"0xf...f\"", "set of CPUs" },
	{ "cpuset=\"0x00000001\"", "cpuset=\"zebra\"", "set of CPUs" },
	{ "type=\"PU\" os_index=\"1\"", "type=\"PU\" os_index=\"0\"", "PUs" },
	{ "type=\"PU\" os_index=\"0\"", "type=\"PU\"", "no os_index" },
	{ "os_index=\"0\"", "os_index=\"99999\"", "not a number from 0" },
	{ "os_index=\"0\"", "os_index=\"-1\"", "not a number from 0" },
	{ "os_index=\"0\"", "os_index=0", "name=\"value\"" },
	{ "os_index=\"0\"", "os_index=\"0", "line 4: " },
	{ "os_index=\"0\"", "os_index=\"0\" os_index=\"0\"", "twice" },
	{ "</topology>", "", "ends before <topology>" },
	{ "</topology>", "</topology><topology version=\"2.0\">",
	  "<topology> begins" },
	{ "</object>", "", "lies in a NUMANode" },
	{ "</object>", "</object></object>", "not" },
	{ "<info name", "text<info name", "text between" },
	{ "<info name", "<!-- <info name", "within a comment" },
	{ "local_memory", "local_memory=\"x\" was", "local_memory" },
};

Test(topo_load, damaged_files)
{
	for (size_t i = 0; i < tutti_countof(damages); i++) {
		struct tutti_topo *t = load_changed(damages[i].what,
						    damages[i].with);

		cr_assert(t->flat, "%s -> %s", damages[i].what,
			  damages[i].with);
		cr_expect_not_null(strstr(t->reason, damages[i].why),
				   "%s -> %s: %s", damages[i].what,
				   damages[i].with, t->reason);
		cr_expect_not_null(strstr(t->reason, "is not a topology"));
		cr_expect_geq(t->npus, 1);
		cr_expect_eq(t->nobjects, t->npus + 1);
		tutti_topo_free(t);
	}
}

Test(topo_load, cut_files)
{
	char path[512], file[] = "/tmp/topo-test-XXXXXX";
	size_t len;
	char *text = read_all(fixture("1s2c", path, sizeof(path)), &len);
	int fd = mkstemp(file);

	cr_assert_geq(fd, 0);
	close(fd);
	/* Without the last line, which is </topology>. */
	for (size_t cut = 0; cut < len - 12; cut += 1 + cut % 5) {
		FILE *f = fopen(file, "w");
		struct tutti_topo *t;

		fwrite(text, 1, cut, f);
		fclose(f);
		t = load(file, NULL);
		cr_assert(t->flat, "cut at %zu", cut);
		cr_assert_gt(strlen(t->reason), 20);
		tutti_topo_free(t);
	}
	unlink(file);
	free(text);
}

Test(topo_load, no_files)
{
	static const char *const names[] = { "/nonexistent/x.xml", "/",
					     "/dev/null", "/proc/self/mem" };

	for (size_t i = 0; i < tutti_countof(names); i++) {
		struct tutti_topo *t = load(names[i], NULL);

		cr_assert(t->flat, "%s", names[i]);
		cr_assert_not_null(strstr(t->reason, names[i]));
		tutti_topo_free(t);
	}
}

Test(topo_load, nonsense_descriptions)
{
	static const char *const texts[] = {
		"nonsense", "pack:0 pu:1", "pack:2 core:", "pack", ":2",
		"pack:2 [numa core:2 pu:1", "pack:2 (x core:2 pu:1", "pu:1000000",
		"pack:99999999999999999999 pu:1", "pack:128 core:64 pu:2",
		"pack:2 core:2", "pu:2 pack:2", "\xff\xfe", "pack:2 pu:-3", " ",
	};
	char text[3000];

	for (size_t i = 0; i < tutti_countof(texts); i++) {
		struct tutti_topo *t = load(NULL, texts[i]);

		cr_assert(t->flat, "%s", texts[i]);
		cr_assert_not_null(strstr(t->reason, "not a synthetic"));
		tutti_topo_free(t);
	}
	memset(text, '1', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	tutti_topo_free(load(NULL, text));
}

/* ---- Where the description comes from ------------------------------------ */

Test(topo_load, settings_come_before_hwloc)
{
	setenv("HWLOC_XMLFILE", "h.xml", 1);
	setenv("HWLOC_SYNTHETIC", "h", 1);
	tutti_settings_reload();
	cr_assert_str_eq(tutti_topo_wanted().xml, "h.xml");
	cr_assert_null(tutti_topo_wanted().synthetic);
	setenv("TUTTI_TOPO_SYNTHETIC", "t", 1);
	tutti_settings_reload();
	cr_assert_str_eq(tutti_topo_wanted().synthetic, "t");
	cr_assert_null(tutti_topo_wanted().xml);
	setenv("TUTTI_TOPO_XML", "t.xml", 1);
	tutti_settings_reload();
	cr_assert_str_eq(tutti_topo_wanted().xml, "t.xml");
}

/* HWLOC_THISSYSTEM: the file is of this machine, so affinity restricts it. */
Test(topo_load, this_system)
{
	struct tutti_topo_from here = { 0 };
	char file[] = "/tmp/topo-test-XXXXXX";
	int fd = mkstemp(file);
	struct tutti_topo *t, *u;

	cr_assert_geq(fd, 0);
	close(fd);
	setenv("HWLOC_THISSYSTEM", "1", 1);
	cr_assert_eq(tutti_topo_save(&here, file), tuttiSuccess, "%s",
		     tutti_fail_text());
	t = load(file, NULL);
	u = load(NULL, NULL);
	cr_assert(t->live && u->live);
	cr_assert_eq(tutti_topo_allowed(t, 0, t->npus),
		     tutti_topo_allowed(u, 0, u->npus));
	tutti_topo_free(t);
	tutti_topo_free(u);
	unlink(file);
}

Test(topo_load, save)
{
	struct tutti_topo_from from = { .synthetic = machines[3].synthetic };
	char file[] = "/tmp/topo-test-XXXXXX";
	int fd = mkstemp(file);
	struct tutti_topo *t;

	cr_assert_geq(fd, 0);
	close(fd);
	cr_assert_eq(tutti_topo_save(&from, file), tuttiSuccess);
	t = load(file, NULL);
	compare(t, &machines[3]);
	tutti_topo_free(t);
	unlink(file);
	cr_assert_eq(tutti_topo_save(&from, "/nonexistent/x"),
		     tuttiSystemError);
	cr_assert_not_null(strstr(tutti_fail_text(), "/nonexistent/x"));
	from.synthetic = "nonsense";
	cr_assert_eq(tutti_topo_save(&from, file), tuttiInvalidArgument);
	from = (struct tutti_topo_from){ .xml = "/nonexistent/y" };
	cr_assert_eq(tutti_topo_save(&from, file), tuttiInvalidArgument);
}
