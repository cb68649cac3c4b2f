/* SPDX-License-Identifier: MIT */
/*
 * Goal: the cost of subscribing to an event, of unsubscribing and of an end does not depend on the
 * number of other subscribers; nor does that cost, or that of owning an event and of its audience,
 * depend on the number of events. Shows promise A20.
 *
 * Method: 1,000 and 4,000 subscribers of one event, and events of one actor; the work is counted.
 */
#include <stdio.h>

#include "actor/events.h"
#include "unit/growth/growth.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define OWNER 77u

/* PIDs without an actor: no message is sent to them. */
static weir_pid pid_of(uint32_t number)
{
    return ((weir_pid)1 << 40) + number;
}

static void name_event(char *name, size_t size, uint32_t number)
{
    (void)snprintf(name, size, "event-%u", number);
}

static uint64_t audience_that_leaves(uint32_t count)
{
    struct executor *executor;
    uint64_t before, cost;
    struct rig rig;

    rig_init_still(&rig, 1, 0);
    executor = runtime_enter(rig.runtime);
    before = work_done();
    for (uint32_t i = 0; i < count; i++)
        (void)events_subscribe(rig.runtime, executor, "news", pid_of(i), false);
    for (uint32_t i = count; i-- > 0;)
        if (i % 2)
            (void)events_unsubscribe(rig.runtime, executor, "news", pid_of(i));
        else
            events_forget(rig.runtime, executor, pid_of(i));
    cost = work_done() - before;
    CU_ASSERT_EQUAL(events_subscribed(rig.runtime, pid_of(0)), 0);
    runtime_leave(executor);
    rig_finish(&rig);
    return cost;
}

static void test_leaving_costs_the_same_however_many_subscribe(void)
{
    expect_even_growth(audience_that_leaves);
}

static uint64_t guests_of_many_events(uint32_t count)
{
    struct executor *executor;
    uint64_t before, cost;
    struct rig rig;
    char name[32];

    rig_init_still(&rig, 1, 0);
    executor = runtime_enter(rig.runtime);
    before = work_done();
    for (uint32_t i = 0; i < count; i++) {
        name_event(name, sizeof name, i);
        (void)events_subscribe(rig.runtime, executor, name, pid_of(i), false);
        (void)events_subscribe(rig.runtime, executor, name, pid_of(0), false);
    }
    for (uint32_t i = 1; i < count; i++)
        events_forget(rig.runtime, executor, pid_of(i));
    cost = work_done() - before;
    CU_ASSERT_EQUAL(events_subscribed(rig.runtime, pid_of(0)), count);
    events_forget(rig.runtime, executor, pid_of(0));
    runtime_leave(executor);
    rig_finish(&rig);
    return cost;
}

static void test_end_of_a_subscriber_costs_the_same_however_many_events_there_are(void)
{
    expect_even_growth(guests_of_many_events);
}

static uint64_t news_of_many_events(uint32_t count)
{
    struct executor *executor;
    uint64_t before, cost, token;
    uint32_t heard = 0, subscribers;
    struct rig rig;
    char name[32];

    rig_init_still(&rig, 1, 0);
    executor = runtime_enter(rig.runtime);
    before = work_done();
    for (uint32_t i = 0; i < count; i++) {
        name_event(name, sizeof name, i);
        (void)events_register(rig.runtime, executor, name, OWNER, &token);
        (void)events_subscribe(rig.runtime, executor, name, pid_of(0), false);
    }
    while (events_news(rig.runtime, OWNER, &token, &subscribers))
        heard += subscribers;
    cost = work_done() - before;
    CU_ASSERT_EQUAL(heard, count);
    events_forget(rig.runtime, executor, OWNER);
    events_forget(rig.runtime, executor, pid_of(0));
    runtime_leave(executor);
    rig_finish(&rig);
    return cost;
}

static void test_news_of_one_event_cost_the_same_however_many_its_owner_has(void)
{
    expect_even_growth(news_of_many_events);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "audience", test_leaving_costs_the_same_however_many_subscribe },
        { "many events", test_end_of_a_subscriber_costs_the_same_however_many_events_there_are },
        { "news", test_news_of_one_event_cost_the_same_however_many_its_owner_has },
        CU_TEST_INFO_NULL,
    };

    return suite_run("growth of events", tests);
}
