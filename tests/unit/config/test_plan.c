/* SPDX-License-Identifier: MIT */
/*
 * Goal: the plan names every change of meaning and no other (promise R4), marks live changes, and
 * hides secrets.
 * Method: pairs of texts; the printed plan is compared whole, single steps field by field.
 */
#include <stdlib.h>

#include "config/plan.h"
#include "unit/config/reading.h"
#include "unit/host/suite.h"

/* Two configurations and the way from one to the other. */
struct change {
    struct settings *older;
    struct settings *newer;
    struct plan *plan;
};

static struct settings *settings_of(const char *text, const struct catalogue *catalogue)
{
    struct settings *settings = NULL;

    CU_ASSERT_EQUAL_FATAL(reading_check(text, catalogue, NULL, &settings), WEIR_OK);
    return settings;
}

static struct change change_of(const char *older, const char *newer)
{
    struct change change = { older ? settings_of(older, &fake_catalogue) : NULL,
                             settings_of(newer, &fake_catalogue), NULL };

    CU_ASSERT_EQUAL_FATAL(plan_create(change.older, change.newer, &change.plan), WEIR_OK);
    return change;
}

static void change_finish(struct change *change)
{
    plan_destroy(change->plan);
    settings_destroy(change->older);
    settings_destroy(change->newer);
}

static void expect_printed(const struct plan *plan, bool colour, const char *expected)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);

    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    plan_print(plan, stream, colour);
    (void)fclose(stream);
    if (strcmp(text, expected) != 0)
        (void)fprintf(stderr, "expected:\n%sfound:\n%s", expected, text);
    CU_ASSERT_STRING_EQUAL(text, expected);
    free(text);
}

static void expect_change(const char *older, const char *newer, const char *expected)
{
    struct change change = change_of(older, newer);

    expect_printed(change.plan, false, expected);
    change_finish(&change);
}

/* --- no change -------------------------------------------------------------------------------- */

static void test_other_writing_is_no_change(void)
{
    expect_change("x-a: &a {mailbox: 8}\n"
                  "pools:\n"
                  "  a: {use: thumb.scale, size: 4, args: {cache: 64KiB}}\n"
                  "  b: {use: sink.null, <<: *a}\n"
                  "sources:\n"
                  "  l: {use: files.lines, args: {paths: [p]}, to: a}\n",
                  "# the other way round\n"
                  "version: 1\n"
                  "sources: {l: {to: a, args: {paths: ['p']}, use: files.lines}}\n"
                  "pools:\n"
                  "  b: {mailbox: '8', use: \"sink.null\"}\n"
                  "  a:\n"
                  "    args: {cache: 65536, quality: 0.80}\n"
                  "    use: thumb.scale\n",
                  "nothing to do\n");
}

static void test_explicit_default_is_no_change(void)
{
    expect_change("pools: {a: {use: sink.null}}",
                  "host: {log: {level: info}}\n"
                  "dispatchers: {default: {threads: auto}}\n"
                  "pools: {a: {use: sink.null, size: 4, mailbox: 64, restart: {max: 5}}}",
                  "nothing to do\n");
}

/* --- pools ------------------------------------------------------------------------------------ */

static void test_everything_is_new_at_the_start(void)
{
    expect_change(NULL,
                  "sources: {l: {use: files.lines, args: {paths: [p]}, to: a}}\n"
                  "pools: {a: {use: sink.null, size: 2}, g: {members: {m: {use: sink.null}}}}\n",
                  "+ dispatchers.default: auto (4) threads\n"
                  "+ dispatchers.blocking: 16 threads\n"
                  "+ pools.a: sink.null, size 2\n"
                  "+ pools.g: pool of 1 pool\n"
                  "+ pools.g/m: sink.null, size 4\n"
                  "+ sources.l: files.lines\n");
}

static void test_changed_restart_of_a_pool_of_pools_is_one_step(void)
{
    expect_change("pools: {g: {members: {m: {use: sink.null}}}}",
                  "pools: {g: {members: {m: {use: sink.null}}, restart: {max: 2, then: stop}}}",
                  "~ pools.g.restart.max: 5 -> 2\n"
                  "~ pools.g.restart.then: escalate -> stop\n");
}

static void test_changed_fields_of_a_pool_are_one_step_each(void)
{
    expect_change(
        "pools:\n"
        "  a: {use: count.words, size: 2, outputs: {next: b}}\n"
        "  b: {use: sink.null}\n",
        "pools:\n"
        "  a: {use: count.words, size: 8, mailbox: 32, route: random, redeliver: 1,\n"
        "      open_timeout: 1s, restart: {max: 6, backoff: 1s..2s}, remove: {timeout: 5s},\n"
        "      outputs: {next: {to: b, when_full: reject}}, subscribe: [x], manager: sink.null,\n"
        "      log: {level: debug}}\n"
        "  b: {use: sink.null}\n",
        "~ pools.a.size: 2 -> 8\n"
        "~ pools.a.mailbox: 64 -> 32\n"
        "~ pools.a.route: round_robin -> random\n"
        "~ pools.a.restart.max: 5 -> 6\n"
        "~ pools.a.restart.backoff: 100ms..10s -> 1s..2s\n"
        "~ pools.a.remove.timeout: 30s -> 5s\n"
        "~ pools.a.redeliver: 0 -> 1\n"
        "~ pools.a.open_timeout: 10s -> 1s\n"
        "~ pools.a.subscribe: [] -> [x]\n"
        "~ pools.a.log.level: host -> debug\n"
        "~ pools.a.outputs.next: b (wait) -> b (reject)\n"
        "~ pools.a.manager: (none) -> sink.null\n");
}

/* The plan shows a rate with the target; both forms of the same rate are the same. */
static void test_changed_rate_is_a_step_of_its_output(void)
{
    expect_change("pools: {a: {use: count.words, outputs: {next: b}}, b: {use: sink.null}}",
                  "pools: {a: {use: count.words, outputs: {next: {to: b, rate: 100/s}}},\n"
                  "        b: {use: sink.null}}",
                  "~ pools.a.outputs.next: b (wait) -> b (wait, 100/s)\n");
    expect_change("pools: {a: {use: count.words, outputs: {next: {to: b, rate: 100/s}}},\n"
                  "        b: {use: sink.null}}",
                  "pools: {a: {use: count.words, outputs: {next: {to: b, rate: {messages: 100,\n"
                  "        per: 1s, burst: 10}}}}, b: {use: sink.null}}",
                  "nothing to do\n");
    expect_change("pools: {a: {use: count.words, outputs: {next: {to: b, rate: 5/250ms}}},\n"
                  "        b: {use: sink.null}}",
                  "pools: {a: {use: count.words, outputs: {next: {to: b, rate: {messages: 5,\n"
                  "        per: 1d, burst: 3}}}}, b: {use: sink.null}}",
                  "~ pools.a.outputs.next: b (wait, 5/250ms) -> b (wait, 5/d, burst 3)\n");
    expect_change("sources: {s: {use: files.lines, args: {paths: [a]}, to: b}}\n"
                  "pools: {b: {use: sink.null}}",
                  "sources: {s: {use: files.lines, args: {paths: [a]}, to: b, rate: 9/m}}\n"
                  "pools: {b: {use: sink.null}}",
                  "~ sources.s.to: b (wait) -> b (wait, 9/m)\n");
}

static void test_manager_and_its_args_are_steps(void)
{
    expect_change("pools: {a: {use: sink.null, manager: thumb.scale}}",
                  "pools: {a: {use: sink.null, manager: thumb.scale, manager_args: {threads: 2}}}",
                  "~ pools.a.manager_args.threads: 1 -> 2\n");
    expect_change("pools: {a: {use: sink.null, manager: thumb.scale}}",
                  "pools: {a: {use: sink.null}}", "~ pools.a.manager: thumb.scale -> (none)\n");
}

static void test_pools_come_and_go(void)
{
    expect_change("pools: {a: {use: sink.null, size: 1}, g: {members: {m: {use: sink.null}}}}",
                  "pools: {g: {members: {n: {use: sink.null, size: 3}}}}",
                  "+ pools.g/n: sink.null, size 3\n"
                  "- pools.a: sink.null, size 1\n"
                  "- pools.g/m: sink.null, size 4\n");
}

static void test_copies_come_and_go(void)
{
    expect_change("pools: {s: {size: 2, pool: {use: sink.null, size: 1}}}",
                  "pools: {s: {size: 3, pool: {use: sink.null, size: 1}}}",
                  "+ pools.s/2: sink.null, size 1\n");
}

static void test_pool_that_becomes_nested_is_replaced(void)
{
    expect_change("pools: {a: {use: sink.null, size: 1}}",
                  "pools: {a: {members: {m: {use: sink.null, size: 1}}}}",
                  "~ pools.a: sink.null, size 1 -> pool of 1 pool  (new workers beside the old)\n"
                  "+ pools.a/m: sink.null, size 1\n");
}

/* promise R18 */
static void test_change_of_leases_is_one_step(void)
{
    expect_change("pools: {a: {use: sink.null, lease: {queue: 4}}}",
                  "pools: {a: {use: sink.null, lease: {queue: 5}}}",
                  "~ pools.a.lease: timeout 30s, queue 4 -> timeout 30s, queue 5\n");
    expect_change("pools: {a: {use: sink.null, route: pull}}",
                  "pools: {a: {use: sink.null, lease: {}}}",
                  "~ pools.a.lease: off -> timeout 30s, queue 50  (new workers beside the old)\n");
    expect_change("pools: {a: {use: sink.null, lease: {}}}", "pools: {a: {use: sink.null}}",
                  "~ pools.a.lease: timeout 30s, queue 50 -> off  (new workers beside the old)\n"
                  "~ pools.a.route: pull -> round_robin\n");
}

static void test_other_behaviour_or_dispatcher_replaces_the_workers(void)
{
    expect_change("dispatchers: {slow: {}}\n"
                  "pools: {a: {use: sink.null}, b: {use: sink.null}}",
                  "dispatchers: {slow: {}}\n"
                  "pools: {a: {use: count.words}, b: {use: sink.null, dispatcher: slow}}",
                  "~ pools.a.use: sink.null 1.0.0 -> count.words 1.0.0  (new workers beside the "
                  "old)\n"
                  "~ pools.b.dispatcher: default -> slow  (new workers beside the old)\n");
}

static void test_other_content_of_a_plugin_replaces_the_workers(void)
{
    static const char text[] = "pools: {a: {use: sink.null}}";
    struct settings *older = settings_of(text, &fake_catalogue);
    struct settings *newer = settings_of(text, &fake_catalogue_newer);
    struct plan *plan = NULL;

    CU_ASSERT_EQUAL_FATAL(plan_create(older, newer, &plan), WEIR_OK);
    expect_printed(plan, false,
                   "~ pools.a.use: sink.null 1.0.0 -> sink.null 2.0.0  (new workers beside the "
                   "old)\n");
    CU_ASSERT_EQUAL(plan->steps[0].kind, PLAN_POOL_REPLACED);
    plan_destroy(plan);
    settings_destroy(older);
    settings_destroy(newer);
}

static void test_live_option_of_other_content_is_not_live(void)
{
    struct settings *older = settings_of("pools: {a: {use: thumb.scale}}", &fake_catalogue);
    struct settings *newer = settings_of("pools: {a: {use: thumb.scale, args: {quality: 0.5}}}",
                                         &fake_catalogue_newer);
    struct plan *plan = NULL;

    CU_ASSERT_EQUAL_FATAL(plan_create(older, newer, &plan), WEIR_OK);
    CU_ASSERT_EQUAL_FATAL(plan->count, 2);
    CU_ASSERT_EQUAL(plan->steps[1].kind, PLAN_POOL_ARGS);
    CU_ASSERT(!plan->steps[1].live);
    plan_destroy(plan);
    settings_destroy(older);
    settings_destroy(newer);
}

/* --- args ------------------------------------------------------------------------------------- */

static void test_args_are_live_only_when_all_of_them_are(void)
{
    static const char plain[] = "pools: {a: {use: thumb.scale}}";

    expect_change(plain, "pools: {a: {use: thumb.scale, args: {quality: 0.5}}}",
                  "~ pools.a.args.quality: 0.8 -> 0.5\n");
    expect_change(plain, "pools: {a: {use: thumb.scale, args: {quality: 0.5, keep: false}}}",
                  "~ pools.a.args.keep: true -> false  (new workers beside the old)\n"
                  "~ pools.a.args.quality: 0.8 -> 0.5  (new workers beside the "
                  "old)\n");
}

static void test_secret_args_are_not_shown(void)
{
    expect_change("pools: {a: {use: thumb.scale, args: {token: hush}}}",
                  "pools: {a: {use: thumb.scale, args: {token: other}}}",
                  "~ pools.a.args.token: (secret) -> (secret)\n");
}

/* --- sizes at run time ------------------------------------------------------------------------ */

static void expect_size_step(const char *older, uint32_t now, const char *newer,
                             const char *expected)
{
    struct change change = { settings_of(older, &fake_catalogue),
                             settings_of(newer, &fake_catalogue), NULL };

    change.older->pools[0].size_now = now;
    CU_ASSERT_EQUAL_FATAL(plan_create(change.older, change.newer, &change.plan), WEIR_OK);
    expect_printed(change.plan, false, expected);
    change_finish(&change);
}

static void test_fixed_size_wins_over_what_runs(void)
{
    static const char two[] = "pools: {a: {use: sink.null, size: 2}}";
    static const char range[] = "pools: {a: {use: sink.null, size: {min: 2, max: 8}}}";
    static const char wide[] = "pools: {a: {use: sink.null, size: {min: 2, max: 9}}}";
    static const char high[] = "pools: {a: {use: sink.null, size: {min: 6, max: 8}}}";

    expect_size_step(two, 5, two, "~ pools.a.size: 2 (now 5) -> 2\n");
    expect_size_step(two, 2, two, "nothing to do\n");
    expect_size_step(range, 5, range, "nothing to do\n");
    expect_size_step(range, 5, wide, "~ pools.a.size: 2..8 (now 5) -> 2..9\n");
    expect_size_step(range, 5, two, "~ pools.a.size: 2..8 (now 5) -> 2\n");
    expect_size_step(range, 5, high, "~ pools.a.size: 2..8 (now 5) -> 6..8\n");
}

/* --- the rest --------------------------------------------------------------------------------- */

static void test_host_dispatchers_and_sources_change(void)
{
    expect_change("host: {name: a, log: {level: info}}\n"
                  "dispatchers: {one: {threads: 1}, two: {threads: 2}}\n"
                  "sources: {l: {use: files.lines, args: {paths: [p]}, to: a, dispatcher: one},\n"
                  "          m: {use: files.lines, args: {paths: [p]}, to: a, dispatcher: one}}\n"
                  "pools: {a: {use: sink.null}, b: {use: sink.null}}\n",
                  "host: {name: b, log: {level: debug}}\n"
                  "dispatchers: {one: {threads: 3, budget: 2}, three: {}}\n"
                  "sources: {l: {use: files.lines, args: {paths: [p, q]}, to: b,\n"
                  "              dispatcher: one}}\n"
                  "pools: {a: {use: sink.null}, b: {use: sink.null}}\n",
                  "~ host.name: a -> b\n"
                  "~ host.log.level: info -> debug\n"
                  "~ dispatchers.one.threads: 1 -> 3\n"
                  "~ dispatchers.one.budget: 32 -> 2\n"
                  "+ dispatchers.three: auto (4) threads\n"
                  "- dispatchers.two: 2 threads\n"
                  "~ sources.l.args.paths: [p] -> [p, q]  (a new source takes over)\n"
                  "~ sources.l.to: a (wait) -> b (wait)\n"
                  "- sources.m: files.lines\n");
}

static void test_resize_of_workers_with_keys_says_what_moves(void)
{
    struct change change = change_of("pools: {a: {use: count.sums, route: hash, size: 2}}",
                                     "pools: {a: {use: count.sums, route: hash, size: 3}}");

    CU_ASSERT_EQUAL_FATAL(change.plan->count, 1);
    CU_ASSERT_STRING_EQUAL(change.plan->steps[0].old_text, "2");
    CU_ASSERT_STRING_EQUAL(change.plan->steps[0].new_text,
                           "3 (some keys move, without the state of the workers)");
    change_finish(&change);
}

static void test_step_says_where_it_stands_in_both_settings(void)
{
    struct change change = change_of("pools: {z: {use: sink.null}, a: {use: sink.null, size: 2}}",
                                     "pools: {a: {use: sink.null, size: 3}, n: {use: sink.null}}");
    const struct plan_step *steps = change.plan->steps;

    CU_ASSERT_EQUAL_FATAL(change.plan->count, 3);
    CU_ASSERT_EQUAL(steps[0].kind, PLAN_POOL_SIZE);
    CU_ASSERT_STRING_EQUAL(steps[0].path, "pools.a");
    CU_ASSERT_STRING_EQUAL(steps[0].field, "size");
    CU_ASSERT(steps[0].live);
    CU_ASSERT_EQUAL(steps[0].old_index, 1);
    CU_ASSERT_EQUAL(steps[0].new_index, 0);
    CU_ASSERT_EQUAL(steps[1].kind, PLAN_POOL_ADDED);
    CU_ASSERT_EQUAL(steps[1].old_index, SETTINGS_NONE);
    CU_ASSERT_EQUAL(steps[1].new_index, 1);
    CU_ASSERT_EQUAL(steps[2].kind, PLAN_POOL_REMOVED);
    CU_ASSERT_EQUAL(steps[2].old_index, 0);
    CU_ASSERT_EQUAL(steps[2].new_index, SETTINGS_NONE);
    CU_ASSERT_STRING_EQUAL(plan_kind_name(PLAN_POOL_SIZE), "pool size");
    change_finish(&change);
    plan_destroy(NULL);
}

/* The effects of the only task of a change. */
static uint32_t effects_of(const char *older, const char *newer, enum plan_part part)
{
    struct change change = change_of(older, newer);
    struct plan_task task;
    uint32_t effects;
    size_t cursor = 0;

    CU_ASSERT_TRUE_FATAL(plan_next_task(change.plan, &cursor, &task));
    CU_ASSERT_EQUAL(task.part, part);
    CU_ASSERT_FALSE(plan_next_task(change.plan, &cursor, &task));
    effects = plan_effects(change.plan, part);
    CU_ASSERT_EQUAL(effects, task.effects);
    change_finish(&change);
    return effects;
}

static uint32_t effects_of_host(const char *keys)
{
    char text[128];

    (void)snprintf(text, sizeof text, "host: {%s}\npools: {a: {use: sink.null}}", keys);
    return effects_of("pools: {a: {use: sink.null}}", text, PLAN_PART_HOST);
}

static void test_steps_of_the_host_say_what_they_take(void)
{
    CU_ASSERT_EQUAL(effects_of_host("name: other"), 0);
    CU_ASSERT_EQUAL(effects_of_host("control: /c"), PLAN_LISTENS);
    CU_ASSERT_EQUAL(effects_of_host("dead_letters: {count: 3}"), PLAN_KEEPS_DEAD);
    CU_ASSERT_EQUAL(effects_of_host("dead_letters: {file: /d}"), PLAN_KEEPS_DEAD);
    CU_ASSERT_EQUAL(effects_of_host("log: {level: debug}"), PLAN_LOGS);
    CU_ASSERT_EQUAL(effects_of_host("memory: 1GiB"), PLAN_BOUNDS);
    CU_ASSERT_EQUAL(effects_of_host("turn_warning: 2s"), PLAN_BOUNDS);
    CU_ASSERT_EQUAL(effects_of_host("turn_warning: 2s, log: {format: json}"),
                    PLAN_BOUNDS | PLAN_LOGS);
    CU_ASSERT_EQUAL(effects_of("pools: {a: {use: sink.null}}",
                               "pools: {a: {use: sink.null, log: {level: debug}}}", PLAN_PART_POOL),
                    PLAN_LOGS);
}

static void test_plan_lists_what_is_removed(void)
{
    struct change change = change_of("pools:\n"
                                     "  end: {use: sink.null}\n"
                                     "  old: {use: count.words, outputs: {next: end}}\n"
                                     "  start: {use: count.words, outputs: {next: old}}\n",
                                     "pools: {end: {use: sink.null}}\n");

    CU_ASSERT_EQUAL_FATAL(change.plan->removed_count, 2);
    CU_ASSERT_EQUAL(change.plan->removed[0], 1);
    CU_ASSERT_EQUAL(change.plan->removed[1], 2);
    change_finish(&change);
}

/* The tasks of a reload: one for each part, with all of its steps. */
static void test_steps_of_one_part_are_one_task(void)
{
    struct change change = change_of("pools: {a: {use: sink.null, size: 2}, z: {use: sink.null}}",
                                     "pools: {n: {use: sink.null}, a: {use: sink.null, size: 3,\n"
                                     "        redeliver: 2}}");
    struct plan_task task;
    size_t cursor = 0;

    CU_ASSERT_TRUE_FATAL(plan_next_task(change.plan, &cursor, &task));
    CU_ASSERT_EQUAL(task.part, PLAN_PART_POOL);
    CU_ASSERT_EQUAL(task.effects, PLAN_ADDS);
    CU_ASSERT_EQUAL(task.new_index, 0);
    CU_ASSERT_TRUE_FATAL(plan_next_task(change.plan, &cursor, &task));
    CU_ASSERT_EQUAL(task.effects, PLAN_RESPECS);
    CU_ASSERT_EQUAL(task.new_index, 1);
    CU_ASSERT_EQUAL(task.old_index, 0);
    CU_ASSERT_TRUE_FATAL(plan_next_task(change.plan, &cursor, &task));
    CU_ASSERT_EQUAL(task.effects, PLAN_REMOVES);
    CU_ASSERT_EQUAL(task.old_index, 1);
    CU_ASSERT_FALSE(plan_next_task(change.plan, &cursor, &task));
    CU_ASSERT_EQUAL(change.plan->old_pools[0], SETTINGS_NONE);
    CU_ASSERT_EQUAL(change.plan->old_pools[1], 0);
    change_finish(&change);
}

static void test_colour_is_that_of_a_diff(void)
{
    struct change change = change_of("pools: {a: {use: sink.null, size: 1}}",
                                     "pools: {b: {use: sink.null, size: 1}}");

    expect_printed(change.plan, true,
                   "\033[32m+ pools.b: sink.null, size 1\033[0m\n"
                   "\033[31m- pools.a: sink.null, size 1\033[0m\n");
    change_finish(&change);
}

/* promise R11 */
static void test_exclusive_ones_are_said_to_stop_first(void)
{
    expect_change("pools: {a: {use: door.listen, size: 1, args: {threads: 1, label: x}}}",
                  "pools: {a: {use: door.listen, size: 1, args: {threads: 2, label: x}}}",
                  "~ pools.a.args.threads: 1 -> 2  (stops first, then the new one opens)\n");
    expect_change("pools: {a: {use: door.listen, size: 1, args: {label: x}}}",
                  "pools: {a: {use: door.listen, size: 1, args: {label: y}}}",
                  "~ pools.a.args.label: x -> y\n");
    expect_change("pools: {a: {use: door.listen, size: 1, route: pull}}",
                  "pools: {a: {use: door.listen, size: 1, lease: {}}}",
                  "~ pools.a.lease: off -> timeout 30s, queue 50  (stops first, then the new one "
                  "opens)\n");
    expect_change("pools: {a: {use: sink.null, size: 1}}",
                  "pools: {a: {use: door.listen, size: 1}}",
                  "~ pools.a.use: sink.null 1.0.0 -> door.listen 1.0.0  (new workers beside the "
                  "old)\n");
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "other writing", test_other_writing_is_no_change },
        { "explicit default", test_explicit_default_is_no_change },
        { "start", test_everything_is_new_at_the_start },
        { "fields", test_changed_fields_of_a_pool_are_one_step_each },
        { "restart", test_changed_restart_of_a_pool_of_pools_is_one_step },
        { "a rate", test_changed_rate_is_a_step_of_its_output },
        { "manager", test_manager_and_its_args_are_steps },
        { "come and go", test_pools_come_and_go },
        { "copies", test_copies_come_and_go },
        { "leases", test_change_of_leases_is_one_step },
        { "becomes nested", test_pool_that_becomes_nested_is_replaced },
        { "replaced", test_other_behaviour_or_dispatcher_replaces_the_workers },
        { "other content", test_other_content_of_a_plugin_replaces_the_workers },
        { "live option of other content", test_live_option_of_other_content_is_not_live },
        { "args", test_args_are_live_only_when_all_of_them_are },
        { "secret", test_secret_args_are_not_shown },
        { "sizes", test_fixed_size_wins_over_what_runs },
        { "the rest", test_host_dispatchers_and_sources_change },
        { "keys", test_resize_of_workers_with_keys_says_what_moves },
        { "indexes", test_step_says_where_it_stands_in_both_settings },
        { "colour", test_colour_is_that_of_a_diff },
        { "exclusive", test_exclusive_ones_are_said_to_stop_first },
        { "host", test_steps_of_the_host_say_what_they_take },
        { "closing", test_plan_lists_what_is_removed },
        { "tasks", test_steps_of_one_part_are_one_task },
        CU_TEST_INFO_NULL,
    };

    return suite_run("plan", tests);
}
