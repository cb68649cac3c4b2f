/* SPDX-License-Identifier: MIT */
/*
 * Goal: the cost of taking, finding, showing and releasing a name does not depend on the number of
 * other names, nor on the number of names of the actor. Shows promise A20.
 *
 * Method: 1,000 and 4,000 names of one actor each, or all of one; the work is counted.
 */
#include <stdio.h>

#include "actor/names.h"
#include "unit/growth/growth.h"
#include "unit/host/suite.h"

#include <weir/status.h>

struct fixture {
    struct reclaim reclaim;
    struct reader reader;
    struct names names;
};

static void begin(struct fixture *f)
{
    reclaim_init(&f->reclaim);
    CU_ASSERT_EQUAL(reader_init(&f->reader, &f->reclaim), 0);
    reader_online(&f->reader);
    names_init(&f->names);
}

static void finish(struct fixture *f)
{
    while (reader_poll(&f->reader))
        ;
    reader_finish(&f->reader);
    names_finish(&f->names);
    reclaim_finish(&f->reclaim);
}

/* Claims a name for each of `count` numbers; how many of them are found when all are shown. */
static uint32_t claim_all(struct fixture *f, uint32_t count, weir_pid (*pid_of)(uint32_t number))
{
    uint32_t found = 0;
    char name[32];
    weir_pid pid;

    for (uint32_t i = 0; i < count; i++) {
        (void)snprintf(name, sizeof name, "child-%u", i);
        (void)names_claim(&f->names, name, pid_of(i), false, &f->reader);
    }
    for (uint32_t i = 0; i < count; i++)
        if (i == 0 || pid_of(i) != pid_of(0))
            names_publish(&f->names, pid_of(i));
    for (uint32_t i = 0; i < count; i++) {
        (void)snprintf(name, sizeof name, "child-%u", i);
        found += names_find(&f->names, name, &pid) == 0;
    }
    return found;
}

static weir_pid own_pid(uint32_t number)
{
    return ((weir_pid)1 << 32) + number;
}

static weir_pid same_pid(uint32_t number)
{
    (void)number;
    return 7;
}

static uint64_t names_of_many(uint32_t count)
{
    static struct fixture f;
    uint64_t before, cost;
    uint32_t found;

    begin(&f);
    before = work_done();
    found = claim_all(&f, count, own_pid);
    for (uint32_t i = count; i-- > 0;)
        names_remove_claims(&f.names, own_pid(i), &f.reader);
    cost = work_done() - before;
    CU_ASSERT_EQUAL(found, count);
    finish(&f);
    return cost;
}

static void test_name_costs_the_same_however_many_others_have_one(void)
{
    expect_even_growth(names_of_many);
}

static uint64_t names_of_one(uint32_t count)
{
    static struct fixture f;
    uint64_t before, cost;
    uint32_t found;
    char name[32], next[32];

    begin(&f);
    before = work_done();
    found = claim_all(&f, count, same_pid);
    for (uint32_t i = 0; i < count; i++) {
        (void)snprintf(name, sizeof name, "child-%u", i);
        (void)snprintf(next, sizeof next, "other-%u", i);
        found += names_rename(&f.names, name, next, same_pid(i), &f.reader) == 0;
    }
    names_remove_claims(&f.names, same_pid(0), &f.reader);
    cost = work_done() - before;
    CU_ASSERT_EQUAL(found, 2 * count);
    finish(&f);
    return cost;
}

static void test_name_costs_the_same_however_many_its_actor_has(void)
{
    expect_even_growth(names_of_one);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "of many", test_name_costs_the_same_however_many_others_have_one },
        { "of one", test_name_costs_the_same_however_many_its_actor_has },
        CU_TEST_INFO_NULL,
    };

    return suite_run("growth of names", tests);
}
