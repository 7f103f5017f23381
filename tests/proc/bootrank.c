/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One process of a bootstrap test, driven by its arguments; boot.sh and
 * boot-netns.sh put several together.
 *
 *	bootrank serve			make an id, print it, wait for the end
 *					of standard input
 *	bootrank join ID N RANK MS ACTION...
 *	bootrank host FILE N RANK MS ACTION...
 *					make an id, put it in FILE, and join
 *	bootrank env MS ACTION...	join by the environment
 *	bootrank port ID		print the port in the id
 *	bootrank forge ID OTHER		print ID with the secret of OTHER
 *	bootrank strangers PORT KIND COUNT
 *
 * BOOTRANK_SIGNALS makes a storm of signals, BOOTRANK_NO_IPV6 a kernel without
 * IPv6.  Prints "joined RANK SIZE" or "result CODE MILLISECONDS SENTENCE"; ends with
 * the result code of the last step.
 */
#include "config.h"

#include "base/clock.h"
#include "base/fail.h"
#include "base/settings.h"
#include "boot/boot_impl.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static struct tutti_boot *boot;
static int ranks, self;
static int64_t limit_ns;
static tuttiUniqueId id;

/* ---- News -------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int heard[TUTTI_NEWS_ROOT_LOST + 1];

static void on_news(void *arg, const struct tutti_news *news)
{
	static const char *const kinds[] = { "death", "error", "abort", "ask",
					     "split", "root-lost" };

	(void)arg;
	pthread_mutex_lock(&lock);
	heard[news->kind]++;
	printf("news %s %d %d %s\n", kinds[news->kind], news->rank,
	       news->code, news->text);
	fflush(stdout);
	pthread_mutex_unlock(&lock);
}

static int heard_of(enum tutti_news_kind kind)
{
	int n;

	pthread_mutex_lock(&lock);
	n = heard[kind];
	pthread_mutex_unlock(&lock);
	return n;
}

/* Until the end of standard input; a signal is none. */
static void hold(void)
{
	char waste[64];
	ssize_t n;

	do {
		n = read(STDIN_FILENO, waste, sizeof(waste));
	} while (n > 0 || (n < 0 && errno == EINTR));
}

/* ---- Actions ----------------------------------------------------------- */

static void pause_ms(int ms)
{
	int64_t until = tutti_now_ms() + ms;

	while (tutti_now_ms() < until)
		usleep(1000);
}

static int tell_result(tuttiResult_t rc, int64_t begin_ms)
{
	printf("result %d %lld %s\n", rc,
	       (long long)(tutti_now_ms() - begin_ms),
	       rc ? tutti_fail_text() : "");
	fflush(stdout);
	return rc;
}

static int gather(void)
{
	int64_t begin = tutti_now_ms();
	int *all = calloc((size_t)ranks, sizeof(*all));
	tuttiResult_t rc;

	rc = tutti_boot_allgather(boot, &self, all, sizeof(self),
				  tutti_now_ns() + limit_ns);
	for (int i = 0; !rc && i < ranks; i++)
		if (all[i] != i)
			rc = tutti_fail(tuttiInternalError,
					"item %d is %d", i, all[i]);
	free(all);
	return tell_result(rc, begin);
}

static int expect_news(enum tutti_news_kind kind)
{
	int64_t until = tutti_now_ms() + 10000;

	while (!heard_of(kind))
		if (tutti_now_ms() > until) {
			printf("no news of kind %d\n", kind);
			return 3;
		} else {
			usleep(1000);
		}
	return 0;
}

/* A child that keeps on living, as a shell started by the rank would. */
static void leave_child(void)
{
	pid_t child = fork();

	if (child == 0) {
		/* Not ours to disturb, even by mistake. */
		tutti_boot_leave(boot);
		pause_ms(3000);
		_exit(0);
	}
	printf("child %d\n", (int)child);
	fflush(stdout);
}

static void tell(enum tutti_news_kind kind)
{
	struct tutti_news news = { .kind = kind, .rank = self,
				   .code = tuttiTimeout, .seq = 7 };

	snprintf(news.text, sizeof(news.text), "told by %d\n\001", self);
	tutti_boot_tell(boot, &news);
}

static int act(const char *what)
{
	if (!strcmp(what, "gather"))
		return gather();
	if (!strcmp(what, "listen"))
		return tutti_boot_listen(boot, on_news, NULL);
	if (!strcmp(what, "leave")) {
		tutti_boot_leave(boot);
		boot = NULL;
	} else if (!strcmp(what, "die")) {
		_exit(0);
	} else if (!strcmp(what, "kill")) {
		raise(SIGKILL);
	} else if (!strcmp(what, "fork")) {
		leave_child();
	} else if (!strcmp(what, "hold")) {
		hold();
	} else if (!strncmp(what, "sleep=", 6)) {
		pause_ms(atoi(what + 6));
	} else if (!strcmp(what, "abort")) {
		tell(TUTTI_NEWS_ABORT);
	} else if (!strcmp(what, "error")) {
		tell(TUTTI_NEWS_ERROR);
	} else if (!strcmp(what, "await-death")) {
		return expect_news(TUTTI_NEWS_DEATH);
	} else if (!strcmp(what, "await-error")) {
		return expect_news(TUTTI_NEWS_ERROR);
	} else if (!strcmp(what, "await-abort")) {
		return expect_news(TUTTI_NEWS_ABORT);
	} else if (!strcmp(what, "await-root-lost")) {
		return expect_news(TUTTI_NEWS_ROOT_LOST);
	} else if (!strcmp(what, "quiet")) {
		if (heard_of(TUTTI_NEWS_DEATH) + heard_of(TUTTI_NEWS_ERROR) +
		    heard_of(TUTTI_NEWS_ABORT))
			return 3;
	} else if (!strcmp(what, "again")) {
		int64_t begin = tutti_now_ms();

		return tell_result(tutti_boot_join(&boot, &id, ranks, self,
						   tutti_now_ns() + limit_ns),
				   begin);
	} else if (!strcmp(what, "env")) {
		int64_t begin = tutti_now_ms();

		return tell_result(tutti_boot_join_env(
					   &boot, &ranks, &self,
					   tutti_now_ns() + limit_ns), begin);
	} else if (!strcmp(what, "address")) {
		char text[TUTTI_SOCKADDR_TEXT];
		union tutti_sockaddr a;

		tutti_boot_address(boot, &a);
		printf("address %s\n", tutti_sock_text(&a, text));
	} else {
		fprintf(stderr, "bootrank: unknown action %s\n", what);
		return 2;
	}
	return 0;
}

static int act_all(char **what)
{
	int status = 0;

	for (; *what; what++)
		status = act(*what);
	fflush(stdout);
	return status;
}

/* ---- Commands ---------------------------------------------------------- */

static void on_alarm(int signo)
{
	(void)signo;
}

/* A storm of signals without SA_RESTART, as a profiler makes one. */
static void start_signals(void)
{
	struct itimerval every = { { 0, 1000 }, { 0, 1000 } };
	struct sigaction sa = { .sa_handler = on_alarm };

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
}

/* A kernel that knows no IPv6, as far as this process can see. */
static int forbid_ipv6(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAFNOSUPPORT),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int serve(void)
{
	char hex[2 * TUTTI_UNIQUE_ID_BYTES + 1];
	tuttiResult_t rc = tutti_boot_unique_id(&id);

	if (rc)
		return tell_result(rc, tutti_now_ms());
	tutti_id_to_hex(hex, &id);
	puts(hex);
	fflush(stdout);
	hold();
	return 0;
}

static int join(char **argv)
{
	int64_t begin = tutti_now_ms();
	tuttiResult_t rc;

	if (!tutti_id_from_hex(&id, argv[0]))
		return tell_result(tutti_fail(tuttiInvalidArgument,
					      "not hexadecimal"), begin);
	ranks = atoi(argv[1]);
	self = atoi(argv[2]);
	limit_ns = atoll(argv[3]) * TUTTI_MS;
	rc = tutti_boot_join(&boot, &id, ranks, self,
			     tutti_now_ns() + limit_ns);
	if (rc)
		return tell_result(rc, begin);
	printf("joined %d %d\n", self, ranks);
	fflush(stdout);
	return act_all(argv + 4);
}

static int join_env(char **argv)
{
	int64_t begin = tutti_now_ms();
	tuttiResult_t rc;

	limit_ns = atoll(argv[0]) * TUTTI_MS;
	rc = tutti_boot_join_env(&boot, &ranks, &self,
				 tutti_now_ns() + limit_ns);
	if (rc)
		return tell_result(rc, begin);
	printf("joined %d %d\n", self, ranks);
	fflush(stdout);
	return act_all(argv + 1);
}

static int host(char **argv)
{
	char hex[2 * TUTTI_UNIQUE_ID_BYTES + 1];
	FILE *f;

	if (tutti_boot_unique_id(&id))
		return tell_result(tuttiSystemError, tutti_now_ms());
	tutti_id_to_hex(hex, &id);
	f = fopen(argv[0], "w");
	if (!f || fprintf(f, "%s\n", hex) < 0 || fclose(f))
		return 2;
	argv[0] = hex;
	return join(argv);
}

static int show_port(char **argv)
{
	struct tutti_id plain;

	if (!tutti_id_from_hex(&id, argv[0]) || tutti_id_unpack(&plain, &id))
		return 2;
	printf("%d\n", plain.port);
	return 0;
}

static int forge(char **argv)
{
	char hex[2 * TUTTI_UNIQUE_ID_BYTES + 1];
	struct tutti_id where, who;
	tuttiUniqueId other;

	if (!tutti_id_from_hex(&id, argv[0]) ||
	    !tutti_id_from_hex(&other, argv[1]) ||
	    tutti_id_unpack(&where, &id) || tutti_id_unpack(&who, &other))
		return 2;
	memcpy(where.secret, who.secret, sizeof(where.secret));
	if (tutti_id_pack(&id, &where))
		return 2;
	tutti_id_to_hex(hex, &id);
	puts(hex);
	return 0;
}

/* One connection of somebody who is no rank. */
static void stranger(uint16_t port, const char *kind)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	static const char http[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
				   "and more that is no greeting at all";
	struct linger hard = { 1, 0 };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (connect(fd, (struct sockaddr *)&to, sizeof(to))) {
		close(fd);
		return;
	}
	if (!strcmp(kind, "garbage"))
		(void)!write(fd, http, sizeof(http));
	if (!strcmp(kind, "half"))
		(void)!write(fd, TUTTI_MAGIC, TUTTI_MAGIC_BYTES);
	if (!strcmp(kind, "rst"))
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
	/* A slow one is left open, for this process's end to close. */
	if (strcmp(kind, "drip"))
		close(fd);
	else
		(void)!write(fd, TUTTI_MAGIC, 1);
}

static int strangers(char **argv)
{
	int count = atoi(argv[2]);

	for (int i = 0; i < count; i++)
		stranger((uint16_t)atoi(argv[0]), argv[1]);
	if (!strcmp(argv[1], "drip"))
		pause_ms(3000);
	return 0;
}

int main(int argc, char **argv)
{
	if (getenv("BOOTRANK_SIGNALS"))
		start_signals();
	if (getenv("BOOTRANK_NO_IPV6") && forbid_ipv6()) {
		perror("bootrank: seccomp");
		return 77;
	}
	if (argc >= 2 && !strcmp(argv[1], "serve"))
		return serve();
	if (argc >= 6 && !strcmp(argv[1], "join"))
		return join(argv + 2);
	if (argc >= 6 && !strcmp(argv[1], "host"))
		return host(argv + 2);
	if (argc >= 3 && !strcmp(argv[1], "env"))
		return join_env(argv + 2);
	if (argc == 3 && !strcmp(argv[1], "port"))
		return show_port(argv + 2);
	if (argc == 4 && !strcmp(argv[1], "forge"))
		return forge(argv + 2);
	if (argc == 5 && !strcmp(argv[1], "strangers"))
		return strangers(argv + 2);
	fprintf(stderr, "bootrank: see the head of its source\n");
	return 2;
}
