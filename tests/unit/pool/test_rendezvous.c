/* SPDX-License-Identifier: MIT */
/*
 * Goal: the search finds the same owner of a key as a walk over all members; members own equally
 * many keys; and when a member is added or removed only its keys move.
 *
 * Method: arrays of members with numbers that are dense, have gaps, or lie far apart, from fixed
 * seeds; the search is compared with a walk over all, and the owners before a change with those
 * after it.
 */
#include <stdlib.h>

#include "pool/rendezvous.h"
#include "unit/host/suite.h"

#define SETS 60u
#define KEYS 100u
#define MANY 20000u
#define MEMBERS_MAX 4096u

static uint64_t random_of(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15ull;
    return (*state ^ *state >> 29) * 0xbf58476d1ce4e5b9ull >> 20;
}

/* Of `count`, each number `step` at most above the one before; in order. */
static struct members *make(uint32_t count, uint32_t step, uint64_t *state)
{
    struct members *members = members_create(count);
    uint32_t number = 0;

    CU_ASSERT_PTR_NOT_NULL_FATAL(members);
    for (uint32_t i = 0; i < count; i++) {
        number += step > 1 ? (uint32_t)(random_of(state) % step) : 0;
        members->members[i].index = number++;
    }
    return members;
}

static struct members *without(const struct members *all, uint32_t at)
{
    struct members *members = members_create(all->count - 1);

    CU_ASSERT_PTR_NOT_NULL_FATAL(members);
    for (uint32_t i = 0; i < members->count; i++)
        members->members[i] = all->members[i < at ? i : i + 1];
    return members;
}

static uint32_t asked(const struct members *members, uint64_t key)
{
    uint64_t earliest = UINT64_MAX;
    uint32_t owner = 0;

    for (uint32_t i = 0; i < members->count; i++) {
        uint64_t time = rendezvous_time(key, members->members[i].index);

        if (time < earliest) {
            earliest = time;
            owner = i;
        }
    }
    return owner;
}

static uint32_t differences(const struct members *members, uint64_t *state)
{
    uint32_t different = 0;

    for (uint32_t i = 0; i < KEYS; i++) {
        uint64_t key = i % 2 ? i : random_of(state);

        different += rendezvous_owner(members, key) != asked(members, key);
    }
    return different;
}

/* promise P19 */
static void test_the_search_finds_whom_asking_all_would(void)
{
    static const uint32_t steps[] = { 1, 2, 3, 10, 1000, 10000000 };
    uint64_t state = 1;

    for (uint32_t i = 0; i < SETS; i++) {
        uint32_t count = 1 + (uint32_t)(random_of(&state) % 100);
        struct members *members = make(count, steps[i % 6], &state);

        CU_ASSERT_EQUAL(differences(members, &state), 0);
        members_destroy(members);
    }
}

/* How far the shares are from equal ones: chi squared for each degree of freedom, 1 by chance. */
static double unevenness(const struct members *members)
{
    uint32_t *owned = calloc(members->count, sizeof *owned);
    double each = (double)MANY / members->count;
    double sum = 0;

    CU_ASSERT_PTR_NOT_NULL_FATAL(owned);
    for (uint64_t key = 1; key <= MANY; key++)
        owned[rendezvous_owner(members, key)]++;
    for (uint32_t i = 0; i < members->count; i++)
        sum += (owned[i] - each) * (owned[i] - each) / each;
    free(owned);
    return sum / (members->count - 1);
}

/* promise P19: also with gaps between their numbers, and for keys that are numbers in a row. */
static void test_each_owns_as_many_keys_as_another(void)
{
    static const uint32_t counts[] = { 2, 3, 4, 7, 16, 23, 64, 100, 256 };
    uint64_t state = 2;

    for (uint32_t step = 1; step <= 16; step *= 4)
        for (uint32_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
            struct members *members = make(counts[i], step, &state);
            double excess = unevenness(members) - 1;

            /* Five times the random spread. */
            CU_ASSERT_TRUE(excess < 0 || excess * excess * (counts[i] - 1) < 2 * 5 * 5);
            members_destroy(members);
        }
}

/* Counts moved keys that do not belong to the member at `at`; and those that do. */
static uint32_t moved(const struct members *all, uint32_t at, uint32_t *out_own)
{
    struct members *fewer = without(all, at);
    uint32_t strays = 0;

    *out_own = 0;
    for (uint64_t key = 1; key <= KEYS * 10; key++) {
        uint32_t before = rendezvous_owner(all, key);
        uint32_t after = rendezvous_owner(fewer, key);

        if (before == at)
            ++*out_own;
        else
            strays += fewer->members[after].index != all->members[before].index;
    }
    members_destroy(fewer);
    return strays;
}

/* promise P19: read from right to left it is a member that comes. */
static void test_only_the_keys_of_who_goes_move(void)
{
    static const uint32_t steps[] = { 1, 1, 2, 40 };
    uint64_t state = 3;

    for (uint32_t i = 0; i < SETS; i++) {
        uint32_t count = 2 + (uint32_t)(random_of(&state) % 70);
        struct members *members = make(count, steps[i % 4], &state);
        /* The last member, whose number may be the only one of its block, gets an equal share. */
        uint32_t at = i % 2 ? count - 1 : (uint32_t)(random_of(&state) % count);
        uint32_t own;

        CU_ASSERT_EQUAL(moved(members, at, &own), 0);
        CU_ASSERT_TRUE(own > 0 && own < KEYS * 10 * 3 / count + 60);
        members_destroy(members);
    }
}

static void test_members_are_put_into_the_order_of_their_numbers(void)
{
    struct members *members = members_create(MEMBERS_MAX);
    uint32_t wrong = 0;

    CU_ASSERT_PTR_NOT_NULL_FATAL(members);
    for (uint32_t i = 0; i < MEMBERS_MAX; i++)
        members->members[i].index = i * 2731 % MEMBERS_MAX; /* odd: each once */
    rendezvous_sort(members);
    for (uint32_t i = 0; i < MEMBERS_MAX; i++)
        wrong += members->members[i].index != i;
    CU_ASSERT_EQUAL(wrong, 0);
    members_destroy(members);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "as asked", test_the_search_finds_whom_asking_all_would },
        { "shares", test_each_owns_as_many_keys_as_another },
        { "moves", test_only_the_keys_of_who_goes_move },
        { "order", test_members_are_put_into_the_order_of_their_numbers },
        CU_TEST_INFO_NULL,
    };

    return suite_run("rendezvous", tests);
}
