/* SPDX-License-Identifier: MIT */
/*
 * Goal: a holder is notified when its worker fails, the log names a holder that failed, and holders
 * that wait for each other are seen, and ended by the time-out of their leases.
 *
 * Method: the pool and the holders of lease_rig.h; the log is read.
 */
#include <pthread.h>
#include <string.h>

#include "face/lease_figures.h"
#include "unit/host/suite.h"
#include "unit/pool/lease_rig.h"

#define NOTE_DOWN 9000u

static int note_down(struct weir_self *self, struct probe *probe,
                     const struct weir_message *message)
{
    (void)self;
    (void)message;
    probe_note(probe, NOTE_DOWN);
    return WEIR_DONE;
}

static int watch_member(struct weir_self *self, struct probe *probe,
                        const struct weir_message *message)
{
    struct fixture *f = probe->context;
    struct slot *slot = &f->slots[probe_order(message)->argument % SLOTS];

    atomic_store(&slot->result, weir_monitor(self, slot->lease.member, NULL));
    return WEIR_DONE;
}

/* promise P35 */
static void test_holder_that_monitors_its_worker_is_notified_when_it_fails(void)
{
    struct fixture f;

    begin(&f, 1, 1);
    f.user->tied = note_down;
    CU_ASSERT_TRUE(takes(&f, 0));
    CU_ASSERT_EQUAL(result(&f, 0, watch_member), 0);
    CU_ASSERT_EQUAL(result(&f, 0, use_and_break), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.user, NOTE_DOWN, 1));
    CU_ASSERT_EQUAL(result(&f, 0, return_done), WEIR_EUNKNOWN);
    CU_ASSERT_TRUE(counts(&f, &f.member->opened, 2));
    finish(&f);
}

static int use_and_break_at_the_gate(struct weir_self *self, struct probe *probe,
                                     const struct weir_message *message)
{
    return send_under(self, probe, message, probe_wait_and_fail);
}

/* promise P32: what waits behind the message with which the worker fails is not handled. */
static void test_request_under_a_lease_is_answered_when_the_worker_fails(void)
{
    struct fixture f;

    begin(&f, 1, 1);
    CU_ASSERT_TRUE(takes(&f, 0));
    CU_ASSERT_EQUAL(result(&f, 0, use_and_break_at_the_gate), 0);
    CU_ASSERT_TRUE(gate_await(&f.member->gate, 1));
    CU_ASSERT_EQUAL(result(&f, 0, ask), 0);
    gate_open(&f.member->gate);
    CU_ASSERT_TRUE(is_equal(&f, &f.slots[0].reply, WEIR_ENOTALLOWED));
    CU_ASSERT_TRUE(counts(&f, &f.member->opened, 2));
    finish(&f);
}

static bool waits(struct fixture *f, weir_pid first, weir_pid second)
{
    weir_pid takers[SLOTS];

    return pool_list_takers(f->pool, takers, SLOTS) == 2 && takers[0] == first &&
           takers[1] == second;
}

static bool hold(struct fixture *f, weir_pid first, weir_pid second)
{
    struct pool_lease leases[SLOTS];
    uint32_t count = pool_list_leases(f->pool, leases, SLOTS);

    return count == 2 && ((leases[0].holder == first && leases[1].holder == second) ||
                          (leases[0].holder == second && leases[1].holder == first));
}

/* promise P35 */
static void test_holders_that_wait_for_each_other_are_seen_and_ended_by_the_time_out(void)
{
    weir_pid first, second;
    struct fixture f;

    begin(&f, 2, 2);
    first = rig_worker(f.users, 0);
    second = rig_worker(f.users, 1);
    CU_ASSERT_TRUE(takes(&f, 0));
    CU_ASSERT_TRUE(takes(&f, 1));
    act_of(&f, 0, take, 2);
    CU_ASSERT_TRUE(queued(&f, 1));
    act_of(&f, 1, take, 3);
    CU_ASSERT_TRUE(queued(&f, 2));
    CU_ASSERT_TRUE(waits(&f, first, second));
    CU_ASSERT_TRUE(hold(&f, first, second));
    rig_advance(&f.rig, LEASE_MS);
    CU_ASSERT_TRUE(answered(&f, 2, 0));
    CU_ASSERT_TRUE(answered(&f, 3, 0));
    CU_ASSERT_TRUE(counts(&f, &f.member->opened, 4));
    finish(&f);
}

/* What the log says of the last lease that was revoked. */
struct logged {
    pthread_mutex_t lock;
    char reason[32];          /* lock */
    char holder[32];          /* lock */
    uint64_t age_ms;          /* lock */
    _Atomic uint32_t revoked; /* lines */
};

static void copy_text(char *to, size_t size, const struct weir_field *field, const char *key)
{
    if (strcmp(field->key, key) == 0)
        (void)snprintf(to, size, "%s", field->value.string);
}

static void keep_line(void *context, const struct log_line *line)
{
    struct logged *logged = context;

    if (strcmp(line->event, "lease is revoked") != 0)
        return;
    pthread_mutex_lock(&logged->lock);
    for (const struct weir_field *field = line->fields; field->key; field++) {
        copy_text(logged->reason, sizeof logged->reason, field, "reason");
        copy_text(logged->holder, sizeof logged->holder, field, "holder");
        if (strcmp(field->key, "age_ms") == 0)
            logged->age_ms = field->value.natural;
    }
    pthread_mutex_unlock(&logged->lock);
    atomic_fetch_add(&logged->revoked, 1);
}

/* promise P35 */
static void test_log_names_the_holder_that_failed_and_the_age_of_its_lease(void)
{
    struct logged logged = { .lock = PTHREAD_MUTEX_INITIALIZER };
    struct fixture f;

    begin(&f, 1, 1);
    f.rig.runtime->options.log = (struct log_sink){ .write = keep_line, .context = &logged };
    CU_ASSERT_TRUE(takes(&f, 0));
    rig_advance(&f.rig, LEASE_MS / 2);
    act(&f, 0, probe_fail);
    CU_ASSERT_TRUE(counts(&f, &logged.revoked, 1));
    pthread_mutex_lock(&logged.lock);
    CU_ASSERT_STRING_EQUAL(logged.reason, "its holder failed");
    CU_ASSERT_STRING_EQUAL(logged.holder, "users#0");
    CU_ASSERT_EQUAL(logged.age_ms, LEASE_MS / 2);
    pthread_mutex_unlock(&logged.lock);
    CU_ASSERT_TRUE(counts(&f, &f.member->opened, 2));
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "logged", test_holder_that_monitors_its_worker_is_notified_when_it_fails },
        { "answered", test_request_under_a_lease_is_answered_when_the_worker_fails },
        { "log", test_log_names_the_holder_that_failed_and_the_age_of_its_lease },
        { "deadlock", test_holders_that_wait_for_each_other_are_seen_and_ended_by_the_time_out },
        CU_TEST_INFO_NULL,
    };

    return suite_run("lease_holders", tests);
}
