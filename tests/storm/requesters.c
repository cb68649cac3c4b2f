/* SPDX-License-Identifier: MIT */
/* Outside threads that send requests: see weir_runtime_request, _await and _cancel. */
#include <stdlib.h>
#include <string.h>

#include "actor/external_await.h"
#include "actor/external_request.h"
#include "storm/world.h"

#define QUESTIONS_MAX 4u /* open at a time, of each */
/* the answer must come; the simulation's clock would reach any time-out first */
#define LONG_MS UINT64_MAX

enum timeout { TIMEOUT_LONG, TIMEOUT_SHORT, TIMEOUT_NONE, TIMEOUTS };

struct question {
    uint64_t id;
    uint64_t reference;
    uint64_t asked_ns;
    enum timeout timeout;
};

static uint32_t draw(struct agent *agent, uint32_t bound)
{
    agent->random = agent->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(agent->random >> 33) % bound;
}

static struct executor *enter(struct world *world)
{
    struct executor *executor = runtime_enter(world->runtime);

    if (!executor)
        abort();
    return executor;
}

static uint64_t now_ns(void)
{
    struct clock clock = clock_monotonic();

    return clock_now_ns(&clock);
}

/* Mostly an answerer; the others let it answer for them, or forward the request, or keep it. */
static weir_pid target_of(struct agent *agent)
{
    static const enum hall_name others[] = { HALL_BACK, HALL_KEYED, HALL_PULL, HALL_LINE };
    struct world *world = agent->world;
    uint32_t drawn = draw(agent, 16);

    if (drawn < 9)
        return world->halls[HALL_ANSWER].pid;
    if (drawn < 12)
        return world->front;
    return world->halls[others[drawn % 4]].pid;
}

static struct message *message_for(struct executor *executor, uint64_t id)
{
    struct message *message = message_create(&executor->cache, NULL, sizeof(struct parcel));
    struct parcel parcel = { .id = id, .sender = UINT32_MAX };

    if (!message)
        abort();
    memcpy(message->public.data, &parcel, sizeof parcel);
    message->public.key = id + 1;
    return message;
}

/* False: it was refused, or there are no more tickets. */
static bool ask(struct agent *agent, struct question *question)
{
    struct world *world = agent->world;
    struct external_request_options options = { .to = target_of(agent), .lane = WEIR_NORMAL };
    struct executor *executor;
    struct message *message;
    int status;

    question->id = world_ticket(world);
    if (question->id == UINT64_MAX)
        return false;
    question->timeout = (enum timeout)draw(agent, TIMEOUTS);
    options.timeout_ms = question->timeout == TIMEOUT_SHORT ? world->options.short_ms : LONG_MS;
    executor = enter(world);
    message = message_for(executor, question->id);
    atomic_fetch_add(&world->tickets[question->id].accepted, 1);
    question->asked_ns = now_ns();
    status = external_request_send(world->runtime, executor, &options, message,
                                   &question->reference);
    if (status != 0) {
        message_destroy(&executor->cache, message);
        atomic_fetch_sub(&world->tickets[question->id].accepted, 1);
        atomic_fetch_add(&world->refused, status == WEIR_EFULL);
    } else {
        atomic_fetch_add(&world->tickets[question->id].asked, 1);
        atomic_fetch_add(&world->asked, 1);
    }
    runtime_leave(executor);
    return status == 0;
}

/* --- answers -------------------------------------------------------------------------------- */

/* The reference of this request and of no other. */
static void take_reply(struct world *world, const struct question *question, struct message *reply)
{
    struct executor *executor = enter(world);
    uint64_t id = UINT64_MAX;

    if (reply->public.size == sizeof id)
        memcpy(&id, reply->public.data, sizeof id);
    world_expect(world, id == question->id, "the answer to another question", question->id);
    message_destroy(&executor->cache, reply);
    runtime_leave(executor);
}

static void expect_time_out(struct world *world, const struct question *question)
{
    uint64_t waited_ns = now_ns() - question->asked_ns;

    world_expect(world, question->timeout == TIMEOUT_SHORT, "no answer came", question->id);
    world_expect(world, waited_ns >= (uint64_t)world->options.short_ms * 1000000u,
                 "a time-out is early", waited_ns);
}

static enum world_answer await(struct world *world, const struct question *question)
{
    struct external_request_answer answer;
    bool is_over;
    int status;

    if (!world->options.blocks && question->timeout == TIMEOUT_LONG)
        while (
            !external_requests_is_answered(world->runtime->external_requests, question->reference))
            world->options.wait(world->options.context);
    status = external_requests_await(world->runtime->external_requests, question->reference,
                                     &answer);
    is_over = status == WEIR_ETIMEOUT || status == WEIR_ERUNNING;
    world_expect(world, (status == 0) == (answer.reply != NULL), "a reply, or a reason",
                 question->id);
    if (answer.reply)
        take_reply(world, question, answer.reply);
    if (is_over)
        expect_time_out(world, question);
    world_expect(world, status != WEIR_EUNKNOWN && status != WEIR_ECLOSED, "it is not open",
                 question->id);
    if (status == 0)
        return WORLD_REPLIED;
    return is_over ? WORLD_TIMED_OUT : WORLD_FAILED;
}

static enum world_answer cancel(struct world *world, const struct question *question)
{
    struct external_request_answer answer = { 0 };
    int status = external_requests_cancel(world->runtime->external_requests, question->reference,
                                          &answer);

    world_expect(world, status == 0 || status == WEIR_ERUNNING, "it cannot be given up",
                 question->id);
    if (answer.reply)
        take_reply(world, question, answer.reply);
    return WORLD_CANCELLED;
}

/* One answer, and no second one. */
static void conclude(struct world *world, const struct question *question)
{
    struct external_request_answer answer;
    enum world_answer what = question->timeout == TIMEOUT_NONE ? cancel(world, question)
                                                               : await(world, question);

    atomic_fetch_add(&world->answers[what], 1);
    atomic_fetch_add(&world->tickets[question->id].answered, 1);
    world_expect(world,
                 external_requests_await(world->runtime->external_requests, question->reference,
                                         &answer) == WEIR_EUNKNOWN,
                 "a second answer", question->id);
}

/* Several requests at once, whose answers are fetched in any order. */
void agents_request(struct agent *agent)
{
    struct question questions[QUESTIONS_MAX];
    uint32_t count = 0;

    for (uint32_t i = 1 + draw(agent, QUESTIONS_MAX); i > 0; i--) {
        count += ask(agent, &questions[count]);
        agent->world->options.step_aside(agent->world->options.context);
    }
    while (count > 0) {
        uint32_t which = draw(agent, count--);

        conclude(agent->world, &questions[which]);
        questions[which] = questions[count];
    }
}
