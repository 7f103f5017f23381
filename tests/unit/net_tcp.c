/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is special to TCP: strangers, secrets, deadlines, signals and damage on
 * the way.  Ranks are threads; a proxy between two of them plays the bad
 * network.
 */
#include "config.h"

#include "base/bits.h"
#include "base/clock.h"
#include "base/fail.h"
#include "net/chan.h"
#include "net/xport.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define RANKS 8
#define ADDR 28
#define MS 1000000LL

static const uint8_t secret[16] = "tcp test secret";

struct node {
	struct tutti_xport_env env;
	struct tutti_xport *x;
	struct tutti_bell bell;
	bool want[RANKS], reached[RANKS];
	uint8_t addrs[RANKS * ADDR];	/* as this rank sees them */
	int64_t deadline_ns, took_ns;
	tuttiResult_t rc;
	char text[1024];
	pthread_t thread;
	struct tutti_chan chan[RANKS];
};

static const struct tutti_xport_ops *tcp(void)
{
	return tutti_xport_find("tcp");
}

/* `n` nodes that want all others, not opened yet. */
static struct node *make_nodes(int n)
{
	struct node *nodes = calloc((size_t)n, sizeof(*nodes));
	struct sockaddr_in here = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};

	for (int i = 0; i < n; i++) {
		struct tutti_xport_env *env = &nodes[i].env;

		env->rank = i;
		env->ranks = n;
		env->secret = secret;
		env->bell = &nodes[i].bell;
		env->lines = 16;
		env->slots = 4;
		env->slot_bytes = 8192;
		memcpy(env->address, &here, sizeof(here));
		for (int j = 0; j < n; j++)
			nodes[i].want[j] = i != j;
		nodes[i].deadline_ns = tutti_now_ns() + 20000 * MS;
	}
	return nodes;
}

/* Open all and tell everybody's address to everybody. */
static void open_nodes(struct node *nodes, int n)
{
	for (int i = 0; i < n; i++) {
		uint8_t addr[ADDR];

		cr_assert(!tcp()->open(&nodes[i].x, &nodes[i].env), "%s",
			  tutti_fail_text());
		tcp()->local_addr(nodes[i].x, addr);
		for (int j = 0; j < n; j++)
			memcpy(nodes[j].addrs + i * ADDR, addr, ADDR);
	}
}

static void *connect_main(void *arg)
{
	struct node *node = arg;
	int64_t began = tutti_now_ns();

	node->rc = tcp()->connect(node->x, node->want, node->addrs,
				  node->reached, node->deadline_ns);
	node->took_ns = tutti_now_ns() - began;
	snprintf(node->text, sizeof(node->text), "%s", tutti_fail_text());
	return NULL;
}

static void connect_nodes(struct node *nodes, int n)
{
	for (int i = 0; i < n; i++)
		cr_assert(!pthread_create(&nodes[i].thread, NULL, connect_main,
					  &nodes[i]));
	for (int i = 0; i < n; i++)
		pthread_join(nodes[i].thread, NULL);
}

static void close_nodes(struct node *nodes, int n)
{
	for (int i = 0; i < n; i++)
		tcp()->close(nodes[i].x);
	free(nodes);
}

static struct tutti_chan *channel(struct node *node, int peer)
{
	struct tutti_chan *c = &node->chan[peer];

	memset(c, 0, sizeof(*c));
	c->ops = tcp();
	c->x = node->x;
	c->peer = peer;
	c->lines = node->env.lines;
	c->slots = node->env.slots;
	c->slot_bytes = node->env.slot_bytes;
	tutti_chan_start(c, node->env.seq_start);
	cr_assert(!tcp()->chan_init(node->x, c));
	return c;
}

static void post(struct tutti_chan *c, size_t len, uint32_t tag)
{
	cr_assert(tutti_chan_can_send(c, len));
	memset(tutti_chan_tx(c, len), (int)(tag & 0xff), len);
	tutti_chan_post(c, len, tag);
	c->ops->kick(c);
}

/* Until a message or a fault is there. */
static const void *wait_rx(struct tutti_chan *c, size_t len, uint32_t *tag)
{
	int64_t until = tutti_now_ns() + 10000 * MS;
	const void *p;

	while (!(p = tutti_chan_rx(c, len, tag)) && !c->ops->fault(c)) {
		if (!c->ops->progress(c->x))
			sched_yield();
		cr_assert(tutti_now_ns() < until, "nothing comes");
	}
	return p;
}

/* One message each way between all pairs. */
static void greet_all(struct node *nodes, int n)
{
	uint32_t tag = 0;

	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			if (i != j)
				channel(&nodes[i], j);
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			if (i != j)
				post(&nodes[i].chan[j], 3000, 100u + j);
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			if (i != j) {
				cr_assert(wait_rx(&nodes[i].chan[j], 3000,
						  &tag));
				cr_assert(tag == 100u + i);
			}
}

static void expect_all(struct node *nodes, int n)
{
	for (int i = 0; i < n; i++) {
		cr_assert(!nodes[i].rc, "rank %d: %s", i, nodes[i].text);
		for (int j = 0; j < n; j++)
			cr_assert(nodes[i].reached[j] == (i != j));
	}
	greet_all(nodes, n);
}

static int dial(const uint8_t *addr)
{
	struct sockaddr_storage a = { 0 };
	int fd;

	memcpy(&a, addr, ADDR);
	fd = socket(a.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&a, ADDR)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static int count_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

/* ---- Strangers ---------------------------------------------------------- */

static struct {
	atomic_bool stop;
	const uint8_t *addrs;
	int n;
} strangers;

/* Every kind of bad manners, at every port, until told to stop. */
static void *stranger_main(void *arg)
{
	const struct linger reset = { .l_onoff = 1 };
	int slow[64], nslow = 0;
	uint64_t dice = (uint64_t)(uintptr_t)&slow;
	char junk[300];

	while (!atomic_load(&strangers.stop)) {
		int fd = dial(strangers.addrs +
			      dice % (uint64_t)strangers.n * ADDR);

		dice = tutti_mix(dice, 3);
		memset(junk, (int)(dice >> 8), sizeof(junk));
		if (dice & 128)
			memcpy(junk, "tuttitcp", 8);
		if (fd < 0)
			continue;
		if (dice % 5 > 1)
			send(fd, junk, dice / 8 % sizeof(junk), MSG_NOSIGNAL);
		if (dice % 5 == 3)
			setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset,
				   sizeof(reset));
		if (dice % 5 == 4 && nslow < 64)
			slow[nslow++] = fd;
		else
			close(fd);
		usleep(200);
	}
	while (nslow)
		close(slow[--nslow]);
	return NULL;
}

/* case 1: scanners, resets, noise and silence at all ports of all ranks. */
Test(net_tcp, strangers, .timeout = 60)
{
	for (int round = 0; round < 8; round++) {
		struct node *nodes = make_nodes(4);
		pthread_t threads[2];

		open_nodes(nodes, 4);
		atomic_store(&strangers.stop, false);
		strangers.addrs = nodes->addrs;
		strangers.n = 4;
		for (int i = 0; i < 2; i++)
			pthread_create(&threads[i], NULL, stranger_main, NULL);
		usleep(5000);
		connect_nodes(nodes, 4);
		atomic_store(&strangers.stop, true);
		for (int i = 0; i < 2; i++)
			pthread_join(threads[i], NULL);
		expect_all(nodes, 4);
		close_nodes(nodes, 4);
	}
}

/* case 1: hundreds that say nothing come first, and stay. */
Test(net_tcp, slow_strangers, .timeout = 60)
{
	struct node *nodes = make_nodes(3);
	int slow[300];

	open_nodes(nodes, 3);
	for (int i = 0; i < 300; i++) {
		slow[i] = dial(nodes->addrs + i % 3 * ADDR);
		cr_assert(slow[i] >= 0);
		if (i % 2)
			cr_assert(send(slow[i], "tuttitcp", 8, MSG_NOSIGNAL));
	}
	connect_nodes(nodes, 3);
	expect_all(nodes, 3);
	for (int i = 0; i < 3; i++)
		cr_assert(nodes[i].took_ns < 4000 * MS);
	for (int i = 0; i < 300; i++)
		close(slow[i]);
	close_nodes(nodes, 3);
}

/* case 10: a rank of another job. */
Test(net_tcp, wrong_secret, .timeout = 60)
{
	static const uint8_t other[16] = "something else";
	struct node *nodes = make_nodes(2);

	nodes[1].env.secret = other;
	for (int i = 0; i < 2; i++)
		nodes[i].deadline_ns = tutti_now_ns() + 1000 * MS;
	open_nodes(nodes, 2);
	connect_nodes(nodes, 2);
	for (int i = 0; i < 2; i++) {
		cr_assert(nodes[i].rc == tuttiTimeout);
		cr_assert(strstr(nodes[i].text, i ? "rank 0 at" : "rank 1 at"));
	}
	cr_assert(strstr(nodes[0].text, "secret"), "%s", nodes[0].text);
	close_nodes(nodes, 2);
}

/* case 10: the others do not notice. */
Test(net_tcp, intruder_among_ranks, .timeout = 60)
{
	static const uint8_t other[16] = "something else";
	struct node *nodes = make_nodes(3), *bad = make_nodes(3);

	open_nodes(nodes, 3);
	/* A second rank 0, which knows the addresses but not the secret. */
	bad->env.secret = other;
	bad->deadline_ns = tutti_now_ns() + 1500 * MS;
	cr_assert(!tcp()->open(&bad->x, &bad->env));
	memcpy(bad->addrs, nodes->addrs, sizeof(bad->addrs));
	pthread_create(&bad->thread, NULL, connect_main, bad);
	usleep(50000);
	connect_nodes(nodes, 3);
	expect_all(nodes, 3);
	pthread_join(bad->thread, NULL);
	cr_assert(bad->rc == tuttiTimeout);
	tcp()->close(bad->x);
	free(bad);
	close_nodes(nodes, 3);
}

/* Ranks of one job with other numbers: told by both, at once. */
Test(net_tcp, other_numbers, .timeout = 60)
{
	for (int k = 0; k < 4; k++) {
		struct node *nodes = make_nodes(2);

		nodes[1].env.lines += k == 0;
		nodes[1].env.slots += k == 1;
		nodes[1].env.slot_bytes += k == 2 ? 64 : 0;
		nodes[1].env.seq_start += k == 3;
		open_nodes(nodes, 2);
		connect_nodes(nodes, 2);
		for (int i = 0; i < 2; i++) {
			cr_assert(nodes[i].rc == tuttiInvalidUsage);
			cr_assert(strstr(nodes[i].text,
					 i ? "with rank 0" : "with rank 1"));
			cr_assert(nodes[i].took_ns < 5000 * MS);
		}
		close_nodes(nodes, 2);
	}
}

/* ---- Peers that are not there ------------------------------------------- */

Test(net_tcp, deadline_names_the_missing, .timeout = 60)
{
	struct node *nodes = make_nodes(4);
	int64_t began = tutti_now_ns(), took;

	for (int i = 0; i < 4; i++)
		nodes[i].deadline_ns = began + 700 * MS;
	open_nodes(nodes, 4);
	/* Rank 1 never comes. */
	for (int i = 0; i < 4; i++)
		if (i != 1)
			pthread_create(&nodes[i].thread, NULL, connect_main,
				       &nodes[i]);
	for (int i = 0; i < 4; i++)
		if (i != 1)
			pthread_join(nodes[i].thread, NULL);
	took = tutti_now_ns() - began;
	cr_assert(took > 650 * MS && took < 3000 * MS);
	for (int i = 0; i < 4; i++)
		if (i != 1) {
			cr_assert(nodes[i].rc == tuttiTimeout);
			cr_assert(strstr(nodes[i].text, "rank 1 at 127.0.0.1:"));
			cr_assert(strstr(nodes[i].text, " 1 of its peers"));
		}
	close_nodes(nodes, 4);
}

/* A port at which nobody listens yet is tried again. */
Test(net_tcp, refused_at_first, .timeout = 60)
{
	struct node *nodes = make_nodes(2);
	struct sockaddr_in a;

	open_nodes(nodes, 2);
	/* Rank 0 looks for rank 1 where nobody is. */
	memcpy(&a, nodes->addrs + ADDR, sizeof(a));
	a.sin_port = htons(1);
	memcpy(nodes->addrs + ADDR, &a, sizeof(a));
	nodes->deadline_ns = nodes[1].deadline_ns = tutti_now_ns() + 500 * MS;
	connect_nodes(nodes, 2);
	cr_assert(nodes[0].rc == tuttiTimeout);
	cr_assert(strstr(nodes[0].text, "refused"), "%s", nodes[0].text);
	cr_assert(nodes[1].rc == tuttiTimeout);
	close_nodes(nodes, 2);
}

/* A peer without an address, or with one of another family, is not reached,
 * which is no error. */
Test(net_tcp, no_address, .timeout = 60)
{
	for (int k = 0; k < 2; k++) {
		struct node *nodes = make_nodes(3);
		struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };

		open_nodes(nodes, 3);
		for (int i = 0; i < 3; i++) {
			memset(nodes[i].addrs + ADDR, 0, ADDR);
			if (k)
				memcpy(nodes[i].addrs + ADDR, &v6, ADDR);
		}
		connect_nodes(nodes, 3);
		for (int i = 0; i < 3; i++) {
			cr_assert(!nodes[i].rc);
			for (int j = 0; j < 3; j++)
				cr_assert(nodes[i].reached[j] ==
					  (i + j == 2 && i != j));
			cr_assert(nodes[i].took_ns < 5000 * MS);
		}
		close_nodes(nodes, 3);
	}
}

Test(net_tcp, open_without_address)
{
	struct node *nodes = make_nodes(1);
	struct sockaddr_in far = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(0xc0000201),	/* 192.0.2.1 */
	};
	int before = count_descriptors();

	memset(nodes->env.address, 0, ADDR);
	cr_assert(tcp()->open(&nodes->x, &nodes->env) == tuttiSystemError);
	memset(nodes->env.address, 0xff, ADDR);
	cr_assert(tcp()->open(&nodes->x, &nodes->env) == tuttiSystemError);
	memset(nodes->env.address, 0, ADDR);
	memcpy(nodes->env.address, &far, sizeof(far));
	cr_assert(tcp()->open(&nodes->x, &nodes->env) == tuttiSystemError);
	cr_assert(strstr(tutti_fail_text(), "192.0.2.1"));
	cr_assert(count_descriptors() == before);
	free(nodes);
}

Test(net_tcp, ipv6, .timeout = 60)
{
	struct node *nodes = make_nodes(3);
	struct sockaddr_in6 here = {
		.sin6_family = AF_INET6,
		.sin6_addr = IN6ADDR_LOOPBACK_INIT,
	};
	int fd = socket(AF_INET6, SOCK_STREAM, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&here, sizeof(here)))
		cr_skip_test("no IPv6 on this machine");
	close(fd);
	for (int i = 0; i < 3; i++)
		memcpy(nodes[i].env.address, &here, ADDR);
	open_nodes(nodes, 3);
	connect_nodes(nodes, 3);
	expect_all(nodes, 3);
	close_nodes(nodes, 3);
}

/* ---- Signals and limits ------------------------------------------------- */

static void on_alarm(int sig)
{
}

/* case 2: a fast timer without SA_RESTART. */
Test(net_tcp, interrupted, .timeout = 60)
{
	struct sigaction act = { .sa_handler = on_alarm };
	struct itimerval every = { { 0, 1000 }, { 0, 1000 } };

	cr_assert(!sigaction(SIGALRM, &act, NULL));
	cr_assert(!setitimer(ITIMER_REAL, &every, NULL));
	for (int round = 0; round < 50; round++) {
		struct node *nodes = make_nodes(4);

		open_nodes(nodes, 4);
		connect_nodes(nodes, 4);
		expect_all(nodes, 4);
		close_nodes(nodes, 4);
	}
}

/* case 67: too few descriptors end in an error that says so, and none is
 * lost. */
Test(net_tcp, too_few_descriptors, .timeout = 60)
{
	struct node *nodes = make_nodes(RANKS);
	struct rlimit before, few;
	int used, told = 0;

	cr_assert(!getrlimit(RLIMIT_NOFILE, &before));
	used = count_descriptors();
	for (int i = 0; i < RANKS; i++)
		nodes[i].deadline_ns = tutti_now_ns() + 3000 * MS;
	open_nodes(nodes, RANKS);
	few = before;
	few.rlim_cur = (rlim_t)count_descriptors() + 20;
	cr_assert(!setrlimit(RLIMIT_NOFILE, &few));
	connect_nodes(nodes, RANKS);
	cr_assert(!setrlimit(RLIMIT_NOFILE, &before));
	for (int i = 0; i < RANKS; i++)
		told += nodes[i].rc == tuttiSystemError &&
			strstr(nodes[i].text, "ulimit -n");
	cr_assert(told > 0);
	close_nodes(nodes, RANKS);
	cr_assert(count_descriptors() == used);
}

/* ---- A bad network ------------------------------------------------------ */

/* Stands between rank 0, which dials, and rank 1. */
static struct {
	int listen_fd;
	uint8_t addr[ADDR], target[ADDR];
	/* Connections to cut, and after how many bytes from either side. */
	int cuts;
	size_t cut_after[2][32];
	atomic_int flip;	/* direction to damage from now on, or -1 */
	atomic_int cut_now;	/* cut as soon as bytes have passed */
	atomic_bool stop;
	int passed;
} proxy;

/* Carry what is there from one side; false at its end. */
static bool proxy_move(int from, int to, int side, size_t *passed,
		       size_t limit)
{
	char buf[3000];
	ssize_t n = recv(from, buf, tutti_min(sizeof(buf), limit - *passed),
			 MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	if (n <= 0)
		return false;
	if (atomic_load(&proxy.flip) == side)
		buf[n / 2] ^= 4;
	*passed += (size_t)n;
	if (send(to, buf, (size_t)n, MSG_NOSIGNAL) != n)
		return false;
	return *passed < limit && !atomic_load(&proxy.cut_now);
}

static void proxy_serve(int a, int b)
{
	size_t passed[2] = { 0, 0 }, limit[2] = { SIZE_MAX, SIZE_MAX };
	struct pollfd p[2] = {
		{ .fd = a, .events = POLLIN },
		{ .fd = b, .events = POLLIN },
	};

	if (proxy.passed < proxy.cuts) {
		limit[0] = proxy.cut_after[0][proxy.passed];
		limit[1] = proxy.cut_after[1][proxy.passed];
	}
	proxy.passed++;
	while (!atomic_load(&proxy.stop)) {
		bool go = true;

		if (poll(p, 2, 20) <= 0)
			continue;
		if (p[0].revents)
			go &= proxy_move(a, b, 0, &passed[0], limit[0]);
		if (p[1].revents)
			go &= proxy_move(b, a, 1, &passed[1], limit[1]);
		if (!go)
			return;
	}
}

static void *proxy_main(void *arg)
{
	struct pollfd p = { .fd = proxy.listen_fd, .events = POLLIN };

	while (!atomic_load(&proxy.stop)) {
		int a, b;

		if (poll(&p, 1, 20) <= 0)
			continue;
		a = accept(proxy.listen_fd, NULL, NULL);
		b = dial(proxy.target);
		if (a >= 0 && b >= 0)
			proxy_serve(a, b);
		close(a);
		close(b);
	}
	return NULL;
}

/* Two nodes with the proxy between them. */
static struct node *proxied(pthread_t *thread)
{
	struct node *nodes = make_nodes(2);
	struct sockaddr_in a = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t len = sizeof(a);

	open_nodes(nodes, 2);
	proxy.listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	cr_assert(!bind(proxy.listen_fd, (struct sockaddr *)&a, len));
	cr_assert(!listen(proxy.listen_fd, 16));
	getsockname(proxy.listen_fd, (struct sockaddr *)&a, &len);
	memcpy(proxy.target, nodes->addrs + ADDR, ADDR);
	memcpy(nodes->addrs + ADDR, &a, sizeof(a));
	atomic_store(&proxy.flip, -1);
	cr_assert(!pthread_create(thread, NULL, proxy_main, NULL));
	return nodes;
}

static void end_proxied(struct node *nodes, pthread_t thread)
{
	atomic_store(&proxy.stop, true);
	pthread_join(thread, NULL);
	close(proxy.listen_fd);
	close_nodes(nodes, 2);
}

/* The greeting may be cut off anywhere, up to the dialer's last message. */
Test(net_tcp, cut_greetings, .timeout = 60)
{
	static const size_t dialer[] = { 1, 63, 64, 65, 95, 96 };
	static const size_t acceptor[] = { 1, 96, 97, 128, 129, 5000, 16511 };
	pthread_t thread;
	struct node *nodes;

	for (size_t i = 0; i < tutti_countof(dialer); i++) {
		proxy.cut_after[0][proxy.cuts] = dialer[i];
		proxy.cut_after[1][proxy.cuts++] = SIZE_MAX;
	}
	for (size_t i = 0; i < tutti_countof(acceptor); i++) {
		proxy.cut_after[0][proxy.cuts] = SIZE_MAX;
		proxy.cut_after[1][proxy.cuts++] = acceptor[i];
	}
	nodes = proxied(&thread);
	connect_nodes(nodes, 2);
	expect_all(nodes, 2);
	cr_assert(proxy.passed == proxy.cuts + 1);
	end_proxied(nodes, thread);
}

/* A greeting with a wrong byte is never believed. */
Test(net_tcp, damaged_greetings, .timeout = 60)
{
	for (int side = 0; side < 2; side++) {
		pthread_t thread;
		struct node *nodes;

		atomic_store(&proxy.stop, false);
		nodes = proxied(&thread);
		atomic_store(&proxy.flip, side);
		for (int i = 0; i < 2; i++)
			nodes[i].deadline_ns = tutti_now_ns() + 500 * MS;
		connect_nodes(nodes, 2);
		cr_assert(nodes[0].rc == tuttiTimeout);
		cr_assert(nodes[1].rc == tuttiTimeout);
		end_proxied(nodes, thread);
	}
}

/* A damaged frame is a fault that names the peer; what came before it is
 * good. */
Test(net_tcp, damaged_frame, .timeout = 60)
{
	pthread_t thread;
	struct node *nodes = proxied(&thread);
	struct tutti_chan *c;
	uint32_t tag;

	connect_nodes(nodes, 2);
	expect_all(nodes, 2);
	c = &nodes[1].chan[0];
	tutti_chan_release(c, 3000);
	post(&nodes[0].chan[1], 20, 7);
	cr_assert(wait_rx(c, 20, &tag) && tag == 7);
	atomic_store(&proxy.flip, 0);
	/* A frame without a message is all header. */
	post(&nodes[0].chan[1], 0, 8);
	while (!c->ops->fault(c))
		tcp()->progress(nodes[1].x);
	cr_assert(strstr(c->ops->fault(c), "rank 0"));
	cr_assert(strstr(c->ops->fault(c), "damaged"));
	cr_assert(tutti_chan_rx(c, 20, &tag) && tag == 7);
	tutti_chan_release(c, 20);
	cr_assert(!tutti_chan_rx(c, 0, &tag));
	tcp()->progress(nodes[1].x);
	cr_assert(tcp()->flushed(nodes[1].x));
	end_proxied(nodes, thread);
}

/* A connection that ends in the middle of a message. */
Test(net_tcp, cut_message, .timeout = 60)
{
	pthread_t thread;
	struct node *nodes = proxied(&thread);
	struct tutti_chan *c;
	uint32_t tag;

	connect_nodes(nodes, 2);
	expect_all(nodes, 2);
	c = &nodes[1].chan[0];
	tutti_chan_release(c, 3000);
	atomic_store(&proxy.cut_now, 1);
	post(&nodes[0].chan[1], 8000, 9);
	cr_assert(!wait_rx(c, 8000, &tag));
	cr_assert(strstr(c->ops->fault(c), "rank 0"));
	end_proxied(nodes, thread);
}

/* ---- Leaving ------------------------------------------------------------ */

/* case 59: what a rank sent before it closed is read long after, although it
 * left bytes unread and the reader could not take all at once. */
Test(net_tcp, close_keeps_what_was_sent, .timeout = 60)
{
	for (int round = 0; round < 20; round++) {
		struct node *nodes = make_nodes(2);
		struct tutti_chan *to, *from;
		uint32_t tag;

		for (int i = 0; i < 2; i++) {
			/* So many that no credit is told on the way. */
			nodes[i].env.slots = 16;
			nodes[i].env.slot_bytes = 100000;
		}
		open_nodes(nodes, 2);
		connect_nodes(nodes, 2);
		cr_assert(!nodes[0].rc && !nodes[1].rc);
		to = channel(&nodes[0], 1);
		from = channel(&nodes[1], 0);
		for (uint32_t i = 0; i < 3; i++)
			post(from, 8000, i);
		for (uint32_t i = 0; i < 4; i++)
			post(to, 100000, i);
		tcp()->close(nodes[0].x);
		nodes[0].x = NULL;
		usleep(round % 3 * 500);
		for (uint32_t i = 0; i < 4; i++) {
			cr_assert(wait_rx(from, 100000, &tag), "%s",
				  tcp()->fault(from));
			cr_assert(tag == i);
			tutti_chan_release(from, 100000);
		}
		cr_assert(!wait_rx(from, 8000, &tag));
		close_nodes(nodes, 2);
	}
}

/* case 59: once all has been flushed, the reader may go on sending to a rank
 * that is gone, and still finds all it was sent. */
Test(net_tcp, flushed_survives_resets, .timeout = 60)
{
	for (int round = 0; round < 20; round++) {
		struct node *nodes = make_nodes(2);
		struct tutti_chan *to, *from;
		uint32_t tag;

		open_nodes(nodes, 2);
		connect_nodes(nodes, 2);
		cr_assert(!nodes[0].rc && !nodes[1].rc);
		to = channel(&nodes[0], 1);
		from = channel(&nodes[1], 0);
		for (uint32_t i = 0; i < 4; i++)
			post(to, 8000, i);
		while (!tcp()->flushed(nodes[0].x))
			tcp()->progress(nodes[0].x);
		tcp()->close(nodes[0].x);
		nodes[0].x = NULL;
		for (uint32_t i = 0; i < 3; i++) {
			post(from, 8, i);
			usleep(round * 20);
		}
		for (uint32_t i = 0; i < 4; i++) {
			cr_assert(wait_rx(from, 8000, &tag), "%s",
				  tcp()->fault(from));
			cr_assert(tag == i);
			tutti_chan_release(from, 8000);
			tcp()->kick(from);
		}
		cr_assert(!wait_rx(from, 8000, &tag));
		close_nodes(nodes, 2);
	}
}

/* Two ranks that send at the same time and then want to be sure that all has
 * come do not wait for the kernel's delayed acknowledgements (40 ms each). */
Test(net_tcp, flushing_is_prompt, .timeout = 60)
{
	struct node *nodes = make_nodes(2);
	int64_t began;

	open_nodes(nodes, 2);
	connect_nodes(nodes, 2);
	expect_all(nodes, 2);
	for (int i = 0; i < 2; i++)
		tutti_chan_release(&nodes[i].chan[1 - i], 3000);
	began = tutti_now_ns();
	for (uint32_t round = 0; round < 100; round++) {
		bool flushed[2] = { false, false };
		uint32_t tag;

		for (int i = 0; i < 2; i++)
			post(&nodes[i].chan[1 - i], 8, round);
		for (int i = 0; i < 2; i++) {
			cr_assert(wait_rx(&nodes[i].chan[1 - i], 8, &tag));
			tutti_chan_release(&nodes[i].chan[1 - i], 8);
		}
		while (!flushed[0] || !flushed[1])
			for (int i = 0; i < 2; i++)
				flushed[i] = tcp()->flushed(nodes[i].x);
	}
	cr_assert(tutti_now_ns() - began < 2000 * MS);
	close_nodes(nodes, 2);
}

/* Nor does anybody wait for credits to arrive: nobody needs them once all is
 * over, and a peer that does not look acknowledges them late. */
Test(net_tcp, flushing_ignores_credits, .timeout = 60)
{
	struct node *nodes = make_nodes(2);
	int64_t spent = 0;

	open_nodes(nodes, 2);
	connect_nodes(nodes, 2);
	expect_all(nodes, 2);
	for (int i = 0; i < 2; i++)
		tutti_chan_release(&nodes[i].chan[1 - i], 3000);
	for (uint32_t round = 0; round < 40; round++) {
		struct tutti_chan *from = &nodes[1].chan[0];
		struct tutti_chan *to = &nodes[0].chan[1];
		uint32_t tag;
		int64_t began;

		/* A dialogue, which the kernel acknowledges late. */
		post(to, 8, round);
		cr_assert(wait_rx(from, 8, &tag));
		tutti_chan_release(from, 8);
		for (uint32_t i = 0; i < 8; i++)
			post(from, 8, i);
		for (uint32_t i = 0; i < 8; i++) {
			cr_assert(wait_rx(to, 8, &tag));
			tutti_chan_release(to, 8);
		}
		tcp()->kick(to);
		began = tutti_now_ns();
		while (!tcp()->flushed(nodes[0].x))
			tcp()->progress(nodes[0].x);
		spent += tutti_now_ns() - began;
	}
	cr_assert(spent < 400 * MS, "%lld us", (long long)spent / 1000);
	close_nodes(nodes, 2);
}
