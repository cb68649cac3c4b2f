/* SPDX-License-Identifier: MIT */
/*
 * Goal: a behaviour that breaks its contract gets a status; the misuse is counted for its pool, and
 * logged once with the behaviour and the consequence; the ledger still balances. Shows promise V3.
 * Also logged, though no misuse: promise H13.
 * Method: one worker on one thread whose orders commit each misuse twice; the test keeps the lines
 * of the log.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actor/source.h"
#include "pool/ending.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define LINES_MAX 64
#define LINE_SIZE 512

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct spec *spec;
    struct pool *pool;
    struct ledger_reading ledger;
    pthread_mutex_t lock;
    uint32_t line_count;              /* lock */
    char lines[LINES_MAX][LINE_SIZE]; /* lock */
};

/* `component: event key=value ...` */
static void keep_line(void *context, const struct log_line *line)
{
    struct fixture *f = context;
    char *text;
    size_t used;

    pthread_mutex_lock(&f->lock);
    text = f->lines[f->line_count < LINES_MAX ? f->line_count++ : LINES_MAX - 1];
    used = (size_t)snprintf(text, LINE_SIZE, "%s: %s", line->component, line->event);
    for (const struct weir_field *field = line->fields; field->key && used < LINE_SIZE; field++) {
        if (field->kind == WEIR_STRING)
            used += (size_t)snprintf(text + used, LINE_SIZE - used, " %s=%s", field->key,
                                     field->value.string);
        else
            used += (size_t)snprintf(text + used, LINE_SIZE - used, " %s=%lld", field->key,
                                     (long long)field->value.integer);
    }
    pthread_mutex_unlock(&f->lock);
}

/* How many lines have these words. */
static uint32_t count_lines(struct fixture *f, const char *words)
{
    uint32_t count = 0;

    pthread_mutex_lock(&f->lock);
    for (uint32_t i = 0; i < f->line_count; i++)
        count += strstr(f->lines[i], words) != NULL;
    pthread_mutex_unlock(&f->lock);
    return count;
}

struct lines_wish {
    struct fixture *f;
    const char *words;
    uint32_t count;
};

static bool have_come(void *context)
{
    struct lines_wish *wish = context;

    return count_lines(wish->f, wish->words) >= wish->count;
}

static bool lines_come(struct fixture *f, const char *words, uint32_t count)
{
    struct lines_wish wish = { f, words, count };

    return rig_wait(&f->rig, have_come, &wish);
}

static struct fixture *begin(void)
{
    struct fixture *f = calloc(1, sizeof *f);

    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    pthread_mutex_init(&f->lock, NULL);
    f->probe = probe_create();
    gate_open(&f->probe->gate);
    rig_init(&f->rig, 1, 0);
    /* Before the runtime has a logger. */
    f->rig.runtime->options.log = (struct log_sink){ .write = keep_line, .context = f };
    f->spec = rig_spec(f->probe);
    f->spec->plugin = "unruly";
    f->spec->version = "1.2.0";
    f->spec->generation = 3;
    f->spec->in_hand_max = 2;
    return f;
}

static void create(struct fixture *f)
{
    f->pool = rig_pool(&f->rig,
                       &(struct pool_options){
                           .path = "work", .spec = f->spec, .size = 1, .settings.mailbox = 16 });
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->pool);
    CU_ASSERT_TRUE(rig_settled(&f->rig, f->pool));
}

static void send(struct fixture *f, probe_act *act, uint64_t id)
{
    CU_ASSERT_EQUAL(rig_send(&f->rig, f->pool->pid, (struct order){ .act = act, .id = id }), 0);
}

static void finish(struct fixture *f)
{
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, &f->ledger));
    spec_unref(f->spec);
    rig_finish(&f->rig);
    probe_destroy(f->probe);
    pthread_mutex_destroy(&f->lock);
    free(f);
}

static uint64_t misuses(struct fixture *f, enum misuse misuse)
{
    return atomic_load(&f->pool->misuses.counts[misuse]);
}

/* --- no misuse, but logged as well - */

static struct weir_message *kept_messages[2]; /* of the only worker */

static int keep(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)self;
    kept_messages[probe_order(message)->id] = (struct weir_message *)(uintptr_t)message;
    probe_note(probe, 250);
    return WEIR_KEEP;
}

static int settle_both(struct weir_self *self, struct probe *probe,
                       const struct weir_message *message)
{
    (void)probe;
    (void)message;
    CU_ASSERT_EQUAL(weir_settle(self, kept_messages[0], WEIR_DONE), 0);
    CU_ASSERT_EQUAL(weir_settle(self, kept_messages[1], WEIR_DONE), 0);
    return WEIR_DONE;
}

/* promise H13 */
static void test_message_that_is_kept_for_long_is_reported_once(void)
{
    struct fixture *f = begin();

    f->spec->in_hand_max = 3;
    atomic_store(&f->rig.runtime->kept_warning_ns, 100000000u);
    create(f);
    send(f, keep, 0);
    CU_ASSERT_TRUE(rig_noted(&f->rig, f->probe, 250, 1));
    rig_advance(&f->rig, 60);
    send(f, keep, 1);
    CU_ASSERT_TRUE(rig_noted(&f->rig, f->probe, 250, 2));
    CU_ASSERT_EQUAL(count_lines(f, "kept for long"), 0);
    rig_advance(&f->rig, 40);
    CU_ASSERT_TRUE(
        lines_come(f, "work: message is kept for long ms=100 plugin=unruly worker=0 ", 1));
    rig_advance(&f->rig, 60);
    CU_ASSERT_TRUE(lines_come(f, "kept for long", 2));
    rig_advance(&f->rig, 1000);
    send(f, settle_both, 2);
    CU_ASSERT_TRUE(rig_drained(&f->rig, f->pool));
    CU_ASSERT_EQUAL(count_lines(f, "kept for long"), 2);
    finish(f);
}

/* Sends the order twice and a right one: two are counted, one is logged, in these words. */
static void commit_twice(struct fixture *f, probe_act *act, enum misuse misuse, const char *words)
{
    send(f, act, 1);
    send(f, act, 2);
    send(f, probe_done, 3);
    CU_ASSERT_TRUE(rig_drained(&f->rig, f->pool));
    CU_ASSERT_EQUAL(probe_times(f->probe, 3), 1);
    CU_ASSERT_EQUAL(misuses(f, misuse), 2);
    CU_ASSERT_EQUAL(pool_misuses(f->pool), 2);
    CU_ASSERT_EQUAL(count_lines(f, words), 1);
    CU_ASSERT_EQUAL(count_lines(f, "work#0: "),
                    count_lines(f, words) + count_lines(f, ": worker failed"));
}

static int answer_77(struct weir_self *self, struct probe *probe,
                     const struct weir_message *message)
{
    (void)self;
    (void)probe;
    (void)message;
    return 77;
}

static void test_unknown_verdict_is_reported_with_whose_it_was(void)
{
    struct fixture *f = begin();

    create(f);
    commit_twice(f, answer_77, MISUSE_VERDICT,
                 "work#0: handle returned an unknown verdict pool=work worker=0 "
                 "plugin=unruly version=1.2.0 generation=3 behaviour=probe value=77 effect=counts "
                 "as a failure");
    CU_ASSERT_EQUAL(rig_dead(f->pool, DEAD_CRASHED), 2);
    finish(f);
}

static int emit_nowhere(struct weir_self *self, struct probe *probe,
                        const struct weir_message *message)
{
    struct weir_message *out = probe_message(self, (struct order){ .id = 9 });

    (void)probe;
    (void)message;
    CU_ASSERT_EQUAL(weir_emit(self, 5, out), WEIR_EINVALID);
    weir_message_free(self, out);
    return WEIR_DONE;
}

static void test_undeclared_output_is_reported(void)
{
    struct fixture *f = begin();

    create(f);
    commit_twice(f, emit_nowhere, MISUSE_OUTPUT,
                 "emitted on an output that its behaviour does not declare pool=work worker=0 "
                 "plugin=unruly version=1.2.0 generation=3 behaviour=probe value=5");
    CU_ASSERT_EQUAL(rig_ledger(f->pool).done, 3);
    finish(f);
}

/* A settled message may be freed: only its address is compared. */
static void settle_twice(struct weir_self *self, void *state, void *context)
{
    (void)state;
    CU_ASSERT_EQUAL(weir_settle(self, context, WEIR_DONE), 0);
    CU_ASSERT_EQUAL(weir_settle(self, context, WEIR_DONE), WEIR_EINVALID);
}

static int keep_and_settle_twice(struct weir_self *self, struct probe *probe,
                                 const struct weir_message *message)
{
    (void)probe;
    CU_ASSERT_EQUAL(weir_after(self, 0, settle_twice, (void *)(uintptr_t)message, NULL), 0);
    return WEIR_KEEP;
}

static void test_second_settling_is_reported_and_settles_nothing(void)
{
    struct fixture *f = begin();

    create(f);
    commit_twice(
        f, keep_and_settle_twice, MISUSE_SETTLED,
        "settled a message that it does not keep pool=work worker=0 plugin=unruly version=1.2.0");
    CU_ASSERT_EQUAL(rig_ledger(f->pool).done, 3);
    finish(f);
}

static void settle_oddly(struct weir_self *self, void *state, void *context)
{
    (void)state;
    CU_ASSERT_EQUAL(weir_settle(self, context, WEIR_KEEP), WEIR_EINVALID);
    CU_ASSERT_EQUAL(weir_settle(self, context, WEIR_DONE), 0);
}

static int keep_and_settle_oddly(struct weir_self *self, struct probe *probe,
                                 const struct weir_message *message)
{
    (void)probe;
    CU_ASSERT_EQUAL(weir_after(self, 0, settle_oddly, (void *)(uintptr_t)message, NULL), 0);
    return WEIR_KEEP;
}

static void test_verdict_that_settles_nothing_is_reported(void)
{
    struct fixture *f = begin();

    create(f);
    commit_twice(f, keep_and_settle_oddly, MISUSE_UNSETTLED,
                 "settled a kept message with a verdict that settles nothing");
    CU_ASSERT_EQUAL(rig_ledger(f->pool).done, 3);
    finish(f);
}

static int keep_or_stop(struct weir_self *self, struct probe *probe,
                        const struct weir_message *message)
{
    (void)self;
    (void)probe;
    return probe_order(message)->id == 1 ? WEIR_KEEP : WEIR_STOP;
}

static void test_kept_message_that_is_forgotten_is_reported(void)
{
    struct fixture *f = begin();

    create(f);
    for (uint64_t id = 1; id <= 2; id++)
        send(f, keep_or_stop, id);
    for (uint64_t id = 1; id <= 2; id++)
        send(f, keep_or_stop, id);
    CU_ASSERT_TRUE(rig_drained(&f->rig, f->pool));
    CU_ASSERT_EQUAL(misuses(f, MISUSE_FORGOTTEN), 2);
    CU_ASSERT_EQUAL(rig_dead(f->pool, DEAD_KEPT), 2);
    CU_ASSERT_EQUAL(count_lines(f, "ended before it settled a kept message pool=work worker=0 "
                                   "plugin=unruly version=1.2.0"),
                    1);
    finish(f);
}

static bool has_one_in_hand(void *context)
{
    return rig_ledger(context).in_hand == 1;
}

/* The end of the host takes a message before the pool's own time is over. */
static void test_kept_message_at_the_end_of_the_host_is_no_misuse(void)
{
    struct fixture *f = begin();
    struct executor *executor;

    create(f);
    send(f, keep_or_stop, 1);
    CU_ASSERT_TRUE(rig_wait(&f->rig, has_one_in_hand, f->pool));
    executor = runtime_enter(f->rig.runtime);
    pool_close(f->pool, executor);
    pool_end_waiting(f->pool, executor);
    runtime_leave(executor);
    CU_ASSERT_TRUE(rig_drained(&f->rig, f->pool));
    CU_ASSERT_EQUAL(rig_dead(f->pool, DEAD_KEPT), 1);
    CU_ASSERT_EQUAL(misuses(f, MISUSE_FORGOTTEN), 0);
    finish(f);
}

/* Cleaning up in `close` is no mistake, though it comes too late. */
static void settle_in_close(struct weir_self *self, void *state, int reason)
{
    (void)state;
    (void)reason;
    CU_ASSERT_EQUAL(weir_settle(self, NULL, WEIR_DONE), WEIR_EINVALID);
}

static void test_settling_in_close_is_no_misuse(void)
{
    struct fixture *f = begin();

    f->probe->behaviour.close = settle_in_close;
    create(f);
    send(f, probe_fail, 1);
    CU_ASSERT_TRUE(rig_drained(&f->rig, f->pool));
    CU_ASSERT_TRUE(rig_settled(&f->rig, f->pool));
    CU_ASSERT_EQUAL(pool_misuses(f->pool), 0);
    finish(f);
}

static int open_oddly_once(struct weir_self *self, struct probe *probe)
{
    (void)self;
    return atomic_load(&probe->refused) == 0 ? 1 : 0;
}

static bool is_open(void *context)
{
    struct fixture *f = context;

    rig_advance(&f->rig, 1000);
    return rig_stats(f->pool).live == 1;
}

static void test_positive_status_of_open_is_reported(void)
{
    struct fixture *f = begin();

    f->probe->opens = open_oddly_once;
    f->pool = rig_pool(&f->rig,
                       &(struct pool_options){
                           .path = "work", .spec = f->spec, .size = 1, .settings.mailbox = 16 });
    CU_ASSERT_TRUE(rig_wait(&f->rig, is_open, f));
    CU_ASSERT_EQUAL(misuses(f, MISUSE_OPENED), 1);
    CU_ASSERT_EQUAL(
        count_lines(
            f, "open returned a positive number pool=work worker=0 plugin=unruly version=1.2.0"),
        1);
    finish(f);
}

static int produce_oddly_once(struct weir_self *self, void *state, uint32_t credit)
{
    _Atomic uint32_t *calls = *(void **)state;

    (void)self;
    (void)credit;
    return atomic_fetch_add(calls, 1) == 0 ? 7 : WEIR_END;
}

static int open_counter(struct weir_self *self, const void *settings, void *state)
{
    (void)self;
    *(const void **)state = settings;
    return 0;
}

static bool has_ended(void *context)
{
    return atomic_load(&((struct source *)context)->ended);
}

static void test_unknown_number_of_produce_is_reported(void)
{
    static const struct weir_behaviour behaviour = { .name = "numbers",
                                                     .state_size = sizeof(void *),
                                                     .open = open_counter,
                                                     .produce = produce_oddly_once };
    struct fixture *f = begin();
    _Atomic uint32_t calls = 0;
    struct spec *spec = spec_create(&behaviour, &calls);
    struct source_options options = { .path = "in", .output_count = 1, .spec = spec };
    struct executor *executor;
    struct source *source;

    create(f);
    options.dispatcher = f->rig.dispatcher;
    options.target = f->pool->pid;
    executor = runtime_enter(f->rig.runtime);
    CU_ASSERT_EQUAL_FATAL(source_create(f->rig.runtime, executor, &options, &source), 0);
    runtime_leave(executor);
    CU_ASSERT_TRUE(rig_wait(&f->rig, has_ended, source));
    CU_ASSERT_EQUAL(atomic_load(&calls), 2);
    CU_ASSERT_EQUAL(misuses_total(&source->misuses), 1);
    CU_ASSERT_EQUAL(count_lines(f, "in: produce returned an unknown number pool=- worker=0"), 1);
    executor = runtime_enter(f->rig.runtime);
    source_destroy(source, executor);
    runtime_leave(executor);
    spec_unref(spec);
    finish(f);
}

/* After an upgrade a plugin that is still wrong is logged again. */
static void test_next_generation_is_reported_again(void)
{
    struct fixture *f = begin();

    create(f);
    commit_twice(f, answer_77, MISUSE_VERDICT, "handle returned an unknown verdict");
    f->spec->generation = 4;
    send(f, answer_77, 4);
    send(f, answer_77, 5);
    CU_ASSERT_TRUE(rig_drained(&f->rig, f->pool));
    CU_ASSERT_EQUAL(misuses(f, MISUSE_VERDICT), 4);
    CU_ASSERT_EQUAL(count_lines(f, "handle returned an unknown verdict"), 2);
    CU_ASSERT_EQUAL(count_lines(f, "generation=4"), 1);
    finish(f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "kept", test_message_that_is_kept_for_long_is_reported_once },
        { "unknown verdict", test_unknown_verdict_is_reported_with_whose_it_was },
        { "undeclared output", test_undeclared_output_is_reported },
        { "settled twice", test_second_settling_is_reported_and_settles_nothing },
        { "verdict that settles nothing", test_verdict_that_settles_nothing_is_reported },
        { "forgotten", test_kept_message_that_is_forgotten_is_reported },
        { "taken at the end", test_kept_message_at_the_end_of_the_host_is_no_misuse },
        { "settled in close", test_settling_in_close_is_no_misuse },
        { "positive open", test_positive_status_of_open_is_reported },
        { "unknown number of produce", test_unknown_number_of_produce_is_reported },
        { "next generation", test_next_generation_is_reported_again },
        CU_TEST_INFO_NULL,
    };

    return suite_run("misuse", tests);
}
