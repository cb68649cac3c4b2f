/* SPDX-License-Identifier: MIT */
/*
 * Goal: fields that different threads write, or that many threads read for each message, stand on
 * cache lines of their own: a thread that writes one group takes no line away from the users of
 * another.
 *
 * Method: for each struct, its groups in the order of their offsets. The last byte of a group lies
 * on a line before the first byte of the next one. The table of docs/benchmarks.md says who writes
 * them, and how often. test_dispatcher.c does the same for the dispatcher.
 */
#include <stddef.h>

#include "unit/host/suite.h"

#include "actor/children.h"
#include "actor/group.h"
#include "actor/runtime.h"
#include "actor/spec.h"
#include "dispatch/layout.h"
#include "pool/pool.h"

#define LINE 64u

struct group_of_fields {
    size_t begin;
    size_t end; /* behind its last byte */
};

/* From the first to the last field of a group. */
#define FIELDS(type, first, last)                                                                  \
    {                                                                                              \
        offsetof(struct type, first),                                                              \
            offsetof(struct type, last) + sizeof(((struct type *)NULL)->last)                      \
    }
#define FIELD(type, field) FIELDS(type, field, field)

#define ARE_APART(groups) are_apart(groups, sizeof(groups) / sizeof *(groups))

static bool are_apart(const struct group_of_fields *groups, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if ((groups[i - 1].end - 1) / LINE >= groups[i].begin / LINE)
            return false;
    return true;
}

static size_t lines_of(struct group_of_fields group)
{
    return (group.end - 1) / LINE - group.begin / LINE + 1;
}

/* A group with one lock: only builds with checks store its rank. */
static struct group_of_fields without_rank(struct group_of_fields group)
{
    group.end -= sizeof(struct lock) - sizeof(pthread_mutex_t);
    return group;
}

static void test_lines_of_a_mailbox_and_an_actor(void)
{
    const struct group_of_fields groups[] = {
        FIELDS(actor, mailbox.word, mailbox.lanes), /* senders */
        FIELDS(actor, mailbox.first, current),      /* the owner */
        FIELDS(actor, self, pid),                   /* const */
        FIELDS(actor, ledger, room_queue),          /* the owner */
    };

    CU_ASSERT_EQUAL(alignof(struct actor), LINE);
    CU_ASSERT_TRUE(ARE_APART(groups));
    CU_ASSERT_EQUAL(lines_of(groups[0]), 1);
    CU_ASSERT_EQUAL(lines_of(groups[1]), 1);
    CU_ASSERT_EQUAL(lines_of(groups[2]), 1);
}

static void test_lines_of_a_pool(void)
{
    const struct group_of_fields groups[] = {
        FIELDS(pool, runtime, flags),           /* const: what senders read for each message */
        FIELD(pool, owner),                     /* the full mark */
        FIELD(pool, waiters),                   /* senders that wait */
        FIELDS(pool, pull.lock, pull.sleeping), /* the shared queue */
        FIELD(pool, leases.lock),               /* takers */
        FIELD(pool, load),                      /* senders that compare it with other pools */
        FIELD(pool, refused),                   /* refused senders */
        FIELDS(pool, lock, places),             /* changes of the pool */
    };

    CU_ASSERT_EQUAL(alignof(struct pool), LINE);
    CU_ASSERT_TRUE(ARE_APART(groups));
    CU_ASSERT_EQUAL(lines_of(groups[0]), 1);
    CU_ASSERT_EQUAL(lines_of(groups[1]), 1);
    CU_ASSERT_EQUAL(lines_of(without_rank(groups[2])), 1);
    CU_ASSERT_EQUAL(sizeof(struct counter), COUNTER_SHARDS * LINE);
}

static void test_lines_of_a_group(void)
{
    const struct group_of_fields groups[] = {
        FIELDS(group, runtime, bits),  /* seldom */
        FIELDS(group, joined, parted), /* those who send */
        FIELDS(group, ended, ends),    /* those who end messages */
    };

    CU_ASSERT_EQUAL(alignof(struct group), LINE);
    CU_ASSERT_TRUE(ARE_APART(groups));
}

static void test_lines_of_shared_definitions(void)
{
    const struct group_of_fields spec[] = { FIELDS(spec, behaviour, owner),
                                            FIELD(spec, references) };
    const struct group_of_fields children[] = { FIELDS(children, lock, parent_pid),
                                                FIELD(children, used) };

    CU_ASSERT_TRUE(ARE_APART(spec));
    CU_ASSERT_TRUE(ARE_APART(children));
}

static void test_lines_of_a_thread(void)
{
    const struct group_of_fields groups[] = {
        FIELDS(executor, dispatcher, left),            /* const, or a resize */
        FIELDS(executor, reader, cache.parcels_used),  /* the owner, as what follows */
        FIELD(executor, cache.returned),               /* threads that return its messages */
        FIELDS(executor, slots, noted),                /* the owner */
        FIELDS(executor, turns, pace),                 /* the owner, in each turn */
        FIELDS(executor, pressed_beat, parks),         /* seldom: the owner, and thieves */
        FIELD(executor, token),                        /* those who wake it */
        FIELD(executor, ring.mask),                    /* const */
        FIELD(executor, ring.head),                    /* the owner, and thieves */
        FIELDS(executor, ring.tail, ring.slots),       /* the owner */
        FIELD(executor, spawned.head),                 /* thieves */
        FIELDS(executor, spawned.tail, spawned.slots), /* the owner */
    };

    CU_ASSERT_EQUAL(alignof(struct executor), LINE);
    CU_ASSERT_TRUE(ARE_APART(groups));
}

static void test_lines_of_message_memory(void)
{
    const struct group_of_fields memory[] = {
        FIELDS(memory, limit, batch),      /* a reload */
        FIELDS(memory, taken, references), /* a batch of bytes, a blob */
    };

    CU_ASSERT_EQUAL(alignof(struct memory), LINE);
    CU_ASSERT_TRUE(ARE_APART(memory));
    CU_ASSERT_EQUAL(offsetof(struct message, reference), LINE);
    CU_ASSERT_EQUAL(SLAB_BLOCK % LINE, 0);
}

static void test_lines_of_the_runtime(void)
{
    const struct group_of_fields reclaim[] = {
        FIELD(reclaim, epoch),             /* once in a grace period; read in each turn */
        FIELDS(reclaim, lock, has_orphans) /* polls with objects */
    };
    const struct group_of_fields slots[] = {
        FIELD(slots, chunks),     /* const; read for each message */
        FIELDS(slots, free, used) /* a batch of births or ends */
    };
    const struct group_of_fields runtime[] = {
        FIELDS(runtime, options, timekeeper),       /* const */
        FIELD(runtime, reclaim),                    /* see above */
        FIELD(runtime, slots),                      /* see above */
        FIELDS(runtime, names, tags),               /* seldom */
        FIELD(runtime, given_up),                   /* requests that are given up */
        FIELDS(runtime, groups, polls),             /* seldom */
        FIELDS(runtime, dispatchers, entry_count),  /* seldom */
        FIELD(runtime, holds),                      /* calls of ports */
        FIELDS(runtime, late_replies, opens_apart), /* seldom */
        FIELDS(runtime, notice_lock, notice_count), /* what a thread waits for */
    };

    CU_ASSERT_TRUE(ARE_APART(reclaim));
    CU_ASSERT_TRUE(ARE_APART(slots));
    CU_ASSERT_TRUE(ARE_APART(runtime));
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "actor", test_lines_of_a_mailbox_and_an_actor },
        { "pool", test_lines_of_a_pool },
        { "group", test_lines_of_a_group },
        { "definitions", test_lines_of_shared_definitions },
        { "thread", test_lines_of_a_thread },
        { "memory", test_lines_of_message_memory },
        { "runtime", test_lines_of_the_runtime },
        CU_TEST_INFO_NULL,
    };

    return suite_run("lines", tests);
}
