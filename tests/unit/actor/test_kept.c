/* SPDX-License-Identifier: MIT */
/*
 * Goal: a worker that keeps many messages settles them in any order, each once; those that a
 * failure leaves come again in the order in which they were begun. Shows promises V4 and V6.
 *
 * Method: one worker on one thread keeps its messages until the last one is there, which does the
 * rest in its callback.
 */
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define KEPT 500u
#define STRIDE 307u   /* relatively prime to KEPT: every message is reached, out of order */
#define AGAIN 100000u /* the note of a second attempt: this, and the id */

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct spec *spec;
    struct pool *pool;
    struct ledger_reading ledger;
    struct weir_message *kept[KEPT];
    uint32_t count;
    void (*acts)(struct weir_self *self, struct fixture *f); /* when all are kept */
};

static int keep(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct fixture *f = probe->context;

    if (message->attempt > 1)
        probe_note(probe, AGAIN + probe_order(message)->id);
    if (f->count < KEPT) {
        f->kept[f->count++] = (struct weir_message *)(uintptr_t)message;
        return WEIR_KEEP;
    }
    if (f->acts)
        f->acts(self, f);
    f->acts = NULL;
    return WEIR_DONE;
}

/* The last message does not stay. */
static void run(struct fixture *f, void (*acts)(struct weir_self *self, struct fixture *f))
{
    *f = (struct fixture){ .acts = acts };
    f->probe = probe_create();
    f->probe->behaviour.in_hand = KEPT + 1;
    f->probe->act = keep;
    f->probe->context = f;
    rig_init(&f->rig, 1, 0);
    f->spec = rig_spec(f->probe);
    f->spec->redeliver_max = 1;
    f->pool = rig_pool(&f->rig, &(struct pool_options){
                                    .spec = f->spec, .size = 1, .settings.mailbox = KEPT + 1 });
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->pool);
    CU_ASSERT_TRUE(rig_settled(&f->rig, f->pool));
    for (uint64_t id = 0; id <= KEPT; id++)
        CU_ASSERT_EQUAL(rig_send(&f->rig, f->pool->pid, (struct order){ .id = id }), 0);
    CU_ASSERT_TRUE(rig_drained(&f->rig, f->pool));
}

static void finish(struct fixture *f)
{
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, &f->ledger));
    spec_unref(f->spec);
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

/* Every second one out of order, and the others the last first; each a second time, in vain. */
static void settle_out_of_order(struct weir_self *self, struct fixture *f)
{
    for (uint32_t i = 0, at = 0; i < KEPT; i++, at = (at + STRIDE) % KEPT)
        if (at % 2 == 0)
            CU_ASSERT_EQUAL(weir_settle(self, f->kept[at], at % 4 ? WEIR_REJECT : WEIR_DONE), 0);
    for (uint32_t at = 0; at < KEPT; at += 2)
        CU_ASSERT_EQUAL(weir_settle(self, f->kept[at], WEIR_DONE), WEIR_EINVALID);
    for (uint32_t at = KEPT - 1; at < KEPT; at -= 2)
        CU_ASSERT_EQUAL(weir_settle(self, f->kept[at], WEIR_DONE), 0);
    for (uint32_t at = 0; at < KEPT; at++)
        CU_ASSERT_EQUAL(weir_settle(self, f->kept[at], WEIR_DONE), WEIR_EINVALID);
}

static void test_many_kept_messages_are_settled_in_any_order(void)
{
    struct fixture f;

    run(&f, settle_out_of_order);
    CU_ASSERT_EQUAL(rig_dead(f.pool, DEAD_REJECTED), KEPT / 4);
    finish(&f);
    CU_ASSERT_EQUAL(f.ledger.done, KEPT + 1 - KEPT / 4);
    CU_ASSERT_EQUAL(f.ledger.dead, KEPT / 4);
}

/* All but each tenth; then it fails with one of those. */
static void settle_most_and_fail(struct weir_self *self, struct fixture *f)
{
    for (uint32_t i = 0, at = 0; i < KEPT; i++, at = (at + STRIDE) % KEPT)
        if (at % 10 != 0)
            CU_ASSERT_EQUAL(weir_settle(self, f->kept[at], WEIR_DONE), 0);
    CU_ASSERT_EQUAL(weir_put_back(self, f->kept[KEPT - 10]), 0);
    CU_ASSERT_EQUAL(weir_settle(self, f->kept[250], WEIR_FAIL), 0);
}

static void test_what_is_left_comes_again_in_order(void)
{
    struct fixture f;
    uint32_t seen = 0;

    run(&f, settle_most_and_fail);
    for (uint32_t i = 0; i < probe_count(f.probe); i++)
        if (probe_get(f.probe, i) >= AGAIN)
            CU_ASSERT_EQUAL(probe_get(f.probe, i), AGAIN + 10 * seen++);
    CU_ASSERT_EQUAL(seen, KEPT / 10 - 1);
    CU_ASSERT_EQUAL(probe_times(f.probe, KEPT - 10), 2); /* the same attempt */
    finish(&f);
    CU_ASSERT_EQUAL(f.ledger.done, KEPT + 1);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "any order", test_many_kept_messages_are_settled_in_any_order },
        { "after a failure", test_what_is_left_comes_again_in_order },
        CU_TEST_INFO_NULL,
    };

    return suite_run("kept", tests);
}
