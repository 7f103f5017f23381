/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading and writing one control connection without ever waiting.
 */
#include "config.h"

#include "boot/link.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct tutti_queued {
	struct tutti_queued *next;
	struct tutti_packet *packet;
};

static struct tutti_packet *packet(size_t len)
{
	struct tutti_packet *p = calloc(1, sizeof(*p) + len);

	if (p) {
		p->users = 1;
		p->len = len;
	}
	return p;
}

struct tutti_packet *tutti_packet_frame(enum tutti_frame type, uint64_t seq,
					size_t len)
{
	struct tutti_packet *p = packet(FRAME_BYTES + len);

	if (p) {
		tutti_put16(p->data + FRAME_TYPE, type);
		tutti_put32(p->data + FRAME_LENGTH, (uint32_t)len);
		tutti_put64(p->data + FRAME_SEQ, seq);
	}
	return p;
}

struct tutti_packet *tutti_packet_raw(const void *data, size_t len)
{
	struct tutti_packet *p = packet(len);

	if (p)
		memcpy(p->data, data, len);
	return p;
}

struct tutti_packet *tutti_packet_failed(enum tutti_frame type, uint64_t seq,
					 int32_t code, const char *text)
{
	size_t len = strnlen(text, TUTTI_TEXT_BYTES - 1);
	struct tutti_packet *p;

	p = tutti_packet_frame(type, seq, FAILED_BYTES + len);
	if (p) {
		tutti_put32(p->data + FRAME_BYTES + FAILED_CODE,
			    (uint32_t)code);
		memcpy(p->data + FRAME_BYTES + FAILED_BYTES, text, len);
	}
	return p;
}

void tutti_packet_drop(struct tutti_packet *p)
{
	if (p && --p->users == 0)
		free(p);
}

void tutti_link_init(struct tutti_link *l, int fd)
{
	memset(l, 0, sizeof(*l));
	l->fd = fd;
	l->tail = &l->head;
}

static void pop(struct tutti_link *l)
{
	struct tutti_queued *q = l->head;

	l->head = q->next;
	if (!l->head)
		l->tail = &l->head;
	tutti_packet_drop(q->packet);
	free(q);
	l->sent = 0;
}

void tutti_link_fini(struct tutti_link *l)
{
	while (l->head)
		pop(l);
	free(l->rx);
	l->rx = NULL;
	l->queued = 0;
}

void tutti_link_expect(struct tutti_link *l, size_t len)
{
	l->rx_have = 0;
	l->rx_need = len;
}

void tutti_link_extend(struct tutti_link *l, size_t len)
{
	l->rx_need = len;
}

int tutti_link_read(struct tutti_link *l)
{
	if (l->rx_need > l->rx_cap) {
		uint8_t *p = realloc(l->rx, l->rx_need);

		if (!p)
			return ENOMEM;
		l->rx = p;
		l->rx_cap = l->rx_need;
	}
	while (l->rx_have < l->rx_need) {
		ssize_t n = recv(l->fd, l->rx + l->rx_have,
				 l->rx_need - l->rx_have, MSG_DONTWAIT);

		if (n > 0)
			l->rx_have += (size_t)n;
		else if (n == 0)
			return ENODATA;
		else if (errno == EAGAIN || errno == EWOULDBLOCK)
			return EAGAIN;
		else if (errno != EINTR)
			return errno;
	}
	return 0;
}

int tutti_link_flush(struct tutti_link *l)
{
	while (l->head) {
		const struct tutti_packet *p = l->head->packet;
		ssize_t n = send(l->fd, p->data + l->sent, p->len - l->sent,
				 MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n >= 0) {
			l->sent += (size_t)n;
			l->queued -= (size_t)n;
			if (l->sent == p->len)
				pop(l);
		} else if (errno == EAGAIN || errno == EWOULDBLOCK ||
			   errno == ENOBUFS) {
			return EAGAIN;
		} else if (errno != EINTR) {
			return errno;
		}
	}
	return 0;
}

int tutti_link_send(struct tutti_link *l, struct tutti_packet *p)
{
	struct tutti_queued *q = malloc(sizeof(*q));

	if (!q)
		return ENOMEM;
	q->next = NULL;
	q->packet = p;
	p->users++;
	*l->tail = q;
	l->tail = &q->next;
	l->queued += p->len;
	return tutti_link_flush(l);
}
