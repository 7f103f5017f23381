/* SPDX-License-Identifier: BSD-3-Clause */
/* Sockets of this room: close-on-exec, non-blocking, and closed in a child
 * after fork, so that the end of a process is seen by its peers even while a
 * child of it lives on. */
#ifndef TUTTI_BOOT_SOCK_H
#define TUTTI_BOOT_SOCK_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/* An address to dial or to show. */
union tutti_sockaddr {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

#define TUTTI_SOCKADDR_TEXT 80

/* Like socket and accept; -1 with errno. */
int tutti_sock_open(int family);
int tutti_sock_accept(int listener, union tutti_sockaddr *from);
void tutti_sock_close(int *fd);

/* Switch on what every control connection has: no delay for small messages,
 * and probes that find a vanished host within 30 s. */
void tutti_sock_tune(int fd);

/* Start to connect.  0: done or under way, else an errno value. */
int tutti_sock_dial(int fd, const union tutti_sockaddr *to);
/* After POLLOUT: 0 or why it failed. */
int tutti_sock_dialled(int fd);

/* Length for the kernel, by family. */
socklen_t tutti_sock_len(const union tutti_sockaddr *a);
/* "192.0.2.1:80" or "[fd00::1%2]:80"; "(no address)" for any other family. */
const char *tutti_sock_text(const union tutti_sockaddr *a,
			    char out[TUTTI_SOCKADDR_TEXT]);
/* Turn an IPv4 address in IPv6 clothes into a plain one. */
void tutti_sock_unmap(union tutti_sockaddr *a);

/* Have `fn` called in a child after fork, once per process; false if the
 * system refuses. */
bool tutti_sock_after_fork(void (*fn)(void));

#endif
