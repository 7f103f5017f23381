/* SPDX-License-Identifier: BSD-3-Clause */
/* System calls that finish what they began: EINTR is retried, short counts go
 * on, SIGPIPE never rises, deadlines are of the monotonic clock. */
#ifndef TUTTI_BASE_IO_H
#define TUTTI_BASE_IO_H

#include <stddef.h>
#include <stdint.h>

/* Read or write exactly `len` bytes on a socket that may be non-blocking,
 * by `deadline_ns` (monotonic).  Returns 0, or an errno value: ETIMEDOUT at the
 * deadline, ECONNRESET at end of file. */
int tutti_read_full(int fd, void *buf, size_t len, int64_t deadline_ns);
int tutti_write_full(int fd, const void *buf, size_t len, int64_t deadline_ns);

/* Wait until poll `events` are there or the deadline; 0 or an errno value. */
int tutti_poll_fd(int fd, short events, int64_t deadline_ns);

/* Fill with random bytes from the kernel; 0 or an errno value. */
int tutti_random(void *buf, size_t len);

/* Close and set to -1; keeps errno; -1 is allowed. */
void tutti_close(int *fd);

#endif
