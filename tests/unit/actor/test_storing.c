/* SPDX-License-Identifier: MIT */
/*
 * Goal: the origin of a dead message is notified only when the program has stored the dead letter,
 * of it and of all that joined it, and learns whether it is stored.
 *
 * Method: a worker sends orders with itself as origin through two pools; the store is the test's,
 * which ends its records when it likes. Shows promise L8.
 */
#include <stdatomic.h>
#include <string.h>

#include "pool/settings.h"
#include "unit/host/suite.h"
#include "unit/support/job.h"

#define TOLD 1000u /* a note: TOLD + token */

/* The store: what was appended last. */
struct shelf {
    _Atomic uint64_t number; /* of the last record */
    _Atomic bool refuses;
    _Atomic bool is_full;
    _Atomic uint32_t awaited;
    char path[32], to[32], from[32], reason[24], detail[48];
    size_t size;
};

struct fixture {
    struct rig rig;
    struct shelf shelf;
    struct probe *home, *first, *second;
    struct pool *home_pool, *first_pool, *second_pool;
    struct weir_outcome last; /* written before the note of its token */
};

static uint64_t append(void *context, const struct dead_record *record, bool is_awaited)
{
    struct shelf *shelf = context;

    if (atomic_load(&shelf->refuses))
        return 0;
    (void)snprintf(shelf->path, sizeof shelf->path, "%s", record->path);
    (void)snprintf(shelf->to, sizeof shelf->to, "%s", record->to);
    (void)snprintf(shelf->from, sizeof shelf->from, "%s", record->from);
    (void)snprintf(shelf->reason, sizeof shelf->reason, "%s", record->reason);
    (void)snprintf(shelf->detail, sizeof shelf->detail, "%s", record->detail);
    shelf->size = record->payload ? record->size : 0;
    atomic_fetch_add(&shelf->awaited, is_awaited);
    return atomic_fetch_add(&shelf->number, 1) + 1;
}

static bool is_full(void *context, const char *path)
{
    return atomic_load(&((struct shelf *)context)->is_full) && strcmp(path, "first") == 0;
}

static void settled(struct weir_self *self, void *state, const struct weir_outcome *outcome)
{
    struct probe *probe = *(struct probe **)state;
    struct fixture *f = probe->context;

    (void)self;
    f->last = *outcome;
    probe_note(probe, TOLD + outcome->token);
}

static struct pool *stage(struct rig *rig, struct probe *probe, const char *path, weir_pid to)
{
    struct binding binding = { to, WEIR_FULL_WAIT };
    struct spec *spec = rig_spec(probe);
    struct pool *pool = rig_pool(rig, &(struct pool_options){ .path = path,
                                                              .spec = spec,
                                                              .size = 1,
                                                              .settings.mailbox = 16,
                                                              .output_count = 1,
                                                              .outputs = &binding });

    spec_unref(spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
    CU_ASSERT_TRUE(rig_settled(rig, pool));
    return pool;
}

static void begin(struct fixture *f)
{
    *f = (struct fixture){ .home = probe_create(),
                           .first = probe_create(),
                           .second = probe_create() };
    f->home->behaviour.settled = settled;
    f->home->context = f;
    rig_init(&f->rig, 2, 0);
    f->rig.runtime->options.dead_store = (struct dead_store){ .context = &f->shelf,
                                                              .append = append,
                                                              .is_full = is_full };
    f->home_pool = rig_workers(&f->rig, f->home, "home", 1, 16);
    f->second_pool = rig_workers(&f->rig, f->second, "second", 1, 16);
    f->first_pool = stage(&f->rig, f->first, "first", f->second_pool->pid);
}

static void finish(struct fixture *f)
{
    CU_ASSERT_TRUE(rig_end(&f->rig, f->home_pool, NULL));
    CU_ASSERT_TRUE(rig_end(&f->rig, f->first_pool, NULL));
    CU_ASSERT_TRUE(rig_end(&f->rig, f->second_pool, NULL));
    rig_finish(&f->rig);
    probe_destroy(f->home);
    probe_destroy(f->first);
    probe_destroy(f->second);
}

static bool has_appended(void *context)
{
    struct fixture *f = context;

    return atomic_load(&f->shelf.number) >= 1;
}

/* --- orders --------------------------------------------------------------------------------- */

static void send_first(struct fixture *f, probe_act *act, uint64_t id)
{
    job_send(&f->rig, (struct job){ .by = f->home_pool->pid,
                                    .to = f->first_pool->pid,
                                    .order = { .act = act, .id = id } });
}

static int refuse(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)probe;
    (void)message;
    weir_reason(self, "not mine");
    return WEIR_REJECT;
}

static int emit_one_that_is_rejected(struct weir_self *self, struct probe *probe,
                                     const struct weir_message *message)
{
    (void)probe;
    (void)message;
    CU_ASSERT_EQUAL(weir_emit(self, 0, probe_message(self, (struct order){ .act = refuse })), 0);
    return WEIR_DONE;
}

static int done(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)self;
    (void)probe;
    (void)message;
    return WEIR_DONE;
}

/* --- tests ---------------------------------------------------------------------------------- */

/* Sends the order, ends its record as wanted, and checks what the origin gets. */
static void send_and_store(probe_act *act, const char *path, bool is_stored)
{
    struct fixture f;

    begin(&f);
    send_first(&f, act, 7);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_appended, &f));
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.first_pool));
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.second_pool));
    CU_ASSERT_EQUAL(probe_times(f.home, TOLD + 7), 0);
    CU_ASSERT_STRING_EQUAL(f.shelf.path, path);
    CU_ASSERT_STRING_EQUAL(f.shelf.to, path);
    CU_ASSERT_STRING_EQUAL(f.shelf.reason, "rejected");
    CU_ASSERT_STRING_EQUAL(f.shelf.detail, "not mine");
    CU_ASSERT_EQUAL(f.shelf.size, sizeof(struct order));
    CU_ASSERT_EQUAL(f.shelf.awaited, 1);
    runtime_stored(f.rig.runtime, 1, is_stored);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.home, TOLD + 7, 1));
    CU_ASSERT_EQUAL(f.last.result, WEIR_OUTCOME_DEAD);
    CU_ASSERT_EQUAL(f.last.is_stored, is_stored);
    CU_ASSERT_EQUAL(f.last.delay_ms, 0);
    finish(&f);
}

/* promise L8 */
static void test_origin_is_notified_when_the_dead_letter_is_stored(void)
{
    send_and_store(refuse, "first", true);
    send_and_store(refuse, "first", false);
}

/* promise L8 */
static void test_origin_waits_for_the_dead_letters_of_what_joined(void)
{
    send_and_store(emit_one_that_is_rejected, "second", true);
    send_and_store(emit_one_that_is_rejected, "second", false);
}

static void test_dead_letter_that_is_not_stored_is_said_at_once(void)
{
    struct fixture f;

    begin(&f);
    atomic_store(&f.shelf.refuses, true);
    send_first(&f, refuse, 7);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.home, TOLD + 7, 1));
    CU_ASSERT_EQUAL(f.last.result, WEIR_OUTCOME_DEAD);
    CU_ASSERT_EQUAL(f.last.is_stored, 0);
    send_first(&f, emit_one_that_is_rejected, 8);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.home, TOLD + 8, 1));
    CU_ASSERT_EQUAL(f.last.is_stored, 0);
    send_first(&f, done, 9);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.home, TOLD + 9, 1));
    CU_ASSERT_EQUAL(f.last.result, WEIR_OUTCOME_DONE);
    CU_ASSERT_EQUAL(f.last.is_stored, 0);
    finish(&f);
}

static void test_messages_without_an_origin_are_stored_and_wait_for_nothing(void)
{
    struct fixture f;

    begin(&f);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.second_pool->pid, (struct order){ .act = refuse }), 0);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_appended, &f));
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.second_pool));
    CU_ASSERT_EQUAL(f.shelf.awaited, 0);
    finish(&f);
}

/* Memory that is left over shows under LeakSanitizer. */
static void test_runtime_that_ends_frees_what_is_held(void)
{
    struct fixture f;
    struct executor *executor;
    struct message *message;
    bool is_stored;

    begin(&f);
    executor = runtime_enter(f.rig.runtime);
    message = message_create(&executor->cache, NULL, 64);
    CU_ASSERT_TRUE(storing_hold(&f.rig.runtime->storing, message, 1, &is_stored));
    runtime_leave(executor);
    finish(&f);
}

/* A message that is held when its record has ended already. */
static void test_late_hold_gets_the_answer_at_once(void)
{
    struct storing storing;
    bool is_stored = false;

    storing_init(&storing);
    CU_ASSERT_EQUAL(storing_end(&storing, 3, false), 0);
    CU_ASSERT_EQUAL(storing_end(&storing, 5, true), 0);
    CU_ASSERT_FALSE(storing_hold(&storing, NULL, 4, &is_stored));
    CU_ASSERT_TRUE(is_stored);
    CU_ASSERT_FALSE(storing_hold(&storing, NULL, 3, &is_stored));
    CU_ASSERT_FALSE(is_stored);
    storing_finish(&storing, NULL);
}

/* promise L11 */
static void test_stream_that_waits_holds_up_no_other(void)
{
    static const uint64_t streams[] = { UINT64_C(3) << DEAD_STORE_STREAM_SHIFT, 0,
                                        UINT64_C(65535) << DEAD_STORE_STREAM_SHIFT };
    struct fixture f;
    struct executor *executor;
    struct message *messages[3];
    bool is_stored;

    begin(&f);
    executor = runtime_enter(f.rig.runtime);
    for (size_t i = 0; i < 3; i++) {
        messages[i] = message_create(&executor->cache, NULL, 64);
        CU_ASSERT_TRUE(
            storing_hold(&f.rig.runtime->storing, messages[i], streams[i] + 7, &is_stored));
    }
    for (size_t i = 3; i-- > 0;) {
        struct storing *storing = &f.rig.runtime->storing;

        CU_ASSERT_EQUAL(storing_end(storing, streams[i] + 6, true), 0);
        CU_ASSERT_PTR_NULL(storing_take(storing, streams[i] + 6, &is_stored));
        CU_ASSERT_EQUAL(storing_end(storing, streams[i] + 7, i != 1), 0);
        CU_ASSERT_PTR_EQUAL(storing_take(storing, streams[i] + 7, &is_stored), messages[i]);
        CU_ASSERT_EQUAL(is_stored, i != 1);
        CU_ASSERT_PTR_NULL(storing_take(storing, streams[i] + 7, &is_stored));
        message_destroy(&executor->cache, messages[i]);
    }
    runtime_leave(executor);
    finish(&f);
}

static void test_worker_waits_while_the_store_is_full(void)
{
    struct fixture f;

    begin(&f);
    atomic_store(&f.shelf.is_full, true);
    send_first(&f, refuse, 7);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_appended, &f));
    send_first(&f, done, 8);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.home_pool));
    CU_ASSERT_EQUAL(rig_ledger(f.first_pool).queued, 1);
    atomic_store(&f.shelf.is_full, false);
    rig_advance(&f.rig, 100);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.home, TOLD + 8, 1));
    runtime_stored(f.rig.runtime, 1, true);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.home, TOLD + 7, 1));
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "stored", test_origin_is_notified_when_the_dead_letter_is_stored },
        { "joined", test_origin_waits_for_the_dead_letters_of_what_joined },
        { "not stored", test_dead_letter_that_is_not_stored_is_said_at_once },
        { "no origin", test_messages_without_an_origin_are_stored_and_wait_for_nothing },
        { "streams", test_stream_that_waits_holds_up_no_other },
        { "late", test_late_hold_gets_the_answer_at_once },
        { "the end", test_runtime_that_ends_frees_what_is_held },
        { "full", test_worker_waits_while_the_store_is_full },
        CU_TEST_INFO_NULL,
    };

    return suite_run("actor storing", tests);
}
