/* SPDX-License-Identifier: MIT */
/*
 * Goal: a correct file becomes exactly the settings that it describes, defaults included.
 * Method: texts against fake behaviours; fields of the settings are compared.
 */
#include <stdlib.h>

#include "unit/config/reading.h"
#include "unit/host/suite.h"

static void test_smallest_file_has_all_defaults(void)
{
    struct settings *settings = reading_settings("pools: {a: {use: sink.null}}");
    const struct settings_pool *pool;

    CU_ASSERT_PTR_NOT_NULL_FATAL(settings);
    pool = &settings->pools[0];
    CU_ASSERT_EQUAL(settings->host.shutdown_timeout_ms, 30000);
    CU_ASSERT_EQUAL(settings->host.turn_warning_ms, 1000);
    CU_ASSERT_EQUAL(settings->host.dead_letters.count, 1000);
    CU_ASSERT_EQUAL(settings->host.dead_letters.bytes, 16 << 20);
    CU_ASSERT_EQUAL(settings->host.log.level, WEIR_LOG_INFO);
    CU_ASSERT_EQUAL(settings->host.memory, 0);
    CU_ASSERT_EQUAL_FATAL(settings->dispatcher_count, 1);
    CU_ASSERT_STRING_EQUAL(settings->dispatchers[0].name, "default");
    CU_ASSERT_EQUAL(settings->dispatchers[0].threads, READING_CPUS);
    CU_ASSERT(settings->dispatchers[0].threads_auto);
    CU_ASSERT_EQUAL(settings->dispatchers[0].policy.budget, 32);
    CU_ASSERT_EQUAL(pool->size, READING_CPUS);
    CU_ASSERT_EQUAL(pool->core.mailbox, 64);
    CU_ASSERT_EQUAL(pool->core.route, WEIR_ROUTE_ROUND_ROBIN);
    CU_ASSERT_EQUAL(pool->core.restart.max, 5);
    CU_ASSERT_EQUAL(pool->core.restart.within_ms, 10000);
    CU_ASSERT_EQUAL(pool->core.restart.backoff_ms_min, 100);
    CU_ASSERT_EQUAL(pool->core.restart.backoff_ms_max, 10000);
    CU_ASSERT_EQUAL(pool->core.restart.then, WEIR_RESTART_USUAL);
    CU_ASSERT_EQUAL(pool->core.remove.mode, WEIR_REMOVE_DRAIN);
    CU_ASSERT_EQUAL(pool->core.remove.timeout_ms, 30000);
    CU_ASSERT_EQUAL(pool->redeliver, 0);
    CU_ASSERT_EQUAL(pool->core.open_timeout_ms, 10000);
    CU_ASSERT_EQUAL(pool->min_ready, SETTINGS_POOL_SIZE_MAX);
    CU_ASSERT_EQUAL(pool->log_level, SETTINGS_LEVEL_HOST);
    CU_ASSERT_EQUAL(pool->size_now, SETTINGS_NONE);
    settings_destroy(settings);
}

static void test_given_values_are_taken(void)
{
    struct settings *settings = reading_settings(
        "host: {name: g, control: /c, shutdown_timeout: 1m, memory: 1GiB, watch: true,\n"
        "       dead_letters: {count: 7}, log: {level: debug, format: json}}\n"
        "dispatchers: {slow: {threads: 3, budget: 1}}\n"
        "pools:\n"
        "  a: {use: sink.null, size: {min: 2, max: 16}, mailbox: unlimited, route: hash,\n"
        "      dispatcher: slow, restart: {max: 1, backoff: 1s, then: escalate},\n"
        "      remove: {mode: discard}, redeliver: 2, mailbox_bytes: 1MiB,\n"
        "      min_ready: 3,\n"
        "      manager: count.words, subscribe: [x, y], fan_out: true, clamp: true,\n"
        "      log: {level: error}}\n");
    const struct settings_pool *pool;

    CU_ASSERT_PTR_NOT_NULL_FATAL(settings);
    pool = &settings->pools[0];
    CU_ASSERT_STRING_EQUAL(settings->host.name, "g");
    CU_ASSERT_EQUAL(settings->host.shutdown_timeout_ms, 60000);
    CU_ASSERT(settings->host.watch);
    CU_ASSERT_EQUAL(settings->host.dead_letters.count, 7);
    CU_ASSERT_EQUAL(settings->host.dead_letters.bytes, 16 << 20);
    CU_ASSERT_EQUAL(settings->host.log.level, WEIR_LOG_DEBUG);
    CU_ASSERT_EQUAL(settings->host.log.format, LOG_JSON);
    CU_ASSERT_STRING_EQUAL(settings->dispatchers[pool->use.dispatcher].name, "slow");
    CU_ASSERT_EQUAL(settings->dispatchers[pool->use.dispatcher].threads, 3);
    CU_ASSERT_EQUAL(pool->size, 2);
    CU_ASSERT_EQUAL(pool->core.size_max, 16);
    CU_ASSERT_EQUAL(pool->core.mailbox, 0);
    CU_ASSERT_EQUAL(pool->core.route, WEIR_ROUTE_HASH);
    CU_ASSERT_EQUAL(pool->core.restart.backoff_ms_min, 1000);
    CU_ASSERT_EQUAL(pool->core.restart.backoff_ms_max, 1000);
    CU_ASSERT_EQUAL(pool->core.restart.then, WEIR_RESTART_ESCALATE);
    CU_ASSERT_EQUAL(pool->core.remove.mode, WEIR_REMOVE_DISCARD);
    CU_ASSERT_EQUAL(pool->core.mailbox_bytes, 1 << 20);
    CU_ASSERT_EQUAL(pool->min_ready, 3);
    CU_ASSERT_STRING_EQUAL(pool->manager.use, "count.words");
    CU_ASSERT_EQUAL(pool->subscribe.count, 2);
    CU_ASSERT(pool->fan_out);
    CU_ASSERT(pool->core.clamp);
    CU_ASSERT_EQUAL(pool->log_level, WEIR_LOG_ERROR);
    settings_destroy(settings);
}

static void test_nested_pools_come_after_their_parent_in_order_of_the_file(void)
{
    static const char *const paths[] = {
        "z", "images", "images/small", "images/small/a", "images/large", "b"
    };
    struct settings *settings = reading_settings(
        "pools:\n"
        "  z: {use: sink.null}\n"
        "  images:\n"
        "    members:\n"
        "      small: {members: {a: {use: sink.null}}, restart: {within: 1m, then: stop}}\n"
        "      large: {use: sink.null}\n"
        "  b: {use: sink.null, size: 1}\n");

    CU_ASSERT_PTR_NOT_NULL_FATAL(settings);
    CU_ASSERT_EQUAL_FATAL(settings->pool_count, 6);
    for (uint32_t i = 0; i < 6; i++) {
        CU_ASSERT_STRING_EQUAL(settings->pools[i].path, paths[i]);
        CU_ASSERT_EQUAL(settings_find_pool(settings, paths[i]), i);
    }
    CU_ASSERT_EQUAL(settings->pools[0].parent, SETTINGS_NONE);
    CU_ASSERT_EQUAL(settings->pools[3].parent, 2);
    CU_ASSERT_EQUAL(settings->pools[4].parent, 1);
    CU_ASSERT_EQUAL(settings->pools[3].depth, 2);
    CU_ASSERT(settings->pools[1].nested);
    CU_ASSERT_EQUAL(settings->pools[1].member_count, 2);
    CU_ASSERT_STRING_EQUAL(settings->pools[3].name, "a");
    CU_ASSERT_EQUAL(settings->pools[1].core.restart.max, 5);
    CU_ASSERT_EQUAL(settings->pools[1].core.restart.then, WEIR_RESTART_ESCALATE);
    CU_ASSERT_EQUAL(settings->pools[2].core.restart.within_ms, 60000);
    CU_ASSERT_EQUAL(settings->pools[2].core.restart.then, WEIR_RESTART_STOP);
    CU_ASSERT_EQUAL(settings->pools[3].core.restart.then, WEIR_RESTART_USUAL);
    CU_ASSERT_EQUAL(settings_worker_count(settings), 3 * READING_CPUS + 1);
    settings_destroy(settings);
}

static void test_template_is_written_out_and_its_copies_share_the_options(void)
{
    struct settings *settings = reading_settings(
        "pools:\n"
        "  shards: {size: 3, pool: {use: thumb.scale, size: 2, args: {label: x}}}\n");

    CU_ASSERT_PTR_NOT_NULL_FATAL(settings);
    CU_ASSERT_EQUAL_FATAL(settings->pool_count, 4);
    CU_ASSERT_STRING_EQUAL(settings->pools[1].path, "shards/0");
    CU_ASSERT_STRING_EQUAL(settings->pools[3].path, "shards/2");
    CU_ASSERT(!settings->pools[1].copy);
    CU_ASSERT(settings->pools[3].copy);
    CU_ASSERT_PTR_EQUAL(settings->pools[1].use.options, settings->pools[3].use.options);
    CU_ASSERT_EQUAL(settings->pools[3].parent, 0);
    CU_ASSERT_EQUAL(settings->pools[3].depth, 1);
    CU_ASSERT_EQUAL(settings_worker_count(settings), 6);
    settings_destroy(settings);
}

static void test_outputs_stand_in_the_order_of_the_behaviour(void)
{
    struct settings *settings = reading_settings(
        "pools:\n"
        "  verify: {use: integrity.md5, outputs: {missing: {to: b, when_full: reject},\n"
        "           changed: a/x}}\n"
        "  a: {members: {x: {use: sink.null}}}\n"
        "  b: {use: sink.null}\n");
    const struct settings_pool *pool;

    CU_ASSERT_PTR_NOT_NULL_FATAL(settings);
    pool = &settings->pools[0];
    CU_ASSERT_EQUAL_FATAL(pool->output_count, 4);
    CU_ASSERT_STRING_EQUAL(pool->outputs[0].name, "ok");
    CU_ASSERT_EQUAL(pool->outputs[0].pool, SETTINGS_NONE);
    CU_ASSERT_EQUAL(pool->outputs[1].pool, settings_find_pool(settings, "a/x"));
    CU_ASSERT_EQUAL(pool->outputs[1].when_full, WEIR_FULL_WAIT);
    CU_ASSERT_EQUAL(pool->outputs[2].pool, settings_find_pool(settings, "b"));
    CU_ASSERT_EQUAL(pool->outputs[2].when_full, WEIR_FULL_REJECT);
    settings_destroy(settings);
}

static void test_blocking_behaviour_gets_a_dispatcher_of_its_own(void)
{
    struct settings *settings = reading_settings(
        "sources: {lines: {use: files.lines, args: {paths: [p]}, to: a}}\n"
        "pools: {a: {use: sink.null}, v: {use: integrity.md5, outputs: {changed: a}}}\n");
    struct settings *declared = reading_settings(
        "dispatchers: {blocking: {threads: 3}}\n"
        "pools: {a: {use: sink.null}, v: {use: integrity.md5, outputs: {changed: a}}}\n");
    uint32_t blocking;

    CU_ASSERT_PTR_NOT_NULL_FATAL(settings);
    CU_ASSERT_PTR_NOT_NULL_FATAL(declared);
    blocking = settings_find_dispatcher(settings, "blocking");
    CU_ASSERT_EQUAL(settings->dispatcher_count, 2);
    CU_ASSERT_EQUAL(settings->dispatchers[blocking].threads, 16);
    CU_ASSERT_EQUAL(settings->sources[0].use.dispatcher, blocking);
    CU_ASSERT_EQUAL(settings->pools[1].use.dispatcher, blocking);
    CU_ASSERT_NOT_EQUAL(settings->pools[0].use.dispatcher, blocking);
    blocking = settings_find_dispatcher(declared, "blocking");
    CU_ASSERT_EQUAL(declared->dispatchers[blocking].threads, 3);
    CU_ASSERT_EQUAL(declared->pools[1].use.dispatcher, blocking);
    settings_destroy(settings);
    settings_destroy(declared);
}

/* Also at run time: the bounds of the size are those of `weir scale`. */
static void test_behaviour_that_is_alone_has_one_worker_at_most(void)
{
    struct settings *settings = reading_settings("pools: {total: {use: count.total}}");

    CU_ASSERT_PTR_NOT_NULL_FATAL(settings);
    CU_ASSERT_EQUAL(settings->pools[0].size, 1);
    CU_ASSERT_EQUAL(settings->pools[0].core.size_min, 0);
    CU_ASSERT_EQUAL(settings->pools[0].core.size_max, 1);
    settings_destroy(settings);
}

static void test_pool_with_leases_routes_by_pull(void)
{
    struct settings *settings = reading_settings(
        "pools: {a: {use: sink.null, lease: {timeout: 2m, queue: 7}}, b: {use: sink.null}}");

    CU_ASSERT_PTR_NOT_NULL_FATAL(settings);
    CU_ASSERT_TRUE(settings->pools[0].core.lease.on);
    CU_ASSERT_EQUAL(settings->pools[0].core.lease.timeout_ms, 120000);
    CU_ASSERT_EQUAL(settings->pools[0].core.lease.queue, 7);
    CU_ASSERT_EQUAL(settings->pools[0].core.route, WEIR_ROUTE_PULL);
    CU_ASSERT_FALSE(settings->pools[1].core.lease.on);
    CU_ASSERT_EQUAL(settings->pools[1].core.route, WEIR_ROUTE_ROUND_ROBIN);
    settings_destroy(settings);
}

static void test_source_leads_to_its_pool(void)
{
    struct settings *settings = reading_settings(
        "sources: {lines: {use: files.lines, args: {paths: [p, q]}, to: b/x,\n"
        "                  when_full: dead_letter}}\n"
        "pools: {a: {use: sink.null}, b: {members: {x: {use: sink.null}}}}\n");

    CU_ASSERT_PTR_NOT_NULL_FATAL(settings);
    CU_ASSERT_EQUAL(settings_find_source(settings, "lines"), 0);
    CU_ASSERT_EQUAL(settings_find_source(settings, "b"), SETTINGS_NONE);
    CU_ASSERT_EQUAL(settings->sources[0].to, settings_find_pool(settings, "b/x"));
    CU_ASSERT_EQUAL(settings->sources[0].when_full, WEIR_FULL_DEAD_LETTER);
    CU_ASSERT_STRING_EQUAL(settings->sources[0].use.entry->plugin, "files");
    settings_destroy(settings);
}

static void test_broken_file_gives_no_settings(void)
{
    struct settings *settings = NULL;
    struct report report;

    report_init(&report);
    CU_ASSERT_EQUAL(
        reading_check("pools: {a: {use: nobody.here}}", &fake_catalogue, &report, &settings),
        WEIR_EINVALID);
    CU_ASSERT_PTR_NULL(settings);
    CU_ASSERT_EQUAL(report_count(&report), 1);
    report_finish(&report);
    settings_destroy(NULL);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "defaults", test_smallest_file_has_all_defaults },
        { "given", test_given_values_are_taken },
        { "nested", test_nested_pools_come_after_their_parent_in_order_of_the_file },
        { "template", test_template_is_written_out_and_its_copies_share_the_options },
        { "outputs", test_outputs_stand_in_the_order_of_the_behaviour },
        { "leases", test_pool_with_leases_routes_by_pull },
        { "alone", test_behaviour_that_is_alone_has_one_worker_at_most },
        { "blocking", test_blocking_behaviour_gets_a_dispatcher_of_its_own },
        { "source", test_source_leads_to_its_pool },
        { "broken", test_broken_file_gives_no_settings },
        CU_TEST_INFO_NULL,
    };

    return suite_run("settings", tests);
}
