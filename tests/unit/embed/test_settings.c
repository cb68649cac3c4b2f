/* SPDX-License-Identifier: MIT */
/*
 * Goal: the options of a program have the same effect as `clamp`, `subscribe`, `fan_out`,
 * `open_timeout`, `min_ready`, `turn_warning` and `log.level` in a file. Shows promise E4.
 *
 * Method: pools with and without each of them; sizes, copies of an event, statuses and lines of the
 * log are compared.
 */
#include <stdio.h>
#include <string.h>

#include "unit/embed/hand.h"
#include "unit/host/suite.h"

#include <weir/pool.h>

#define PUBLISHED 7u /* the id of an event */

static weir_pid add(struct hand *hand, const struct weir_pool_options *options)
{
    weir_pid pid = 0;

    CU_ASSERT_EQUAL_FATAL(weir_runtime_add_pool(hand->runtime, options, &pid), 0);
    CU_ASSERT_EQUAL(weir_runtime_wait_open(hand->runtime, pid, wait_limit_ms()), 0);
    return pid;
}

/* Has a worker act, and waits until it has. */
static void have(struct hand *hand, weir_pid pid, hand_act *act)
{
    struct weir_message *message = hand_message(hand, (struct hand_order){ .act = act });
    struct weir_answer answer = WEIR_ANSWER;

    CU_ASSERT_EQUAL(weir_runtime_ask(hand->runtime, pid, message, wait_limit_ms(), &answer),
                    WEIR_ENOREPLY);
}

/* --- sizes ------------------------------------------------------------------------------------ */

/* Asks the pool to change by, or to, the largest number. The size afterwards; 0 = refused. */
static uint32_t request_size(struct hand *hand, weir_pid pool, const char *tag)
{
    const struct weir_pool_count count = { .count = UINT32_MAX };
    struct weir_answer answer = WEIR_ANSWER;
    struct weir_resized resized = { 0 };
    struct weir_message *message = weir_runtime_message_new(
        hand->runtime, weir_runtime_tag(hand->runtime, tag), sizeof count);
    uint64_t reference;

    memcpy(message->data, &count, sizeof count);
    CU_ASSERT_EQUAL(
        weir_runtime_request(hand->runtime, pool, WEIR_HIGH, message, wait_limit_ms(), &reference),
        0);
    if (weir_runtime_await(hand->runtime, reference, &answer) == 0)
        memcpy(&resized, answer.message->data, sizeof resized);
    if (answer.message)
        weir_runtime_message_free(hand->runtime, answer.message);
    return resized.size;
}

static void test_size_beyond_the_bounds_is_an_error_or_the_nearest_bound(void)
{
    struct weir_pool_options options;
    struct weir_resized resized;
    struct hand hand;
    weir_pid strict, clamped;

    hand_begin(&hand, 1);
    options = hand_pool_options(&hand, "strict");
    options.workers = 2;
    options.workers_min = 1;
    options.workers_max = 3;
    strict = add(&hand, &options);
    options.path = "clamped";
    options.clamp = 1;
    clamped = add(&hand, &options);
    CU_ASSERT_EQUAL(weir_runtime_resize(hand.runtime, strict, 10, &resized), WEIR_EINVALID);
    CU_ASSERT_EQUAL(hand_stats(&hand, strict).target, 2);
    CU_ASSERT_EQUAL(weir_runtime_resize(hand.runtime, clamped, 10, &resized), 0);
    CU_ASSERT_EQUAL(resized.size, 3);
    CU_ASSERT_EQUAL(weir_runtime_resize(hand.runtime, clamped, 0, &resized), 0);
    CU_ASSERT_EQUAL(resized.size, 1);
    CU_ASSERT_EQUAL(weir_runtime_add_workers(hand.runtime, clamped, INT32_MAX, &resized), 0);
    CU_ASSERT_EQUAL(resized.size, 3);
    CU_ASSERT_EQUAL(weir_runtime_remove_workers(hand.runtime, clamped, UINT32_MAX, &resized), 0);
    CU_ASSERT_EQUAL(resized.size, 1);
    CU_ASSERT_EQUAL(weir_runtime_remove_workers(hand.runtime, strict, UINT32_MAX, &resized),
                    WEIR_EINVALID);
    CU_ASSERT_EQUAL(request_size(&hand, clamped, WEIR_POOL_ADD), 3);
    CU_ASSERT_EQUAL(request_size(&hand, clamped, WEIR_POOL_REMOVE), 1);
    CU_ASSERT_EQUAL(request_size(&hand, clamped, WEIR_POOL_RESIZE), 3);
    CU_ASSERT_EQUAL(request_size(&hand, strict, WEIR_POOL_RESIZE), 0);
    hand_finish(&hand);
}

/* --- events ----------------------------------------------------------------------------------- */

/* Notes how many took the event, and 100 for each that refused it. */
static int publish(struct weir_self *self, struct hand *hand, const struct weir_message *message)
{
    struct weir_message *made = weir_message_new(self, NULL, sizeof(struct hand_order));
    uint32_t taken = 0, refused = 0;
    uint64_t event = 0;

    (void)message;
    CU_ASSERT_EQUAL(weir_event(self, "news", &event), 0);
    memcpy(made->data, &(struct hand_order){ .id = PUBLISHED }, sizeof(struct hand_order));
    CU_ASSERT_EQUAL(weir_publish(self, event, made, &taken, &refused), 0);
    atomic_store(&hand->noted, (int)(taken + 100 * refused));
    return WEIR_DONE;
}

static void test_pool_gets_the_events_that_its_options_name(void)
{
    static const char *const names[] = { "other", "news" };
    struct weir_pool_options options;
    struct hand hand;
    weir_pid one, all, publisher;

    hand_begin(&hand, 1);
    options = hand_pool_options(&hand, "one");
    options.workers = 3;
    options.subscribe = names;
    options.subscribe_count = 2;
    one = add(&hand, &options);
    options.path = "all";
    options.fan_out = 1;
    all = add(&hand, &options);
    publisher = hand_pool(&hand, "publisher", 1, 0);
    have(&hand, publisher, publish);
    CU_ASSERT_EQUAL(atomic_load(&hand.noted), 1 + 3);
    CU_ASSERT_EQUAL(weir_runtime_close_wait(hand.runtime, one, wait_limit_ms()), 0);
    CU_ASSERT_EQUAL(weir_runtime_close_wait(hand.runtime, all, wait_limit_ms()), 0);
    CU_ASSERT_EQUAL(atomic_load(&hand.sum), 4 * PUBLISHED);
    hand_finish(&hand);
}

static void test_pool_with_an_event_that_cannot_be_named_is_refused(void)
{
    static const char *const names[] = { "news", "" };
    struct weir_pool_options options;
    struct hand hand;
    weir_pid pid;

    hand_begin(&hand, 1);
    options = hand_pool_options(&hand, "pool");
    options.subscribe_count = 2;
    CU_ASSERT_EQUAL(weir_runtime_add_pool(hand.runtime, &options, &pid), WEIR_EINVALID);
    options.subscribe = names;
    CU_ASSERT_EQUAL(weir_runtime_add_pool(hand.runtime, &options, &pid), WEIR_EINVALID);
    options.subscribe_count = 1;
    (void)add(&hand, &options); /* the path is free, and nothing was taken */
    hand_finish(&hand);
}

/* --- opening ---------------------------------------------------------------------------------- */

static int open_late(struct weir_self *self, const void *settings, void *state)
{
    struct hand *hand = (struct hand *)(uintptr_t)settings;

    (void)self;
    *(struct hand **)state = hand;
    (void)gate_pass(&hand->gate);
    return 0;
}

static void test_opening_is_waited_for_as_long_as_the_pool_says(void)
{
    struct weir_pool_options options;
    struct hand hand;
    weir_pid top, hasty, patient;

    hand_begin(&hand, 2);
    hand.behaviour.open = open_late;
    options = hand_pool_options(&hand, "hasty");
    options.open_timeout_ms = 1;
    CU_ASSERT_EQUAL(weir_runtime_add_pool(hand.runtime, &options, &hasty), 0);
    CU_ASSERT_EQUAL(weir_runtime_wait_open(hand.runtime, hasty, WEIR_OPEN_TIMEOUT), WEIR_ETIMEOUT);
    options.behaviour = NULL;
    options.path = "top";
    CU_ASSERT_EQUAL(weir_runtime_add_pool(hand.runtime, &options, &top), 0);
    options = hand_pool_options(&hand, "top/patient");
    options.parent = top;
    options.open_timeout_ms = wait_limit_ms();
    CU_ASSERT_EQUAL(weir_runtime_add_pool(hand.runtime, &options, &patient), 0);
    gate_open(&hand.gate);
    CU_ASSERT_EQUAL(weir_runtime_wait_open(hand.runtime, top, WEIR_OPEN_TIMEOUT), 0);
    hand_finish(&hand);
}

/* Worker 0 opens; worker 1 waits at the gate; the others fail. */
static int open_by_index(struct weir_self *self, const void *settings, void *state)
{
    struct hand *hand = (struct hand *)(uintptr_t)settings;

    *(struct hand **)state = hand;
    if (weir_index(self) == 1)
        (void)gate_pass(&hand->gate);
    return weir_index(self) > 1 ? WEIR_EUNSUPPORTED : 0;
}

static int wait_for(struct hand *hand, struct weir_pool_options *options, const char *path,
                    uint32_t min_ready, uint64_t timeout_ms)
{
    weir_pid pid;

    options->path = path;
    options->min_ready = min_ready;
    CU_ASSERT_EQUAL(weir_runtime_add_pool(hand->runtime, options, &pid), 0);
    return weir_runtime_wait_open(hand->runtime, pid, timeout_ms);
}

static void test_as_many_workers_must_open_as_the_pool_says(void)
{
    struct weir_pool_options options;
    struct hand hand;
    weir_pid top, below;

    hand_begin(&hand, 4);
    hand.behaviour.open = open_by_index;
    options = hand_pool_options(&hand, "");
    options.workers = 3;
    CU_ASSERT_EQUAL(wait_for(&hand, &options, "one", 1, wait_limit_ms()), 0);
    CU_ASSERT_EQUAL(wait_for(&hand, &options, "none", WEIR_MIN_READY_NONE, 0), 0);
    CU_ASSERT_EQUAL(wait_for(&hand, &options, "all", 0, wait_limit_ms()), WEIR_EUNSUPPORTED);
    gate_open(&hand.gate);
    CU_ASSERT_EQUAL(wait_for(&hand, &options, "two", 2, wait_limit_ms()), 0);
    CU_ASSERT_EQUAL(wait_for(&hand, &options, "three", 3, wait_limit_ms()), WEIR_EUNSUPPORTED);
    options.behaviour = NULL;
    options.path = "top";
    CU_ASSERT_EQUAL(weir_runtime_add_pool(hand.runtime, &options, &top), 0);
    options.behaviour = &hand.behaviour;
    options.parent = top;
    CU_ASSERT_EQUAL(wait_for(&hand, &options, "top/one", 1, wait_limit_ms()), 0);
    CU_ASSERT_EQUAL(weir_runtime_wait_open(hand.runtime, top, wait_limit_ms()), 0);
    options.path = "top/four";
    options.min_ready = 4; /* more than there are: all */
    CU_ASSERT_EQUAL(weir_runtime_add_pool(hand.runtime, &options, &below), 0);
    CU_ASSERT_EQUAL(weir_runtime_wait_open(hand.runtime, top, wait_limit_ms()), WEIR_EUNSUPPORTED);
    hand_finish(&hand);
}

/* --- retries --------------------------------------------------------------------------------- */

static void test_retries_have_the_bounds_of_a_file(void)
{
    static const struct {
        uint32_t max;
        uint64_t backoff_min, backoff_max, for_ms;
        int status;
    } rows[] = {
        { 0, 0, 0, 0, 0 },
        { WEIR_RETRY_NONE, 0, 0, 0, 0 },
        { WEIR_UNLIMITED, 1000, 60000, 3600000, 0 },
        { 10000, 1, 3600000, 604800000, 0 },
        { 10001, 0, 0, 0, WEIR_EINVALID },
        { 1, 2000, 1000, 0, WEIR_EINVALID },
        { 1, 0, 1000, 0, WEIR_EINVALID },
        { 1, 1, 3600001, 0, WEIR_EINVALID },
        { 1, 0, 0, 1000, WEIR_EINVALID },
        { 1, 1, 1, 604800001, WEIR_EINVALID },
    };
    struct hand hand;

    hand_begin(&hand, 1);
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char path[16];
        struct weir_pool_options options;
        weir_pid pid;

        (void)snprintf(path, sizeof path, "pool%u", i);
        options = hand_pool_options(&hand, path);
        options.retry_max = rows[i].max;
        options.retry_backoff_ms_min = rows[i].backoff_min;
        options.retry_backoff_ms_max = rows[i].backoff_max;
        options.retry_for_ms = rows[i].for_ms;
        CU_ASSERT_EQUAL(weir_runtime_add_pool(hand.runtime, &options, &pid), rows[i].status);
    }
    hand_finish(&hand);
}

/* --- long callbacks --------------------------------------------------------------------------- */

static void test_callback_that_takes_long_gets_a_spare_thread_and_a_line(void)
{
    struct weir_runtime_options given = WEIR_RUNTIME_OPTIONS;
    struct weir_answer answer = WEIR_ANSWER;
    struct hand hand;
    weir_pid slow, other;

    given.turn_warning_ms = 100;
    hand_begin_with(&hand, &given, 1);
    slow = hand_pool(&hand, "slow", 1, 0);
    other = hand_pool(&hand, "other", 1, 0);
    CU_ASSERT_EQUAL(hand_send(&hand, slow, (struct hand_order){ .act = hand_wait }), 0);
    CU_ASSERT_TRUE(gate_await(&hand.gate, 1));
    CU_ASSERT_EQUAL(
        weir_runtime_ask(hand.runtime, other,
                         hand_message(&hand, (struct hand_order){ .act = hand_reply, .id = 1 }),
                         wait_limit_ms(), &answer),
        0);
    weir_runtime_message_free(hand.runtime, answer.message);
    gate_open(&hand.gate);
    hand_finish(&hand);
    CU_ASSERT_TRUE(atomic_load(&hand.lines) >= 1);
    given.turn_warning_ms = UINT64_MAX;
    CU_ASSERT_EQUAL(weir_runtime_create(&given, &hand.runtime), WEIR_EINVALID);
}

/* --- the log ---------------------------------------------------------------------------------- */

static int log_two_lines(struct weir_self *self, struct hand *hand,
                         const struct weir_message *message)
{
    (void)hand;
    (void)message;
    weir_log(self, WEIR_LOG_INFO, "two lines", weir_uint("line", 1));
    weir_log(self, WEIR_LOG_DEBUG, "two lines", weir_uint("line", 2));
    return WEIR_DONE;
}

/* Counts the lines of a pool, of an info and a debug line, that the program gets. */
static uint32_t lines_of(struct hand *hand, weir_pid pid)
{
    uint32_t before = atomic_load(&hand->lines);

    have(hand, pid, log_two_lines);
    return atomic_load(&hand->lines) - before;
}

static void test_program_gets_the_lines_that_it_asked_for(void)
{
    struct weir_runtime_options given = WEIR_RUNTIME_OPTIONS;
    struct weir_pool_options options;
    struct hand hand;
    weir_pid usual, quiet, top, below;

    hand_begin(&hand, 1);
    usual = hand_pool(&hand, "usual", 1, 0);
    CU_ASSERT_EQUAL(lines_of(&hand, usual), 1); /* as in a file: up to `info` */
    options = hand_pool_options(&hand, "quiet");
    options.log_level = WEIR_LOG_UP_TO(WEIR_LOG_WARNING);
    quiet = add(&hand, &options);
    CU_ASSERT_EQUAL(lines_of(&hand, quiet), 0);
    options = hand_pool_options(&hand, "top");
    options.behaviour = NULL;
    options.log_level = WEIR_LOG_UP_TO(WEIR_LOG_DEBUG);
    top = add(&hand, &options);
    options = hand_pool_options(&hand, "top/below");
    options.parent = top;
    below = add(&hand, &options);
    CU_ASSERT_EQUAL(lines_of(&hand, below), 2); /* as the pool above it */
    options.log_level = WEIR_LOG_UP_TO(WEIR_LOG_DEBUG) + 1;
    options.path = "top/wrong";
    CU_ASSERT_EQUAL(weir_runtime_add_pool(hand.runtime, &options, &below), WEIR_EINVALID);
    hand_finish(&hand);

    given.log_level = WEIR_LOG_UP_TO(WEIR_LOG_DEBUG);
    hand_begin_with(&hand, &given, 1);
    usual = hand_pool(&hand, "usual", 1, 0);
    CU_ASSERT_EQUAL(lines_of(&hand, usual), 2);
    hand_finish(&hand);
}

static void test_options_of_an_older_program_are_taken(void)
{
    struct weir_pool_options options;
    struct weir_resized resized;
    struct hand hand;
    weir_pid pid;

    hand_begin(&hand, 1);
    options = hand_pool_options(&hand, "pool");
    options.workers_max = 1;
    options.clamp = 1; /* beyond the size that the program states */
    options.size = offsetof(struct weir_pool_options, subscribe);
    pid = add(&hand, &options);
    CU_ASSERT_EQUAL(weir_runtime_resize(hand.runtime, pid, 2, &resized), WEIR_EINVALID);
    options.size--;
    CU_ASSERT_EQUAL(weir_runtime_add_pool(hand.runtime, &options, &pid), WEIR_EINVALID);
    hand_finish(&hand);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "clamp", test_size_beyond_the_bounds_is_an_error_or_the_nearest_bound },
        { "subscribe", test_pool_gets_the_events_that_its_options_name },
        { "wrong event", test_pool_with_an_event_that_cannot_be_named_is_refused },
        { "open timeout", test_opening_is_waited_for_as_long_as_the_pool_says },
        { "min ready", test_as_many_workers_must_open_as_the_pool_says },
        { "turn warning", test_callback_that_takes_long_gets_a_spare_thread_and_a_line },
        { "log level", test_program_gets_the_lines_that_it_asked_for },
        { "older", test_options_of_an_older_program_are_taken },
        { "retries", test_retries_have_the_bounds_of_a_file },
        CU_TEST_INFO_NULL,
    };

    return suite_run("settings", tests);
}
