/* SPDX-License-Identifier: MIT */
/*
 * Goal: the mailbox of a removed worker is handled as the pool's remove mode says.
 *
 * Method: two workers, each at a gate of its own with a backlog; one of them is removed and
 * released first.
 */
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define BACKLOG 10u
#define HANDLED 1000u /* a note: HANDLED * (index + 1) + id */

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct gate gates[2]; /* by the worker's number */
    struct pool *pool;
};

static int wait_at_own_gate(struct weir_self *self, struct probe *probe,
                            const struct weir_message *message)
{
    struct fixture *f = probe->context;

    probe_note(probe, HANDLED * (weir_index(self) + 1) + probe_order(message)->id);
    weir_reason(self, "of the message at the gate");
    return gate_pass(&f->gates[weir_index(self)]) ? WEIR_DONE : WEIR_REJECT;
}

/* Both workers wait at the gate, with `backlog` more messages each: BACKLOG and so on. */
static void begin_held(struct fixture *f, enum weir_remove mode, uint32_t limit, uint32_t backlog)
{
    struct spec *spec;

    f->probe = probe_create();
    f->probe->context = f;
    f->probe->act = wait_at_own_gate;
    rig_init(&f->rig, 2, 0);
    spec = rig_spec(f->probe);
    f->pool = rig_pool(&f->rig, &(struct pool_options){ .spec = spec,
                                                        .size = 2,
                                                        .settings.mailbox = limit,
                                                        .settings.remove.mode = mode });
    spec_unref(spec);
    CU_ASSERT_TRUE(rig_settled(&f->rig, f->pool));
    for (uint32_t i = 0; i < 2; i++) {
        gate_init(&f->gates[i]);
        CU_ASSERT_EQUAL(rig_send(&f->rig, rig_worker(f->pool, i), (struct order){ .id = i }), 0);
        CU_ASSERT_TRUE(gate_await(&f->gates[i], 1));
    }
    for (uint32_t i = 0; i < 2 * backlog; i++)
        CU_ASSERT_EQUAL(rig_send(&f->rig, f->pool->pid, (struct order){ .id = BACKLOG + i }), 0);
}

/* As begin, and the second leaves. */
static void begin(struct fixture *f, enum weir_remove mode, uint32_t limit, uint32_t backlog)
{
    begin_held(f, mode, limit, backlog);
    CU_ASSERT_EQUAL(rig_resize(&f->rig, f->pool, 1, NULL), 0);
    gate_open(&f->gates[1]);
}

static struct ledger_reading finish(struct fixture *f)
{
    struct ledger_reading ledger;

    CU_ASSERT_TRUE(rig_settled(&f->rig, f->pool));
    gate_open(&f->gates[0]);
    CU_ASSERT_TRUE(rig_drained(&f->rig, f->pool)); /* closing removes too */
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, &ledger));
    rig_finish(&f->rig);
    for (uint32_t i = 0; i < 2; i++)
        gate_finish(&f->gates[i]);
    return ledger;
}

/* promises P6, P7 and L1 */
static void test_backlog_goes_to_the_others(void)
{
    static const enum weir_remove modes[] = { WEIR_REMOVE_DRAIN, WEIR_REMOVE_REROUTE };

    for (size_t i = 0; i < 2; i++) {
        struct ledger_reading ledger;
        struct fixture f;

        begin(&f, modes[i], 8, 3);
        ledger = finish(&f);
        CU_ASSERT_EQUAL(ledger.moved, 3);
        CU_ASSERT_EQUAL(ledger.done, 8);
        CU_ASSERT_EQUAL(ledger.accepted, 11); /* moved messages were accepted twice */
        for (uint64_t id = BACKLOG; id < BACKLOG + 6; id++)
            CU_ASSERT_EQUAL(probe_times(f.probe, HANDLED + id), 1);
        probe_destroy(f.probe);
    }
}

/* promise S2 */
static void test_discard_makes_the_backlog_dead_letters(void)
{
    struct ledger_reading ledger;
    struct dead_letter letters[3];
    struct fixture f;

    begin(&f, WEIR_REMOVE_DISCARD, 8, 3);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    CU_ASSERT_EQUAL(rig_dead(f.pool, DEAD_REMOVED), 3);
    CU_ASSERT_EQUAL_FATAL(dead_letters_read(&f.pool->dead, letters, 3), 3);
    for (uint32_t i = 0; i < 3; i++)
        CU_ASSERT_STRING_EQUAL(letters[i].detail, ""); /* the reason of another message */
    ledger = finish(&f);
    CU_ASSERT_EQUAL(ledger.dead, 3);
    CU_ASSERT_EQUAL(ledger.done, 5);
    probe_destroy(f.probe);
}

/* promise P6: a worker that has begun to hand over its messages is not called back; a new one
 * opens. */
static void test_who_gives_its_mailbox_away_is_not_called_back(void)
{
    static const enum weir_remove modes[] = { WEIR_REMOVE_REROUTE, WEIR_REMOVE_DISCARD };

    for (size_t i = 0; i < 2; i++) {
        struct fixture f;

        begin_held(&f, modes[i], 8, 0);
        CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 1, NULL), 0);
        CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 2, NULL), 0);
        CU_ASSERT_EQUAL(rig_stats(f.pool).retiring, 1);
        CU_ASSERT_NOT_EQUAL(rig_worker(f.pool, 2), 0);
        gate_open(&f.gates[1]);
        CU_ASSERT_EQUAL(finish(&f).done, 2);
        CU_ASSERT_EQUAL(atomic_load(&f.probe->opened), 3);
        probe_destroy(f.probe);
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "goes to the others", test_backlog_goes_to_the_others },
        { "discard", test_discard_makes_the_backlog_dead_letters },
        { "not called back", test_who_gives_its_mailbox_away_is_not_called_back },
        CU_TEST_INFO_NULL,
    };

    return suite_run("remove", tests);
}
