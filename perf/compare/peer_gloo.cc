/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The same work on Gloo, over TCP on 127.0.0.1.  It starts its ranks itself
 * (-N): forked before Gloo makes threads, ended with the parent.  While every
 * rank has a core of its own, pairs are synchronous and poll, which is
 * Gloo's best; with more ranks than cores polling starves it, and it sleeps.
 * Gloo's algorithms of this kind work in place, so a copy of the input is
 * part of the work out of place.
 */
#include <gloo/allgather_ring.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/barrier_all_to_one.h>
#include <gloo/broadcast_one_to_all.h>
#include <gloo/reduce_scatter.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "peer.h"

/* Shared by the ranks: what is not Gloo's work. */
struct meeting {
	std::atomic<int> arrived;
	std::atomic<int> round;
	double values[];	/* a row of `width` per rank */
};

struct gloo_peer {
	struct peer p;
	struct meeting *meeting;
	size_t width;
	std::shared_ptr<gloo::Context> context;
	std::unique_ptr<gloo::Algorithm> algorithm;
};

static struct gloo_peer *of(void *peer)
{
	return reinterpret_cast<struct gloo_peer *>(peer);
}

/* Outside the measured time, and without Gloo, whose own takes long enough
 * to disturb what follows. */
static int barrier(void *peer)
{
	struct gloo_peer *g = of(peer);
	struct meeting *m = g->meeting;
	int round = m->round;

	if (++m->arrived == g->p.ranks) {
		m->arrived = 0;
		m->round++;
		return 0;
	}
	while (m->round == round)
		sched_yield();
	return 0;
}

static int reduce_max(void *peer, double *values, int count)
{
	struct gloo_peer *g = of(peer);
	double *rows = g->meeting->values;

	memcpy(rows + g->width * (size_t)g->p.rank, values,
	       (size_t)count * sizeof(double));
	barrier(peer);
	for (int rank = 0; rank < g->p.ranks; rank++)
		for (int i = 0; i < count; i++)
			values[i] = fmax(values[i],
					 rows[g->width * (size_t)rank +
					      (size_t)i]);
	return barrier(peer);
}

/* Gloo's algorithms are made for one buffer and count. */
static gloo::Algorithm *make(const struct gloo_peer *g)
{
	const struct peer *p = &g->p;
	int count = (int)p->count;

	switch (p->op) {
	case PEER_ALL_REDUCE:
		return new gloo::AllreduceHalvingDoubling<float>(
			g->context, { p->recv }, count);
	case PEER_REDUCE_SCATTER:
		return new gloo::ReduceScatterHalvingDoubling<float>(
			g->context, { p->send }, (int)p->send_count,
			std::vector<int>((size_t)p->ranks, count));
	case PEER_ALL_GATHER:
		return new gloo::AllgatherRing<float>(
			g->context, { p->send }, p->recv, count);
	case PEER_BROADCAST:
		return new gloo::BroadcastOneToAll<float>(
			g->context, { p->recv }, count);
	case PEER_BARRIER:
		return new gloo::BarrierAllToOne(g->context);
	default:
		return nullptr;
	}
}

static int prepare(struct peer *p)
{
	struct gloo_peer *g = of(p);

	g->algorithm.reset(make(g));
	return barrier(g);
}

static int call(void *peer)
{
	struct gloo_peer *g = of(peer);
	const struct peer *p = &g->p;
	size_t bytes = p->count * sizeof(float);

	if (!p->inplace && (p->op == PEER_ALL_REDUCE ||
			    (p->op == PEER_BROADCAST && p->rank == 0)))
		memcpy(p->recv, p->send, bytes);
	/* Nothing to move: its algorithms do not all know what to do. */
	if (p->count || p->op == PEER_BARRIER)
		g->algorithm->run();
	if (p->op == PEER_REDUCE_SCATTER && p->recv != p->send)
		memcpy(p->recv, p->send, bytes);
	return 0;
}

static std::shared_ptr<gloo::Context> join(int rank, int ranks,
					   const std::string &folder)
{
	gloo::rendezvous::FileStore store(folder);
	auto context = std::make_shared<gloo::rendezvous::Context>(rank,
								   ranks);
	auto device = gloo::transport::tcp::CreateDevice("127.0.0.1");
	bool poll = ranks <= sysconf(_SC_NPROCESSORS_ONLN);

	context->connectFullMesh(store, device);
	for (int i = 0; poll && i < ranks; i++)
		if (i != rank)
			context->getPair(i)->setSync(true, true);
	return context;
}

static int rank_main(struct gloo_peer *g, const std::string &folder, int argc,
		     char **argv)
{
	int rc;

	try {
		g->context = join(g->p.rank, g->p.ranks, folder);
		rc = peer_main(&g->p, argc, argv);
	} catch (const std::exception &e) {
		fprintf(stderr, "peer-gloo: rank %d: %s\n", g->p.rank,
			e.what());
		rc = 1;
	}
	return rc;
}

/* Wait for all, or until one fails: the end of this process ends the rest. */
static int wait_all(size_t ranks)
{
	int status;

	while (ranks--) {
		if (wait(&status) < 0)
			return 1;
		if (status)
			return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
	}
	return 0;
}

static int start(int ranks, const std::string &folder, int argc, char **argv)
{
	static struct gloo_peer g;
	pid_t parent = getpid();
	struct peer probe = {};
	size_t bytes;
	void *shared;

	probe.name = "gloo";
	if (peer_options(&probe, argc, argv))
		ranks = 1;	/* peer_main tells the usage */
	optind = 1;
	g.width = (size_t)(probe.iterations > 1 ? probe.iterations : 1);
	bytes = sizeof(struct meeting) +
		g.width * (size_t)ranks * sizeof(double);
	shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 1;
	g.meeting = static_cast<struct meeting *>(shared);
	g.p.name = "gloo";
	g.p.ranks = ranks;
	g.p.prepare = prepare;
	g.p.call = call;
	g.p.barrier = barrier;
	g.p.reduce_max = reduce_max;
	for (int rank = 0; rank < ranks; rank++) {
		pid_t pid = fork();

		if (pid < 0) {
			perror("peer-gloo: fork");
			return 1;
		}
		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (getppid() != parent)
				_exit(1);
			g.p.rank = rank;
			_exit(rank_main(&g, folder, argc, argv));
		}
	}
	return wait_all((size_t)ranks);
}

/* -N and the number behind it. */
static int ranks_of(int argc, char **argv)
{
	for (int i = 1; i + 1 < argc; i++)
		if (!strcmp(argv[i], "-N") && atoi(argv[i + 1]) > 0)
			return atoi(argv[i + 1]);
	return 2;
}

int main(int argc, char **argv)
{
	const char *top = getenv("TMPDIR");
	std::string folder = std::string(top ? top : "/tmp") +
			     "/peer-gloo-XXXXXX";
	int rc;

	if (!mkdtemp(folder.data())) {
		perror("peer-gloo: mkdtemp");
		return 1;
	}
	rc = start(ranks_of(argc, argv), folder, argc, argv);
	std::filesystem::remove_all(folder);
	return rc;
}
