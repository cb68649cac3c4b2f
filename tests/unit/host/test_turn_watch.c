/* SPDX-License-Identifier: MIT */
/*
 * Goal: a turn that takes too long is logged with its worker and its stack, and goes on.
 *
 * Method: a worker waits at a gate inside a function with a name; the log is captured; the times of
 * the ticks are made up.
 */
#include "host/run/turn_watch.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "host/run/crash_watch.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define LIMIT_MS 1000u
#define ANSWER_MS 2000u /* as in turn_watch.c */

struct caught {
    uint32_t count; /* ticks and log lines are of one thread */
    char line[2048];
};

static void catch_line(void *context, const struct log_line *line)
{
    struct caught *caught = context;
    size_t used;

    /* In made-up time the other thread, which looks for work, seems to be in a long turn, too. */
    if (strcmp(line->component, "images#0") != 0)
        return;
    caught->count++;
    (void)snprintf(caught->line, sizeof caught->line, "%s %s", line->component, line->event);
    for (const struct weir_field *field = line->fields; field && field->key; field++) {
        used = strlen(caught->line);
        if (field->kind == WEIR_STRING)
            (void)snprintf(caught->line + used, sizeof caught->line - used, " %s=%s", field->key,
                           field->value.string);
        else
            (void)snprintf(caught->line + used, sizeof caught->line - used, " %s=%ju", field->key,
                           (uintmax_t)field->value.natural);
    }
}

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *pool;
    struct caught caught;
    struct log_sink sink;
    struct turn_watch *watch;
    uint64_t now_ms;
};

static int open_worker(struct weir_self *self, struct probe *probe)
{
    (void)self;
    (void)probe;
    return 0;
}

/* The threads of the rig register with their first message. */
static int introduce_and_wait(struct weir_self *self, struct probe *probe,
                              const struct weir_message *message)
{
    struct executor *executor =
        ((struct actor *)(void *)((char *)self - offsetof(struct actor, self)))->executor;
    int verdict;

    crash_watch_thread_start(executor);
    verdict = probe_wait(self, probe, message);
    crash_watch_thread_end(executor);
    return verdict;
}

static void mask(int how)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGURG);
    CU_ASSERT_EQUAL(pthread_sigmask(how, &set, NULL), 0);
}

/* As a thread that waits in the kernel. */
static int wait_without_signals(struct weir_self *self, struct probe *probe,
                                const struct weir_message *message)
{
    int verdict;

    mask(SIG_BLOCK);
    verdict = introduce_and_wait(self, probe, message);
    mask(SIG_UNBLOCK);
    return verdict;
}

static void begin_with(struct fixture *f, const char *unwatched, probe_act *act)
{
    struct turn_watch_setup setup = { .unwatched = unwatched };

    memset(f, 0, sizeof *f);
    f->probe = probe_create();
    f->probe->act = act;
    f->probe->opens = open_worker;
    rig_init(&f->rig, 2, 1);
    f->pool = rig_workers(&f->rig, f->probe, "images", 1, 8);
    f->sink = (struct log_sink){ .write = catch_line, .context = &f->caught };
    setup.sink = &f->sink;
    setup.runtime = f->rig.runtime;
    CU_ASSERT_EQUAL_FATAL(turn_watch_create(&setup, &f->watch), 0);
    turn_watch_set_limit(f->watch, LIMIT_MS);
    CU_ASSERT_EQUAL(rig_send(&f->rig, f->pool->pid, (struct order){ .id = 1 }), 0);
    CU_ASSERT_TRUE(gate_await(&f->probe->gate, 1));
    f->now_ms = 1;
    turn_watch_tick(f->watch, f->now_ms);
}

static void begin(struct fixture *f, const char *unwatched)
{
    begin_with(f, unwatched, introduce_and_wait);
}

static void finish(struct fixture *f)
{
    gate_open(&f->probe->gate);
    CU_ASSERT_TRUE(rig_noted(&f->rig, f->probe, 1, 1));
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, NULL));
    (void)runtime_stop(f->rig.runtime);
    turn_watch_destroy(f->watch);
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

/* Ticks that take no time, until the thread that was asked has answered. */
static bool is_logged(void *context)
{
    struct fixture *f = context;

    turn_watch_tick(f->watch, f->now_ms);
    return f->caught.count > 0;
}

/* promise H5 */
static void test_long_turn_is_reported_with_its_stack(void)
{
    struct fixture f;

    begin(&f, NULL);
    f.now_ms = LIMIT_MS;
    turn_watch_tick(f.watch, f.now_ms);
    turn_watch_tick(f.watch, f.now_ms);
    CU_ASSERT_EQUAL(f.caught.count, 0);
    f.now_ms = LIMIT_MS + 1;
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_logged, &f));
    CU_ASSERT_EQUAL(strncmp(f.caught.line, "images#0 turn takes long ms=1000 ", 33), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(f.caught.line, " worker=0 message="));
    /* The thread is in the gate's wait, a function of libc that our program calls. */
    CU_ASSERT_PTR_NOT_NULL(strstr(f.caught.line, " callback=handle thread="));
    CU_ASSERT_PTR_NOT_NULL(strstr(f.caught.line, "stack="));
    CU_ASSERT_PTR_NOT_NULL(strstr(f.caught.line, "pthread_cond_timedwait"));
    CU_ASSERT_PTR_NOT_NULL(strstr(f.caught.line, "test_host_turn_watch+0x"));
    f.now_ms *= 10;
    for (int i = 0; i < 10; i++)
        turn_watch_tick(f.watch, ++f.now_ms);
    CU_ASSERT_EQUAL(f.caught.count, 1);
    finish(&f);
}

static bool is_found(void *context)
{
    struct fixture *f = context;
    struct slow_turn turn;

    return turn_watch_find(f->watch, f->pool, 0, 0, &turn);
}

static bool is_not_found(void *context)
{
    return !is_found(context);
}

/* promise C23 */
static void test_long_turn_is_found_for_its_worker_until_it_ends(void)
{
    struct slow_turn turn;
    struct fixture f;

    begin(&f, NULL);
    CU_ASSERT_FALSE(is_found(&f)); /* it may last so long */
    f.now_ms = LIMIT_MS + 1;
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_logged, &f));
    CU_ASSERT_TRUE_FATAL(turn_watch_find(f.watch, f.pool, 0, 0, &turn));
    CU_ASSERT_STRING_EQUAL(turn.callback, "handle");
    CU_ASSERT_STRING_EQUAL(turn.dispatcher, "default");
    CU_ASSERT_TRUE(turn.ms >= LIMIT_MS && turn.thread > 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(turn.stack, "pthread_cond_timedwait"));
    CU_ASSERT_FALSE(turn_watch_find(f.watch, f.pool, 1, 0, &turn));
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_not_found, &f));
    finish(&f);
}

/* The first signal may have to be sent again: then its answer is awaited from that time on. */
static bool is_logged_later(void *context)
{
    struct fixture *f = context;

    f->now_ms++;
    return is_logged(f);
}

/* promise C23 */
static void test_thread_that_takes_no_signal_is_named_without_its_stack(void)
{
    struct slow_turn turn;
    struct fixture f;

    begin_with(&f, NULL, wait_without_signals);
    f.now_ms = LIMIT_MS + 1;
    turn_watch_tick(f.watch, f.now_ms);
    f.now_ms += ANSWER_MS - 1;
    turn_watch_tick(f.watch, f.now_ms);
    CU_ASSERT_EQUAL(f.caught.count, 0); /* it may still answer */
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_logged_later, &f));
    CU_ASSERT_EQUAL(strncmp(f.caught.line, "images#0 turn takes long ms=", 28), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(f.caught.line, " callback=handle thread="));
    CU_ASSERT_TRUE_FATAL(turn_watch_find(f.watch, f.pool, 0, 0, &turn));
    CU_ASSERT_STRING_EQUAL(turn.callback, "handle");
    CU_ASSERT_STRING_EQUAL(turn.stack, "not known: the thread waits in the kernel");
    CU_ASSERT_TRUE(turn.thread > 0);
    finish(&f);
}

static void test_turn_on_an_unwatched_dispatcher_may_take_long(void)
{
    struct fixture f;

    begin(&f, "default");
    CU_ASSERT_STRING_EQUAL(f.rig.dispatcher->name, "default");
    for (int i = 0; i < 10; i++)
        turn_watch_tick(f.watch, f.now_ms += LIMIT_MS);
    CU_ASSERT_EQUAL(f.caught.count, 0);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "reported", test_long_turn_is_reported_with_its_stack },
        { "found", test_long_turn_is_found_for_its_worker_until_it_ends },
        { "no signal", test_thread_that_takes_no_signal_is_named_without_its_stack },
        { "unwatched", test_turn_on_an_unwatched_dispatcher_may_take_long },
        CU_TEST_INFO_NULL,
    };

    return suite_run("turn watch", tests);
}
