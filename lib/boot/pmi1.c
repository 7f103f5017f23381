/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPICH's process manager (PMI-1): lines of "cmd=... key=value ..." over the
 * socket PMI_FD.  Used once: rank 0 puts the id, all wait at the barrier, all
 * get it.  The conversation is closed afterwards, as the manager expects of a
 * process that opened it; a program that also uses MPI itself should give
 * MPI's own all-gather to tuttiCommInitUser.
 */
#include "config.h"

#include "base/fail.h"
#include "base/io.h"
#include "boot/auth.h"
#include "boot/boot_impl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define LINE_BYTES 1024	/* all that we say or hear fits */
#define KEY "tutti-id"

struct pmi1 {
	int fd, rank;
	int64_t deadline_ns;
	char line[LINE_BYTES];	/* the last answer, without its end */
};

static tuttiResult_t broken(const struct pmi1 *p, int err, const char *doing)
{
	if (err == ETIMEDOUT)
		return tutti_fail(tuttiTimeout, "rank %d: the process manager "
				  "behind PMI_FD=%d did not answer in time "
				  "while %s", p->rank, p->fd, doing);
	tutti_fail_errno(err, "rank %d: the process manager behind PMI_FD=%d "
			 "cannot be reached while %s", p->rank, p->fd, doing);
	return tuttiInvalidUsage;
}

/* Byte by byte: nothing that follows may be taken from the socket. */
static int read_line(struct pmi1 *p)
{
	for (size_t i = 0; i < sizeof(p->line); i++) {
		int err = tutti_read_full(p->fd, &p->line[i], 1,
					  p->deadline_ns);

		if (err)
			return err;
		if (p->line[i] == '\n') {
			p->line[i] = 0;
			return 0;
		}
	}
	return EMSGSIZE;
}

/* The value of `key` in the answer, up to a space; NULL if it has none. */
static const char *value(struct pmi1 *p, const char *key, char *out,
			 size_t cap)
{
	size_t len = strlen(key);
	const char *s = p->line;

	while (*s) {
		size_t n = strcspn(s, " ");

		if (n > len && s[len] == '=' && !strncmp(s, key, len) &&
		    n - len - 1 < cap) {
			memcpy(out, s + len + 1, n - len - 1);
			out[n - len - 1] = 0;
			return out;
		}
		s += n + strspn(s + n, " ");
	}
	return NULL;
}

/* Say `text`, hear an answer that is `expect` and whose rc is 0. */
static tuttiResult_t ask(struct pmi1 *p, const char *text, const char *expect,
			 const char *doing)
{
	char got[64], rc[16];
	int err;

	err = tutti_write_full(p->fd, text, strlen(text), p->deadline_ns);
	if (!err)
		err = read_line(p);
	if (err)
		return broken(p, err, doing);
	if (!value(p, "cmd", got, sizeof(got)) || strcmp(got, expect))
		return tutti_fail(tuttiInvalidUsage, "rank %d: the process "
				  "manager behind PMI_FD=%d does not speak "
				  "PMI-1: it gave no %s while %s", p->rank,
				  p->fd, expect, doing);
	if (value(p, "rc", rc, sizeof(rc)) && strcmp(rc, "0"))
		return tutti_fail(tuttiRemoteError, "rank %d: the process "
				  "manager failed with %s while %s", p->rank,
				  rc, doing);
	return tuttiSuccess;
}

/* Put and get the id in the job's key space. */
static tuttiResult_t pass(struct pmi1 *p, tuttiUniqueId *id)
{
	char hex[2 * TUTTI_UNIQUE_ID_BYTES + 1], text[LINE_BYTES], name[256];
	tuttiResult_t rc;

	rc = ask(p, "cmd=get_my_kvsname\n", "my_kvsname", "asking its name");
	if (rc)
		return rc;
	if (!value(p, "kvsname", name, sizeof(name)))
		return tutti_fail(tuttiInvalidUsage, "rank %d: the process "
				  "manager behind PMI_FD=%d has no name for "
				  "its keys", p->rank, p->fd);
	if (p->rank == 0) {
		tutti_id_to_hex(hex, id);
		snprintf(text, sizeof(text), "cmd=put kvsname=%s key=" KEY
			 " value=%s\n", name, hex);
		rc = ask(p, text, "put_result", "giving the unique id");
	}
	if (!rc)
		rc = ask(p, "cmd=barrier_in\n", "barrier_out",
			 "waiting for the other ranks");
	if (rc || p->rank == 0)
		return rc;
	snprintf(text, sizeof(text), "cmd=get kvsname=%s key=" KEY "\n",
		 name);
	rc = ask(p, text, "get_result", "asking for the unique id");
	if (!rc && (!value(p, "value", hex, sizeof(hex)) ||
		    !tutti_id_from_hex(id, hex)))
		rc = tutti_fail(tuttiRemoteError, "rank %d: the process "
				"manager has no unique id of rank 0, which may "
				"have failed", p->rank);
	tutti_auth_forget(p->line, sizeof(p->line));
	return rc;
}

tuttiResult_t tutti_pmi1_exchange(tuttiUniqueId *id, int rank,
				  int64_t deadline_ns)
{
	const char *text = getenv("PMI_FD");
	struct pmi1 p = { .rank = rank, .deadline_ns = deadline_ns };
	char *end = NULL;
	long fd = text ? strtol(text, &end, 10) : -1;
	tuttiResult_t rc, bye;
	int type;

	if (!text || !*text || *end || fd < 0 || fd > INT32_MAX)
		return tutti_fail(tuttiInvalidUsage, "rank %d was started by "
				  "MPICH's launcher (PMI_RANK), but PMI_FD "
				  "names no descriptor of its process manager",
				  rank);
	p.fd = (int)fd;
	if (getsockopt(p.fd, SOL_SOCKET, SO_TYPE, &type,
		       &(socklen_t){ sizeof(type) }))
		return broken(&p, errno, "looking at the descriptor");
	rc = ask(&p, "cmd=init pmi_version=1 pmi_subversion=1\n",
		 "response_to_init", "opening");
	if (rc)
		return rc;
	rc = pass(&p, id);
	bye = ask(&p, "cmd=finalize\n", "finalize_ack", "closing");
	return rc ? rc : bye;
}
