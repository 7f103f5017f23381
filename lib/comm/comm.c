/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Life of a communicator, its one sticky error, and the news from other ranks.
 */
#include "config.h"

#include "base/bits.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/futex.h"
#include "base/log.h"
#include "base/settings.h"
#include "comm/comm.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC 0x6d6d6f4369747574u
#define CLAIMED 0x646564646e65u
/* A rank that died after it had done its part must not break an operation
 * that the others can still end. */
#define GRACE_NS 1000000000
#define ABORT_WAIT_NS 2000000000

static _Atomic unsigned int forks;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static void count_fork(void)
{
	atomic_fetch_add_explicit(&forks, 1, memory_order_relaxed);
}

static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, count_fork);
}

unsigned int tutti_comm_forks(void)
{
	return atomic_load_explicit(&forks, memory_order_relaxed);
}

tuttiResult_t tutti_comm_check(const struct tuttiComm *comm,
			       const char *function)
{
	if (!comm)
		return tutti_fail(tuttiInvalidArgument,
				  "%s: the communicator is NULL", function);
	if (comm->magic != MAGIC)
		return tutti_fail(tuttiInvalidArgument,
				  "%s: %p is not a communicator, or was "
				  "destroyed", function, (const void *)comm);
	if (comm->forks != tutti_comm_forks())
		return tutti_fail(tuttiInvalidUsage,
				  "%s: this process was forked from the one "
				  "that made the communicator; make a new one",
				  function);
	return tuttiSuccess;
}

/* ---- The error ----------------------------------------------------------- */

void tutti_comm_ring(struct tuttiComm *comm)
{
	struct tutti_bell *bell = comm->waiter.bell;

	atomic_fetch_add(&bell->rung, 1);
	tutti_futex_wake(&bell->rung);
}

/* The first error stays.  True if it was this one. */
static bool set_error(struct tuttiComm *comm, tuttiResult_t rc,
		      const char *text)
{
	bool first;

	pthread_mutex_lock(&comm->lock);
	first = atomic_load(&comm->error) == tuttiSuccess;
	if (first) {
		snprintf(comm->error_text, sizeof(comm->error_text), "%s",
			 text);
		atomic_store(&comm->error, (int)rc);
		atomic_store(&comm->alarmed, true);
		tutti_comm_ring(comm);
	}
	pthread_mutex_unlock(&comm->lock);
	return first;
}

tuttiResult_t tutti_comm_error(struct tuttiComm *comm)
{
	tuttiResult_t rc = (tuttiResult_t)atomic_load(&comm->error);

	if (rc) {
		pthread_mutex_lock(&comm->lock);
		tutti_fail_set(comm->error_text);
		pthread_mutex_unlock(&comm->lock);
	}
	return rc;
}

tuttiResult_t tutti_comm_fail(struct tuttiComm *comm, tuttiResult_t rc,
			      bool tell, const char *fmt, ...)
{
	char text[TUTTI_ERROR_TEXT];
	struct tutti_news news = { .kind = TUTTI_NEWS_ERROR,
				   .rank = comm->rank, .code = (int32_t)rc };
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	snprintf(news.text, sizeof(news.text), "%.500s", text);
	/* Once the error is set, the thread inside may come out, and leave. */
	if (tell && !atomic_load(&comm->error))
		tutti_boot_tell(comm->boot, &news);
	if (set_error(comm, rc, text))
		tutti_info("%s", text);
	return tutti_comm_error(comm);
}

/* ---- News ---------------------------------------------------------------- */

static void on_death(struct tuttiComm *comm, const struct tutti_news *news)
{
	pthread_mutex_lock(&comm->lock);
	if (!comm->death_ns) {
		comm->death = *news;
		comm->death_ns = tutti_now_ns();
	}
	pthread_mutex_unlock(&comm->lock);
	atomic_store(&comm->alarmed, true);
	tutti_comm_ring(comm);
}

/* In the helper thread. */
static void on_news(void *arg, const struct tutti_news *news)
{
	struct tuttiComm *comm = arg;
	char text[TUTTI_ERROR_TEXT];
	tuttiResult_t rc = tuttiRemoteError;

	switch (news->kind) {
	case TUTTI_NEWS_DEATH:
		on_death(comm, news);
		return;
	case TUTTI_NEWS_ROOT_LOST:
		/* The ranks there had all left in order: no more news will
		 * come, but nothing is wrong. */
		if (news->code != tuttiSuccess)
			on_death(comm, news);
		return;
	case TUTTI_NEWS_ASK:
		tutti_ask_news(comm, news);
		return;
	case TUTTI_NEWS_SPLIT:
		tutti_split_news(comm, news);
		return;
	case TUTTI_NEWS_ABORT:
		if (news->text[0])
			snprintf(text, sizeof(text), "%s", news->text);
		else
			snprintf(text, sizeof(text), "rank %d aborted the "
				 "communicator", news->rank);
		tutti_family_abort(comm, news->rank);
		break;
	case TUTTI_NEWS_ERROR:
		/* A wrong call is everybody's wrong call. */
		if (news->code == tuttiInvalidUsage)
			rc = tuttiInvalidUsage;
		if (news->code == tuttiTimeout)
			rc = tuttiTimeout;
		snprintf(text, sizeof(text), "%s%s", rc == tuttiRemoteError ?
			 "another rank failed: " : "", news->text);
		break;
	}
	set_error(comm, rc, text);
}

tuttiResult_t tutti_comm_listen(struct tuttiComm *comm)
{
	return tutti_boot_listen(comm->boot, on_news, comm);
}

static tuttiResult_t fail_death(struct tuttiComm *comm,
				const struct tutti_news *death)
{
	char during[224] = "", call[128];

	if (atomic_load(&comm->inside) &&
	    tutti_board_collective(comm, comm->rank, comm->seq, call,
				   sizeof(call)))
		snprintf(during, sizeof(during), " (seen by rank %d in %s, "
			 "operation %llu)", comm->rank, call,
			 (unsigned long long)comm->seq);
	if (death->kind == TUTTI_NEWS_ROOT_LOST)
		return tutti_comm_fail(comm, tuttiRemoteError, true,
				       "the process that made the unique id "
				       "is gone: %s%s", death->text, during);
	if (death->text[0])
		return tutti_comm_fail(comm, tuttiRemoteError, true,
				       "%s: killed or crashed?%s", death->text,
				       during);
	return tutti_comm_fail(comm, tuttiRemoteError, true,
			       "rank %d ended without leaving the "
			       "communicator: killed or crashed?%s",
			       death->rank, during);
}

tuttiResult_t tutti_comm_heed(struct tuttiComm *comm, int peer)
{
	struct tutti_news death;
	int64_t since;

	if (atomic_load(&comm->error))
		return tutti_comm_error(comm);
	pthread_mutex_lock(&comm->lock);
	death = comm->death;
	since = comm->death_ns;
	pthread_mutex_unlock(&comm->lock);
	if (!since)
		return tuttiSuccess;
	if (peer < 0 || peer == death.rank ||
	    tutti_now_ns() - since > GRACE_NS)
		return fail_death(comm, &death);
	return tuttiSuccess;
}

/* ---- Life ---------------------------------------------------------------- */

/* A destroyed communicator's memory is kept for the next one, so that a call
 * on a stale handle can look at it and be refused. */
static struct tuttiComm *destroyed;
static pthread_mutex_t destroyed_lock = PTHREAD_MUTEX_INITIALIZER;

static struct tuttiComm *comm_new(void)
{
	struct tuttiComm *comm;

	pthread_mutex_lock(&destroyed_lock);
	comm = destroyed;
	if (comm)
		destroyed = comm->next;
	pthread_mutex_unlock(&destroyed_lock);
	if (!comm)
		comm = aligned_alloc(TUTTI_LINE, tutti_round_up(sizeof(*comm),
								TUTTI_LINE));
	if (comm)
		memset(comm, 0, sizeof(*comm));
	return comm;
}

static void comm_drop(struct tuttiComm *comm)
{
	comm->magic = 0;
	pthread_mutex_lock(&destroyed_lock);
	comm->next = destroyed;
	destroyed = comm;
	pthread_mutex_unlock(&destroyed_lock);
}

static tuttiResult_t apply_config(struct tuttiComm *comm,
				  const tuttiConfig_t *config)
{
	comm->timeout_ns = tutti_setting(TUTTI_SET_TIMEOUT) * 1000000;
	comm->init_ns = tutti_comm_init_ns(config);
	comm->warn_ns = tutti_setting(TUTTI_SET_WARN_AFTER) * 1000000;
	if (config && config->timeoutMs != TUTTI_CONFIG_UNDEF)
		comm->timeout_ns = (int64_t)config->timeoutMs * 1000000;
	if (config && config->commName)
		snprintf(comm->name, sizeof(comm->name), "%s",
			 config->commName);
	return tutti_kernels_get(&comm->exec.kernels);
}

static tuttiResult_t allocate(struct tuttiComm *comm)
{
	size_t n = (size_t)comm->ranks;

	comm->node = calloc(n, sizeof(*comm->node));
	comm->via = calloc(n, sizeof(*comm->via));
	comm->p2p_sent = calloc(n, sizeof(*comm->p2p_sent));
	comm->p2p_received = calloc(n, sizeof(*comm->p2p_received));
	if (!comm->node || !comm->via || !comm->p2p_sent ||
	    !comm->p2p_received)
		return tutti_fail(tuttiSystemError, "out of memory");
	comm->seq = (uint64_t)tutti_setting(TUTTI_SET_DEBUG_SEQ_START);
	for (size_t r = 0; r < n; r++) {
		comm->via[r] = -1;
		comm->p2p_sent[r] = comm->p2p_received[r] = comm->seq;
	}
	if (tutti_split_init(comm))
		return tutti_fail(tuttiSystemError, "out of memory");
	return tutti_board_open(comm);
}

static void free_all(struct tuttiComm *comm)
{
	tutti_ask_free(comm);
	tutti_board_close(comm);
	tutti_peers_close(comm);
	tutti_plans_free(comm);
	tutti_blocks_free(comm);
	tutti_registrations_free(comm);
	tutti_redops_free(comm);
	tutti_queue_drop(comm);
	tutti_split_fini(comm);
	tutti_job_fini(&comm->job);
	free(comm->node);
	free(comm->domain);
	free(comm->via);
	free(comm->p2p_sent);
	free(comm->p2p_received);
	pthread_mutex_destroy(&comm->lock);
	comm_drop(comm);
}

tuttiResult_t tutti_comm_create(struct tuttiComm **out,
				struct tutti_boot *take_boot, int ranks,
				int rank, const tuttiConfig_t *config,
				int64_t deadline_ns,
				const struct tutti_stop *stop)
{
	struct tuttiComm *comm = comm_new();
	tuttiResult_t rc;

	if (!comm)
		return tutti_fail(tuttiSystemError, "out of memory");
	pthread_once(&fork_once, watch_forks);
	pthread_mutex_init(&comm->lock, NULL);
	comm->magic = MAGIC;
	comm->forks = tutti_comm_forks();
	comm->rank = comm->exec.rank = rank;
	comm->ranks = comm->exec.ranks = ranks;
	comm->boot = take_boot;
	comm->stop = *stop;
	comm->waiter.bell = &comm->own_bell;
	comm->algo_name = "";
	tutti_log_set_rank(rank);
	rc = allocate(comm);
	if (!rc)
		rc = apply_config(comm, config);
	if (!rc)
		rc = tutti_peers_connect(comm, deadline_ns);
	if (!rc)
		rc = tutti_job_init(&comm->job, &comm->exec);
	if (!rc)
		rc = tutti_comm_listen(comm);
	if (rc) {
		comm->boot = NULL;
		free_all(comm);
		return rc;
	}
	*out = comm;
	return tuttiSuccess;
}

bool tutti_comm_claim(struct tuttiComm *comm)
{
	uint64_t magic = MAGIC;

	return atomic_compare_exchange_strong(&comm->magic, &magic, CLAIMED);
}

void tutti_comm_destroy(struct tuttiComm *comm)
{
	tutti_family_leave(comm);
	tutti_ask_end(comm);
	/* No handler runs after this. */
	tutti_boot_leave(comm->boot);
	free_all(comm);
}

void tutti_comm_abort_from(struct tuttiComm *comm, const char *text)
{
	struct tutti_news news = { .kind = TUTTI_NEWS_ABORT,
				   .rank = comm->rank };

	snprintf(news.text, sizeof(news.text), "%s", text);
	if (set_error(comm, tuttiRemoteError, text))
		tutti_boot_tell(comm->boot, &news);
}

void tutti_comm_abort(struct tuttiComm *comm)
{
	struct tutti_news news = { .kind = TUTTI_NEWS_ABORT,
				   .rank = comm->rank };
	struct timespec pause = { .tv_nsec = 200000 };
	int64_t deadline = tutti_now_ns() + ABORT_WAIT_NS;
	int outside = 0;

	set_error(comm, tuttiRemoteError, "this rank aborted the "
		  "communicator");
	tutti_boot_tell(comm->boot, &news);
	tutti_family_abort(comm, comm->rank);
	/* Nobody enters any more. */
	while (!atomic_compare_exchange_strong(&comm->inside, &outside, 1)) {
		outside = 0;
		if (tutti_now_ns() > deadline) {
			/* Better a leak than memory taken from under it. */
			tutti_warn("abort: a thread of rank %d did not come "
				   "out of its call within 2 s", comm->rank);
			return;
		}
		tutti_comm_ring(comm);
		nanosleep(&pause, NULL);
	}
	tutti_comm_destroy(comm);
}
