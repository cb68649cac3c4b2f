/* SPDX-License-Identifier: MIT */
/* What is seen of the group of lease_subject.h at rest. */
#include <stdio.h>

#include "actor/external_await.h"
#include "face/leases.h"
#include "face/messages.h"
#include "linear/lease_subject.h"
#include "linear/lease_workers.h"
#include "pool/figures.h"

/* The program's takers fetch their answers. */
static void fetch(struct lease_subject *subject, struct lease_taker_slot *taker)
{
    struct runtime *runtime = subject->options.runtime;
    struct weir_answer answer = WEIR_ANSWER;
    int status;

    if (taker->worker || atomic_load(&taker->answer) != LEASE_NO_ANSWER ||
        !external_requests_is_answered(runtime->external_requests, taker->reference))
        return;
    status = runtime_await(runtime, taker->reference, &answer);
    if (status == 0) {
        lease_taker_served(subject, NULL, taker, answer.message->data);
        runtime_message_free(runtime, answer.message);
    }
    atomic_store(&taker->answer, status);
}

/* The lease of the token; false: it is over. `out_due`: its time has passed. */
static bool is_open(struct lease_subject *subject, uint32_t pool, uint64_t token, bool *out_due)
{
    struct leases *leases = &subject->pools[pool]->leases;
    uint64_t now_ns = clock_now_ns(&subject->options.runtime->options.clock);
    bool open = false;

    lock_acquire(&leases->lock);
    for (uint32_t i = 0; i < leases->count; i++) {
        const struct lease *lease = leases->entries[i];

        if (lease && lease->open && lease->token == token) {
            open = true;
            *out_due |= lease->due_ns <= now_ns;
        }
    }
    lock_release(&leases->lock);
    return open;
}

static bool is_leaving(struct pool *pool, weir_pid worker)
{
    struct weir_member members[64];
    uint32_t count = pool_members(pool, members, sizeof members[0], 64);

    for (uint32_t i = 0; i < count && i < 64; i++)
        if (members[i].pid == worker)
            return members[i].state == WEIR_MEMBER_RETIRING;
    return false;
}

/* The taker has not heard yet that its take has timed out. */
static bool is_late(struct lease_subject *subject, const struct lease_taker_slot *taker)
{
    return taker->due_ns != 0 &&
           taker->due_ns <= clock_now_ns(&subject->options.runtime->options.clock);
}

/* The target of a take that waits is known from the round that began it. */
static struct lease_slot look_at_taker(struct lease_subject *subject, uint32_t slot, bool *out_due)
{
    const struct lease_taker_slot *taker = &subject->takers[slot];
    int answer = atomic_load(&taker->answer);

    if (answer == LEASE_NO_ANSWER && !atomic_load(&taker->is_gone)) {
        uint8_t target = subject->seen.slots[slot].pool;

        for (uint32_t i = 0; i < subject->wishes.count; i++)
            if (subject->wishes.acts[i].kind == LEASE_TAKE && subject->wishes.acts[i].slot == slot)
                target = subject->wishes.acts[i].pool;
        *out_due |= is_late(subject, taker);
        return (struct lease_slot){ LEASE_WAITS, target, 0 };
    }
    for (uint8_t pool = 0; answer == 0 && pool < LEASE_POOLS; pool++)
        if (taker->lease.pool == subject->pools[pool]->pid &&
            is_open(subject, pool, taker->lease.token, out_due))
            return (struct lease_slot){ LEASE_HOLDS, pool,
                                        is_leaving(subject->pools[pool], taker->lease.member) };
    return (struct lease_slot){ LEASE_IDLE, 0, 0 };
}

/* No worker is between two states, and each has at most one holder. */
static bool is_settled(struct lease_subject *subject, const struct lease_state *seen)
{
    for (uint8_t i = 0; i < LEASE_POOLS; i++) {
        struct weir_pool_stats stats = { .size = sizeof stats };
        uint32_t staying = 0, leaving = 0;

        for (uint32_t slot = 0; slot < LEASE_SLOTS; slot++) {
            bool holds = seen->slots[slot].state == LEASE_HOLDS && seen->slots[slot].pool == i;

            staying += holds && !seen->slots[slot].leaves;
            leaving += holds && seen->slots[slot].leaves;
        }
        pool_stats(subject->pools[i], &stats);
        if (stats.starting > 0 || stats.live != staying + seen->free[i] ||
            stats.retiring != leaving || stats.busy != staying)
            return false;
    }
    return true;
}

/* False: something goes on. */
static bool look(struct lease_subject *subject, struct lease_state *out)
{
    bool is_due = false;

    *out = (struct lease_state){ 0 };
    if (atomic_load(&subject->done) != subject->wishes.count || !lease_takers_are_open(subject))
        return false;
    for (uint32_t slot = 0; slot < LEASE_SLOTS; slot++) {
        fetch(subject, &subject->takers[slot]);
        out->slots[slot] = look_at_taker(subject, slot, &is_due);
    }
    for (uint32_t i = 0; i < LEASE_POOLS; i++)
        out->free[i] = lease_count_free(subject->pools[i]);
    return !is_due && is_settled(subject, out);
}

/* --- the round -------------------------------------------------------------------------------- */

/* The acts with their results; where the time has passed, each lease may have expired. */
static void note_results(struct lease_subject *subject)
{
    struct lease_round *round = &subject->round;

    *round = subject->wishes;
    round->wakes_free = subject->lets_expire || subject->options.late_timers;
    for (uint32_t i = 0; i < round->count; i++)
        round->wakes_free |= round->acts[i].kind == LEASE_RESIZE;
    for (uint32_t i = 0; i < round->count; i++)
        if (round->acts[i].kind != LEASE_RESIZE && round->acts[i].kind != LEASE_EXPIRE)
            round->acts[i].status = atomic_load(&subject->takers[round->acts[i].slot].status);
    for (uint8_t slot = 1; subject->lets_expire && slot < LEASE_SLOTS; slot++)
        round->acts[round->count++] = (struct lease_act){ .kind = LEASE_EXPIRE, .slot = slot };
    for (uint32_t i = 0; i < round->count; i++)
        if (round->acts[i].kind == LEASE_EXPIRE)
            round->acts[i].size = subject->takers[round->acts[i].slot].due_ns != 0;
}

/* So that a test sees that each case occurs. */
static void count_results(struct lease_subject *subject, const struct lease_state *after)
{
    for (uint32_t i = 0; i < subject->round.count; i++) {
        const struct lease_act *act = &subject->round.acts[i];

        subject->full += act->kind == LEASE_TAKE && act->status == WEIR_EFULL;
        subject->late += act->kind == LEASE_END && act->status != 0;
    }
    subject->served = (uint32_t)atomic_load(&subject->uses);
    for (uint32_t slot = 0; subject->lets_expire && slot < LEASE_SLOTS; slot++)
        subject->timed_out += subject->seen.slots[slot].state == LEASE_WAITS &&
                              atomic_load(&subject->takers[slot].answer) == WEIR_ETIMEOUT;
    for (uint32_t slot = 0; subject->lets_expire && slot < LEASE_SLOTS; slot++)
        subject->expired += subject->seen.slots[slot].state == LEASE_HOLDS &&
                            after->slots[slot].state != LEASE_HOLDS;
}

bool lease_subject_is_explained(struct lease_subject *subject)
{
    struct lease_state after;

    if (!look(subject, &after))
        return false;
    note_results(subject);
    if (!lease_round_explain(&subject->round, &subject->possible, &after, &subject->possible))
        return false;
    count_results(subject, &after);
    subject->seen = after;
    return true;
}

void lease_subject_print(struct lease_subject *subject)
{
    struct lease_state after;

    note_results(subject);
    (void)fprintf(stderr, "queue %u; one of these states:\n", subject->wishes.queue);
    for (uint32_t i = 0; i < subject->possible.count; i++)
        lease_state_print(&subject->possible.states[i]);
    lease_round_print(&subject->round);
    (void)fprintf(stderr, "%s:\n", look(subject, &after) ? "at rest" : "not at rest");
    lease_state_print(&after);
}
