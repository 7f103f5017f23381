/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Socket input and output to the end: short counts, deadlines, ends of file,
 * signals.
 */
#include "config.h"

#include "base/bits.h"
#include "base/clock.h"
#include "base/futex.h"
#include "base/io.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define MS 1000000LL
#define BIG (4 << 20)

static int64_t in_ms(int64_t ms)
{
	return tutti_now_ns() + ms * MS;
}

static void make_pair(int fds[2], int flags)
{
	cr_assert(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0,
			      fds));
}

struct writer {
	int fd;
	char *data;
	size_t len, step;
	int err;
};

static void *write_slowly(void *arg)
{
	struct writer *w = arg;

	for (size_t at = 0; at < w->len && !w->err; at += w->step) {
		w->err = tutti_write_full(w->fd, w->data + at,
					  tutti_min(w->step, w->len - at),
					  in_ms(20000));
		if (at / w->step % 8 == 0)
			usleep(200);
	}
	return NULL;
}

/* Far more than a socket takes, in odd pieces, on blocking and non-blocking
 * sockets. */
static void transfer(int flags, size_t len, size_t step)
{
	char *out = malloc(len), *in = calloc(1, len);
	struct writer w = { .data = out, .len = len, .step = step };
	pthread_t thread;
	int fds[2];

	make_pair(fds, flags);
	for (size_t i = 0; i < len; i++)
		out[i] = (char)(i * 31 >> 3);
	w.fd = fds[0];
	cr_assert(!pthread_create(&thread, NULL, write_slowly, &w));
	cr_assert(!tutti_read_full(fds[1], in, len, in_ms(20000)));
	pthread_join(thread, NULL);
	cr_assert(!w.err && !memcmp(in, out, len));
	close(fds[0]);
	close(fds[1]);
	free(in);
	free(out);
}

Test(base_io, whole)
{
	transfer(0, BIG, BIG);
	transfer(SOCK_NONBLOCK, BIG, BIG);
	transfer(SOCK_NONBLOCK, 100000, 4999);
	transfer(0, 100, 1);
}

static void on_alarm(int sig)
{
}

/* case 2: a fast timer without SA_RESTART. */
Test(base_io, interrupted, .timeout = 30)
{
	struct sigaction act = { .sa_handler = on_alarm };
	struct itimerval every = { { 0, 500 }, { 0, 500 } };
	int fds[2];
	char c;

	cr_assert(!sigaction(SIGALRM, &act, NULL));
	cr_assert(!setitimer(ITIMER_REAL, &every, NULL));
	transfer(0, BIG, BIG);
	transfer(SOCK_NONBLOCK, BIG, 70001);
	make_pair(fds, 0);
	cr_assert(tutti_read_full(fds[0], &c, 1, in_ms(60)) == ETIMEDOUT);
	cr_assert(tutti_poll_fd(fds[0], POLLIN, in_ms(60)) == ETIMEDOUT);
}

Test(base_io, deadlines, .timeout = 30)
{
	static char big[BIG];
	int64_t began;
	int fds[2];

	make_pair(fds, 0);
	/* Nothing comes. */
	began = tutti_now_ns();
	cr_assert(tutti_read_full(fds[0], big, 1, in_ms(50)) == ETIMEDOUT);
	cr_assert(tutti_now_ns() - began >= 50 * MS);
	cr_assert(tutti_now_ns() - began < 2000 * MS);
	/* Not all comes. */
	cr_assert(write(fds[1], "abc", 3) == 3);
	cr_assert(tutti_read_full(fds[0], big, 4, in_ms(30)) == ETIMEDOUT);
	/* Nobody takes it. */
	cr_assert(tutti_write_full(fds[0], big, BIG, in_ms(50)) == ETIMEDOUT);
	/* What is there is read even after the deadline; 0 bytes always. */
	cr_assert(!tutti_read_full(fds[1], big, 1000, 0));
	cr_assert(!tutti_read_full(fds[0], big, 0, 0));
	cr_assert(!tutti_write_full(fds[0], big, 0, 0));
}

Test(base_io, poll)
{
	int fds[2];

	make_pair(fds, 0);
	cr_assert(tutti_poll_fd(fds[0], POLLIN, in_ms(20)) == ETIMEDOUT);
	cr_assert(tutti_poll_fd(fds[0], POLLIN, 0) == ETIMEDOUT);
	cr_assert(!tutti_poll_fd(fds[0], POLLOUT, in_ms(1000)));
	cr_assert(write(fds[1], "x", 1) == 1);
	cr_assert(!tutti_poll_fd(fds[0], POLLIN, in_ms(1000)));
	close(fds[1]);
	cr_assert(!tutti_poll_fd(fds[0], POLLIN, in_ms(1000)));
	/* Far away is not past: no overflow on the way to poll. */
	cr_assert(!tutti_poll_fd(fds[0], POLLIN, INT64_MAX));
}

Test(base_io, end_of_file)
{
	char buf[8];
	int fds[2];

	make_pair(fds, 0);
	cr_assert(write(fds[1], "abc", 3) == 3);
	close(fds[1]);
	cr_assert(!tutti_read_full(fds[0], buf, 2, in_ms(1000)));
	cr_assert(tutti_read_full(fds[0], buf, 2, in_ms(1000)) == ECONNRESET);
	cr_assert(tutti_read_full(-1, buf, 2, in_ms(1000)) == EBADF);
}

/* case 64: a broken socket is an error value and no signal; the test would
 * die of one. */
Test(base_io, no_sigpipe)
{
	struct sigaction act;
	int fds[2];

	cr_assert(signal(SIGPIPE, SIG_DFL) != SIG_ERR);
	make_pair(fds, 0);
	close(fds[1]);
	cr_assert(tutti_write_full(fds[0], "x", 1, in_ms(1000)) == EPIPE);
	cr_assert(!sigaction(SIGPIPE, NULL, &act));
	cr_assert(act.sa_handler == SIG_DFL);
}

Test(base_io, random_bytes)
{
	unsigned char a[64] = { 0 }, b[64] = { 0 }, seen[256] = { 0 };
	static unsigned char big[100000];
	int different = 0;

	cr_assert(!tutti_random(a, sizeof(a)));
	cr_assert(!tutti_random(b, sizeof(b)));
	cr_assert(memcmp(a, b, sizeof(a)));
	cr_assert(!tutti_random(a, 0));
	/* More than one call of the kernel gives, filled to the end. */
	cr_assert(!tutti_random(big, sizeof(big)));
	for (size_t i = sizeof(big) - 5000; i < sizeof(big); i++)
		seen[big[i]] = 1;
	for (int i = 0; i < 256; i++)
		different += seen[i];
	cr_assert(different > 200);
}

Test(base_io, closing)
{
	int fds[2], fd;

	make_pair(fds, 0);
	fd = fds[0];
	errno = EXFULL;
	tutti_close(&fds[0]);
	cr_assert(fds[0] == -1 && errno == EXFULL);
	cr_assert(fcntl(fd, F_GETFD) < 0);
	errno = EXFULL;
	tutti_close(&fds[0]);
	cr_assert(errno == EXFULL);
	fd = 1 << 20;
	tutti_close(&fd);
	cr_assert(errno == EXFULL);
}

/* ---- Futex -------------------------------------------------------------- */

static _Atomic uint32_t word;

static void *wake_later(void *arg)
{
	usleep(20000);
	atomic_store(&word, 1);
	tutti_futex_wake(&word);
	return NULL;
}

Test(base_futex, waiting)
{
	int64_t began = tutti_now_ns();
	pthread_t thread;

	errno = EXFULL;
	tutti_futex_wait(&word, 0, 30 * MS);
	cr_assert(tutti_now_ns() - began >= 25 * MS);
	began = tutti_now_ns();
	tutti_futex_wait(&word, 1, 10000 * MS);
	tutti_futex_wait(&word, 0, 0);
	tutti_futex_wait(&word, 0, -5);
	cr_assert(tutti_now_ns() - began < 5000 * MS);
	cr_assert(errno == EXFULL);
	pthread_create(&thread, NULL, wake_later, NULL);
	while (!atomic_load(&word))
		tutti_futex_wait(&word, 0, 10000 * MS);
	cr_assert(tutti_now_ns() - began < 5000 * MS);
	pthread_join(thread, NULL);
}
