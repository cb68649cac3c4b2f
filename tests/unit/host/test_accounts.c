/* SPDX-License-Identifier: MIT */
/*
 * Goal: the log reports the messages that a source could not deliver: in the source's own line, and
 * in the host's. The first check after the last message reports the end.
 *
 * Method: a source feeds a pool that has ended, or that waits at a gate; the log is captured and
 * read.
 */
#include "host/run/accounts.h"

#include <stdio.h>
#include <string.h>

#include "actor/source.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define ORDERS 5u
#define LINES_MAX 16

/* Lines of the log, as `component event key=value ...`. */
struct caught {
    pthread_mutex_t lock;
    uint32_t count;             /* lock */
    char lines[LINES_MAX][512]; /* lock */
};

static void catch_line(void *context, const struct log_line *line)
{
    struct caught *caught = context;
    char text[512];
    int used = snprintf(text, sizeof text, "%d %s %s", (int)line->level, line->component,
                        line->event);

    for (const struct weir_field *field = line->fields; field && field->key; field++)
        if (field->kind == WEIR_U64)
            used += snprintf(text + used, sizeof text - (size_t)used, " %s=%ju", field->key,
                             (uintmax_t)field->value.natural);
    pthread_mutex_lock(&caught->lock);
    if (caught->count < LINES_MAX)
        memcpy(caught->lines[caught->count++], text, sizeof text);
    pthread_mutex_unlock(&caught->lock);
}

/* The line that begins so; "" when there is none. */
static const char *find_line(struct caught *caught, const char *start)
{
    for (uint32_t i = 0; i < caught->count; i++)
        if (strncmp(caught->lines[i], start, strlen(start)) == 0)
            return caught->lines[i];
    return "";
}

/* Emits ORDERS orders, then ends. */
static int produce(struct weir_self *self, void *state, uint32_t credit)
{
    (void)state;
    (void)credit;
    for (uint32_t i = 0; i < ORDERS; i++)
        if (weir_emit(self, 0, probe_message(self, (struct order){ .id = i })) != 0)
            return -1;
    return WEIR_END;
}

static const struct weir_behaviour producer = { .name = "producer", .produce = produce };

static bool has_ended(void *context)
{
    return atomic_load(&((struct source *)context)->ended);
}

static struct source *make_source(struct rig *rig, weir_pid target)
{
    struct source_options options = { .path = "orders",
                                      .dispatcher = rig->dispatcher,
                                      .spec = spec_create(&producer, NULL),
                                      .target = target,
                                      .output_count = 1 };
    struct executor *executor = runtime_enter(rig->runtime);
    struct source *source = NULL;

    CU_ASSERT_EQUAL_FATAL(source_create(rig->runtime, executor, &options, &source), 0);
    runtime_leave(executor);
    spec_unref(options.spec);
    return source;
}

static weir_pid pid_of_an_ended_pool(struct rig *rig, struct probe *probe)
{
    struct pool *pool = rig_workers(rig, probe, "ended", 1, 1);
    weir_pid pid = pool->pid;

    CU_ASSERT_TRUE(rig_end(rig, pool, NULL));
    return pid;
}

/* promise L5 */
static void test_dead_letters_of_a_source_are_in_its_line_and_in_the_sum(void)
{
    struct caught caught = { .count = 0 };
    struct settings settings = { .source_count = 1 };
    struct shared_settings shared = { .settings = &settings };
    struct source *sources[1];
    struct accounts_result result;
    struct assembly assembly;
    struct rig rig;
    struct probe *probe = probe_create();
    struct executor *executor;

    pthread_mutex_init(&caught.lock, NULL);
    rig_init(&rig, 1, 0);
    sources[0] = make_source(&rig, pid_of_an_ended_pool(&rig, probe));
    CU_ASSERT_TRUE(rig_wait(&rig, has_ended, sources[0]));
    rig.runtime->options.log = (struct log_sink){ .write = catch_line, .context = &caught };
    assembly_init(&assembly, rig.runtime);
    assembly.shared = &shared;
    assembly.sources = sources;
    accounts_log_ledger(&assembly, &result);
    CU_ASSERT_TRUE(result.is_balanced);
    CU_ASSERT_EQUAL(dead_letters_total(&result.dead), 5);
    CU_ASSERT_STRING_EQUAL(
        find_line(&caught, "1 orders source"),
        "1 orders source emitted=0 dead=5 no_target=5 output_full=0 full=0 misuses=0");
    CU_ASSERT_PTR_NOT_NULL(strstr(find_line(&caught, "2 host ledger"), " dead_outside=5"));

    lock_finish(&assembly.lock);
    executor = runtime_enter(rig.runtime);
    source_destroy(sources[0], executor);
    runtime_leave(executor);
    rig_finish(&rig);
    probe_destroy(probe);
    pthread_mutex_destroy(&caught.lock);
}

static void destroy(struct rig *rig, struct source *source)
{
    struct executor *executor = runtime_enter(rig->runtime);

    source_destroy(source, executor);
    runtime_leave(executor);
}

/* No check has to wait for a second one: a run of one message ends with it. promise H2 */
static void test_first_look_after_the_last_message_says_that_all_is_done(void)
{
    struct settings_pool pool_settings = { .parent = SETTINGS_NONE };
    const struct catalogue_entry entry = { .behaviour = &producer };
    struct settings_source source_settings = { .use = { .entry = &entry } };
    struct settings settings = {
        .sources = &source_settings, .source_count = 1, .pools = &pool_settings, .pool_count = 1
    };
    struct shared_settings shared = { .settings = &settings };
    struct probe *probe = probe_create();
    struct source *sources[1];
    struct pool *pools[1];
    struct assembly assembly;
    struct rig rig;

    rig_init(&rig, 2, 0);
    probe->act = probe_wait;
    pools[0] = rig_workers(&rig, probe, "pool", 1, ORDERS);
    sources[0] = make_source(&rig, pools[0]->pid);
    assembly_init(&assembly, rig.runtime);
    assembly.shared = &shared;
    assembly.sources = sources;
    assembly.pools = pools;
    CU_ASSERT_TRUE(rig_wait(&rig, has_ended, sources[0]));
    CU_ASSERT_FALSE(accounts_are_done(&assembly));
    gate_open(&probe->gate);
    CU_ASSERT_TRUE(rig_drained(&rig, pools[0]));
    CU_ASSERT_TRUE(accounts_are_done(&assembly));

    lock_finish(&assembly.lock);
    CU_ASSERT_TRUE(rig_end(&rig, pools[0], NULL));
    destroy(&rig, sources[0]);
    rig_finish(&rig);
    probe_destroy(probe);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "source", test_dead_letters_of_a_source_are_in_its_line_and_in_the_sum },
        { "done", test_first_look_after_the_last_message_says_that_all_is_done },
        CU_TEST_INFO_NULL,
    };

    return suite_run("accounts", tests);
}
