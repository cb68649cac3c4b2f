/* SPDX-License-Identifier: MIT */
/*
 * Goal: a PID that this runtime never gave out has no actor, in every lane, and for every slot: a
 * free one, one whose actor has ended, one with another serial. A PID may have been kept from
 * another run, or come from another runtime of the process.
 *
 * Method: a pool with one worker, and a pool that has ended; the test sends to all PIDs of the
 * first slots with their first serials, and excludes those of the two pools.
 */
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#include "dispatch/stock.h"

#define SERIALS 6u

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *pool;
    weir_pid ended[2]; /* a pool and its worker */
};

static void begin(struct fixture *f)
{
    struct pool *other;

    f->probe = probe_create();
    rig_init(&f->rig, 1, 0);
    other = rig_workers(&f->rig, f->probe, "other", 1, 4);
    f->pool = rig_workers(&f->rig, f->probe, "pool", 1, 4);
    f->ended[0] = other->pid;
    f->ended[1] = rig_worker(other, 0);
    CU_ASSERT_TRUE(rig_end(&f->rig, other, NULL));
}

static void finish(struct fixture *f)
{
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, NULL));
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

static weir_pid pid_of(uint32_t slot, uint32_t serial)
{
    return (weir_pid)serial << 32 | slot;
}

static bool was_handed_out(const struct fixture *f, weir_pid pid)
{
    return pid == f->pool->pid || pid == rig_worker(f->pool, 0) || pid == f->ended[0] ||
           pid == f->ended[1];
}

/* Counts the PIDs without an actor that give another status than UNKNOWN. */
static uint32_t count_known(struct fixture *f, enum weir_lane lane)
{
    uint32_t known = 0;

    for (uint32_t slot = 0; slot < STOCK_BATCH; slot++) {
        for (uint32_t serial = 0; serial <= SERIALS; serial++) {
            weir_pid pid = pid_of(slot, serial);

            if (!was_handed_out(f, pid))
                known += rig_send_lane(&f->rig, pid, lane, (struct order){ .id = 1 }) !=
                         WEIR_EUNKNOWN;
        }
    }
    return known;
}

/* promise A3 */
static void test_pid_that_nobody_had_is_unknown_in_every_lane(void)
{
    struct fixture f;

    begin(&f);
    CU_ASSERT_EQUAL(count_known(&f, WEIR_NORMAL), 0);
    CU_ASSERT_EQUAL(count_known(&f, WEIR_HIGH), 0);
    CU_ASSERT_EQUAL(count_known(&f, WEIR_URGENT), 0);
    CU_ASSERT_EQUAL(probe_count(f.probe), 0);
    finish(&f);
}

static void test_pid_of_an_ended_pool_is_terminated(void)
{
    struct fixture f;

    begin(&f);
    for (uint32_t i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(rig_send(&f.rig, f.ended[i], (struct order){ .id = 1 }), WEIR_ETERMINATED);
        CU_ASSERT_EQUAL(rig_send_lane(&f.rig, f.ended[i], WEIR_HIGH, (struct order){ .id = 1 }),
                        WEIR_ETERMINATED);
    }
    finish(&f);
}

/* A worker that sends an exit to the PID in the order's argument, and notes the status. */
static int ask_to_end(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    weir_pid pid = (weir_pid)probe_order(message)->argument;

    probe_note(probe, 100 + (uint64_t)-weir_exit(self, pid, WEIR_END_SHUTDOWN));
    probe_note(probe, 200 + (uint64_t)-weir_pool_resize(self, pid, 2, NULL));
    return WEIR_DONE;
}

/* promise A3 */
static void test_other_calls_know_no_pid_that_nobody_had(void)
{
    struct fixture f;
    weir_pid next;

    begin(&f);
    next = f.ended[0] + ((weir_pid)1 << 32);
    for (uint32_t i = 0; i < 2; i++, next += (weir_pid)1 << 32)
        CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid,
                                 (struct order){ .act = ask_to_end, .id = 1, .argument = next }),
                        0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 100 + (uint64_t)-WEIR_EUNKNOWN, 2));
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 200 + (uint64_t)-WEIR_EUNKNOWN, 2));
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "nobody had it", test_pid_that_nobody_had_is_unknown_in_every_lane },
        { "ended", test_pid_of_an_ended_pool_is_terminated },
        { "other calls", test_other_calls_know_no_pid_that_nobody_had },
        CU_TEST_INFO_NULL,
    };

    return suite_run("pid", tests);
}
