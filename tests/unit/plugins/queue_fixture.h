/* SPDX-License-Identifier: MIT */
/*
 * queue_fixture.h - queue.put and queue.take in the test kit, on one file, with a clock and a disk
 * (lost_writes.h) of the test's own, and another process that looks at the file.
 *
 * Life: fixture_init .. fixture_finish. Every failure here fails the test. The program that uses it
 * begins its `main` with fixture_is_asked.
 */
#ifndef QUEUE_FIXTURE_H
#define QUEUE_FIXTURE_H

#include <weir/testkit.h>

#include "lost_writes.h"
#include "scratch.h"

extern const struct weir_plugin weir_plugin_v1;

struct fixture {
    struct scratch scratch;
    struct weir_kit *put, *take; /* NULL = not open */
    char path[512];              /* of the file */
    char args[1024];             /* YAML */
    char answer[1024];           /* of fixture_ask */
    uint64_t began_ms;           /* of a clock that nobody sets */
};

void fixture_init(struct fixture *f);
/* Closes what is open; the hub ends. */
void fixture_finish(struct fixture *f);
/* Opens a behaviour with `file`, `queue: q` and these options. */
void fixture_open_put(struct fixture *f, const char *more);
void fixture_open_take(struct fixture *f, const char *more);
/* A reload with these options. */
void fixture_reconfigure_put(struct fixture *f, const char *more);
void fixture_close_put(struct fixture *f);
void fixture_close_take(struct fixture *f);

/* The time of the next condition begins. */
void fixture_begin_wait(struct fixture *f);
/* One look at all that may have come, in both kits. Use it in a loop, for a condition; the test
 * fails when it takes longer than wait_limit_ms. */
void fixture_turn(struct fixture *f);
/* Gives the put a message, with the attempt 1. Returns the verdict. */
int fixture_put(struct fixture *f, const char *text);
/* Until the put has settled `count` messages in all, each as done. */
void fixture_wait_stored(struct fixture *f, size_t count);
/* Until the take has emitted `count` messages in all. Returns the last one. */
const struct weir_message *fixture_wait_taken(struct fixture *f, size_t count);
/* The payload of the message that the take has emitted as number `index` is this text. */
void fixture_expect_taken(struct fixture *f, size_t index, const char *text);
void fixture_tell(struct fixture *f, size_t index, const struct weir_outcome *outcome);
void fixture_tell_done(struct fixture *f, size_t index);

/* What another process reads from the file: the columns and rows with blanks between. Borrowed
 * until the next call. */
const char *fixture_ask(struct fixture *f, const char *sql);
/* Likewise, from the file as a power failure at this moment leaves it. Syncs do not fail now. */
const char *fixture_ask_disk(struct fixture *f, const char *sql);
/* Until the answer is this. */
void fixture_wait_answer(struct fixture *f, const char *sql, const char *answer);
/* True in a process of fixture_ask, which has answered: return 0 from `main`. */
bool fixture_is_asked(int argc, char **argv);

/* The next `count` sockets cannot be made: no descriptor is left. */
void fixture_fail_sockets(uint32_t count);
uint32_t fixture_sockets_to_fail(void);

/* Each lock that is given back is kept at the first try: the kernel has no memory. */
void fixture_fail_unlocks_first(bool fail);

/* Steps the time of day by seconds; other clocks stay. */
void fixture_step_clock(int64_t seconds);
/* The time of day in milliseconds, with the steps. */
int64_t fixture_now_ms(void);

#endif
