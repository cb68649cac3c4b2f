/* SPDX-License-Identifier: MIT */
/*
 * Goal: a worker learns of room behind its output (promise O12).
 * Method: one message becomes more messages than three outboxes hold, while the one worker behind
 * the output stands at a gate.
 */
#include "actor/spec.h"

#include "unit/host/suite.h"
#include "unit/support/rig.h"

struct fixture {
    struct rig rig;
    struct probe *from;
    struct probe *to;
    struct pool *feeding;
    struct pool *fed;
};

/* The worker of the fed pool is held, and its mailbox of one is full. */
static void begin(struct fixture *f)
{
    struct binding binding = { .when_full = WEIR_FULL_WAIT };
    struct pool_options options = { .path = "feeding", .size = 1, .output_count = 1 };

    f->from = probe_create();
    f->to = probe_create();
    rig_init(&f->rig, 2, 0);
    f->fed = rig_workers(&f->rig, f->to, "fed", 1, 1);
    binding.target = f->fed->pid;
    options.outputs = &binding;
    options.spec = rig_spec(f->from);
    f->feeding = rig_pool(&f->rig, &options);
    spec_unref(options.spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->feeding);
    CU_ASSERT_TRUE(rig_settled(&f->rig, f->feeding));
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(
            rig_send(&f->rig, f->fed->pid, (struct order){ .act = probe_wait, .id = 9000 }), 0);
        CU_ASSERT_TRUE(gate_await(&f->to->gate, 1));
    }
}

static void finish(struct fixture *f)
{
    CU_ASSERT_TRUE(rig_end(&f->rig, f->feeding, NULL));
    CU_ASSERT_TRUE(rig_end(&f->rig, f->fed, NULL));
    rig_finish(&f->rig);
    probe_destroy(f->from);
    probe_destroy(f->to);
}

struct rest {
    uint64_t emitted; /* of the message in hand */
};

/* Emits `argument` orders. Without room it postpones the message, and goes on from there. */
static int emit_rest(struct weir_self *self, struct probe *probe,
                     const struct weir_message *message)
{
    const struct order *order = probe_order(message);
    struct rest *rest = probe->context;

    for (; rest->emitted < order->argument; rest->emitted++) {
        struct weir_message *out = probe_message(self, (struct order){ .id = rest->emitted });

        if (weir_emit(self, 0, out) == 0)
            continue;
        weir_message_free(self, out);
        weir_retry_after(self, 0);
        return WEIR_POSTPONE;
    }
    rest->emitted = 0;
    return WEIR_DONE;
}

/* promise O12: a worker that postpones gets its message again when the outbox is empty. */
static void test_postponed_message_comes_again_when_there_is_room(void)
{
    const uint64_t count = 3 * SPEC_OUTBOX_MAX + 5;
    struct rest rest = { 0 };
    struct fixture f;

    begin(&f);
    f.from->context = &rest;
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.feeding->pid,
                             (struct order){ .act = emit_rest, .id = 7, .argument = count }),
                    0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.from, 7, 1));
    gate_open(&f.to->gate);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.to, count - 1, 1));
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.feeding));
    /* Each time but the last it filled the outbox, which was empty before. */
    CU_ASSERT_EQUAL(probe_times(f.from, 7), 4);
    CU_ASSERT_EQUAL(probe_count(f.to), 2 + count);
    for (uint32_t i = 0; i < count; i++)
        CU_ASSERT_EQUAL(probe_get(f.to, 2 + i), i);
    CU_ASSERT_EQUAL(rig_ledger(f.feeding).done, 1);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "postponed", test_postponed_message_comes_again_when_there_is_room },
        CU_TEST_INFO_NULL,
    };

    return suite_run("output: room again", tests);
}
