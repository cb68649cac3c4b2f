/* SPDX-License-Identifier: MIT */
/*
 * Goal: an option of libweir that a program leaves at 0 has the default of the key in a file.
 *
 * Method: the defaults are read from the tables of the language; the limit is also counted, at a
 * worker at a gate.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool_settings.h"
#include "base/text.h"
#include "config/language.h"
#include "dispatch/layout.h"
#include "embed/usual.h"
#include "face/figures.h"
#include "unit/embed/hand.h"
#include "unit/host/suite.h"

static const char *fallback(const struct language_row *rows, const char *name)
{
    const struct language_row *row = language_find(rows, name);

    CU_ASSERT_PTR_NOT_NULL_FATAL(row);
    return row->option.fallback;
}

/* promise E4 */
static void test_limit_left_alone_is_that_of_a_file(void)
{
    const uint32_t limit = (uint32_t)strtoul(fallback(language_pool, "mailbox"), NULL, 10);
    struct weir_pool_options options;
    struct hand hand;
    weir_pid pid;

    hand_begin(&hand, 1);
    options = hand_pool_options(&hand, "pool");
    CU_ASSERT_EQUAL(weir_runtime_add_pool(hand.runtime, &options, &pid), 0);
    CU_ASSERT_EQUAL(weir_runtime_wait_open(hand.runtime, pid, wait_limit_ms()), 0);
    CU_ASSERT_EQUAL(hand_send(&hand, pid, (struct hand_order){ .act = hand_wait }), 0);
    CU_ASSERT_TRUE(gate_await(&hand.gate, 1));
    for (uint32_t i = 0; i < limit; i++)
        CU_ASSERT_EQUAL(hand_send(&hand, pid, (struct hand_order){ .id = i }), 0);
    CU_ASSERT_EQUAL(hand_send(&hand, pid, (struct hand_order){ .id = limit }), WEIR_EFULL);
    gate_open(&hand.gate);
    hand_finish(&hand);
}

/* promise E4 */
static void test_defaults_are_those_of_the_tables(void)
{
    const struct language_row *removal = language_find(language_pool, "remove")->rows;
    const struct language_row *scale = language_find(language_pool, "scale")->rows;
    const struct language_row *lease = language_find(language_pool, "lease")->rows;
    const struct language_row *log = language_find(language_host, "log")->rows;
    const struct weir_pool_options pool = WEIR_POOL_OPTIONS;
    uint64_t timeout_ms = 0;

    CU_ASSERT_EQUAL(usual_limit(0), strtoul(fallback(language_pool, "mailbox"), NULL, 10));
    CU_ASSERT_EQUAL(text_parse_duration(fallback(removal, "timeout"), &timeout_ms), TEXT_OK);
    CU_ASSERT_EQUAL(usual_remove_timeout_ms(0), timeout_ms);
    CU_ASSERT_EQUAL(text_parse_duration(fallback(language_pool, "open_timeout"), &timeout_ms),
                    TEXT_OK);
    CU_ASSERT_EQUAL(USUAL_OPEN_TIMEOUT_MS, timeout_ms);
    CU_ASSERT_EQUAL(text_parse_duration(fallback(scale, "wait"), &timeout_ms), TEXT_OK);
    CU_ASSERT_EQUAL(USUAL_SCALE_WAIT_MS, timeout_ms);
    CU_ASSERT_EQUAL(text_parse_duration(fallback(scale, "idle"), &timeout_ms), TEXT_OK);
    CU_ASSERT_EQUAL(USUAL_SCALE_IDLE_MS, timeout_ms);
    CU_ASSERT_EQUAL(text_parse_duration(fallback(lease, "timeout"), &timeout_ms), TEXT_OK);
    CU_ASSERT_EQUAL(usual_lease_timeout_ms(0), timeout_ms);
    CU_ASSERT_EQUAL(strtoul(fallback(lease, "queue"), NULL, 10), pool.lease_queue);
    CU_ASSERT_EQUAL(text_parse_duration(
                        fallback(language_find(language_output, "rate")->rows, "per"), &timeout_ms),
                    TEXT_OK);
    CU_ASSERT_EQUAL(USUAL_RATE_PER_MS, timeout_ms);
    CU_ASSERT_STRING_EQUAL(fallback(log, "level"), "info");
    CU_ASSERT_EQUAL(USUAL_LOG_LEVEL, WEIR_LOG_INFO);
    CU_ASSERT_EQUAL(strtoul(fallback(language_pool, "min_ready"), NULL, 10),
                    language_find(language_pool, "size")->option.max); /* all */
    CU_ASSERT_EQUAL(usual_min_ready(0), UINT32_MAX);
    CU_ASSERT_EQUAL(usual_min_ready(WEIR_MIN_READY_NONE), 0);
    CU_ASSERT_EQUAL(usual_min_ready(3), 3);
    CU_ASSERT_EQUAL(usual_limit(WEIR_UNLIMITED), 0);
    CU_ASSERT_EQUAL(usual_limit(5), 5);
    CU_ASSERT_EQUAL(usual_remove_timeout_ms(WEIR_FOR_EVER), 0);
}

static uint64_t milliseconds(const char *text)
{
    uint64_t ms = 0;

    CU_ASSERT_EQUAL(text_parse_duration(text, &ms), TEXT_OK);
    return ms;
}

static void expect_restart(uint32_t scope, const char *word, const struct restart *usual)
{
    const struct language_row *restart = language_find_in(language_pool, scope, "restart")->rows;
    char backoff[32];
    char *dots;

    CU_ASSERT_EQUAL(usual->max, strtoul(fallback(restart, "max"), NULL, 10));
    CU_ASSERT_EQUAL(usual->within_ms, milliseconds(fallback(restart, "within")));
    (void)snprintf(backoff, sizeof backoff, "%s", fallback(restart, "backoff"));
    dots = strstr(backoff, "..");
    CU_ASSERT_PTR_NOT_NULL_FATAL(dots);
    *dots = '\0';
    CU_ASSERT_EQUAL(usual->backoff_ms_min, milliseconds(backoff));
    CU_ASSERT_EQUAL(usual->backoff_ms_max, milliseconds(dots + 2));
    CU_ASSERT_STRING_EQUAL(fallback(restart, "then"), word);
}

/* promise E4 */
static void test_restarts_are_those_of_the_tables(void)
{
    const struct restart of_workers = restart_usual(WEIR_RESTART_KEEP_TRYING);
    const struct restart of_pools = restart_usual(WEIR_RESTART_ESCALATE);

    expect_restart(LANGUAGE_OF_WORKERS, "keep_trying", &of_workers);
    expect_restart(LANGUAGE_OF_POOLS, "escalate", &of_pools);
}

/* promise E4 */
static void test_retries_are_those_of_the_tables(void)
{
    const struct language_row *retry = language_find(language_pool, "retry")->rows;
    const struct retry usual = retry_usual();

    CU_ASSERT_EQUAL(usual.max, strtoul(fallback(retry, "max"), NULL, 10));
    CU_ASSERT_EQUAL(usual_retry_max(0), usual.max);
    CU_ASSERT_EQUAL(usual_retry_max(WEIR_RETRY_NONE), 0);
    CU_ASSERT_EQUAL(usual_retry_max(WEIR_UNLIMITED), RETRY_UNLIMITED);
    CU_ASSERT_EQUAL(usual.for_ms, milliseconds(fallback(retry, "for")));
    CU_ASSERT_PTR_NULL(fallback(retry, "backoff"));
    CU_ASSERT_EQUAL(usual.backoff_ms_max, 0);
}

/* promise E4 */
static void test_bounds_are_those_of_the_tables(void)
{
    const struct language_row *dead = language_find(language_host, "dead_letters")->rows;
    uint64_t bytes = 0;

    CU_ASSERT_EQUAL(DISPATCHER_BUDGET, strtoul(fallback(language_dispatcher, "budget"), NULL, 10));
    CU_ASSERT_EQUAL(DEAD_LETTERS_MAX, strtoul(fallback(dead, "count"), NULL, 10));
    CU_ASSERT_EQUAL(text_parse_size(fallback(dead, "bytes"), &bytes), TEXT_OK);
    CU_ASSERT_EQUAL(DEAD_LETTERS_BYTES_MAX, bytes);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "limit", test_limit_left_alone_is_that_of_a_file },
        { "tables", test_defaults_are_those_of_the_tables },
        { "restarts", test_restarts_are_those_of_the_tables },
        { "retries", test_retries_are_those_of_the_tables },
        { "bounds", test_bounds_are_those_of_the_tables },
        CU_TEST_INFO_NULL,
    };

    return suite_run("usual", tests);
}
