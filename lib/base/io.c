/* SPDX-License-Identifier: BSD-3-Clause */
/* Socket input and output to the end, by a deadline. */
#include "config.h"

#include "base/clock.h"
#include "base/io.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

int tutti_poll_fd(int fd, short events, int64_t deadline_ns)
{
	struct pollfd p = { .fd = fd, .events = events };

	for (;;) {
		int64_t left = deadline_ns - tutti_now_ns();
		int64_t ms = (left + 999999) / 1000000;
		int n;

		if (left <= 0)
			return ETIMEDOUT;
		n = poll(&p, 1, ms > INT_MAX ? INT_MAX : (int)ms);
		if (n > 0)
			return 0;
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return errno;
	}
}

/* One direction or the other; data is only written to when reading. */
static int move_full(int fd, char *data, size_t len, int64_t deadline_ns,
		     bool reading)
{
	while (len) {
		ssize_t n;
		int err;

		n = reading ? recv(fd, data, len, MSG_DONTWAIT) :
			      send(fd, data, len, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n > 0) {
			data += n;
			len -= (size_t)n;
			continue;
		}
		if (n == 0 && reading)
			return ECONNRESET;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK)
			return errno;
		err = tutti_poll_fd(fd, reading ? POLLIN : POLLOUT,
				    deadline_ns);
		if (err)
			return err;
	}
	return 0;
}

int tutti_read_full(int fd, void *buf, size_t len, int64_t deadline_ns)
{
	return move_full(fd, buf, len, deadline_ns, true);
}

int tutti_write_full(int fd, const void *buf, size_t len, int64_t deadline_ns)
{
	return move_full(fd, (char *)buf, len, deadline_ns, false);
}

int tutti_random(void *buf, size_t len)
{
	char *p = buf;

	while (len) {
		ssize_t n = getrandom(p, len, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

void tutti_close(int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	errno = saved;
}
