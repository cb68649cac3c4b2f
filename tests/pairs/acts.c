/* SPDX-License-Identifier: MIT */
/* What threads outside do about a feature: rows.h. */
#include <stdio.h>
#include <stdlib.h>

#include "pairs/rows.h"

#define USES_MAX 3u
#define TASKS 8u

/* --- leases ----------------------------------------------------------------------------------- */

static struct weir_message *piece_of(struct agent *agent, struct parcel *parcel)
{
    struct world *world = agent->world;

    parcel->ticket = ticket_new(world, NO_TICKET);
    return parcel->ticket == NO_TICKET ? NULL : parcel_outside(world, parcel);
}

static void refuse(struct world *world, const struct parcel *parcel, struct weir_message *message)
{
    ticket_refuse(world, parcel->ticket);
    weir_runtime_message_free(world->runtime, message);
}

static void expect_reply(struct world *world, const struct parcel *parcel,
                         const struct weir_answer *answer, int status)
{
    if (status == 0)
        world_expect(world, parcel_of(answer->message)->ticket == parcel->ticket,
                     "the reply to another request", parcel->ticket);
    else
        world_expect(world, status != WEIR_ETIMEOUT && status != WEIR_ERUNNING, "a request stands",
                     parcel->ticket);
    weir_runtime_message_free(world->runtime, answer->message);
}

static void use_once(struct agent *agent, const struct weir_lease *lease, uint32_t use)
{
    struct world *world = agent->world;
    struct parcel parcel = { .deed = deed_any(world, agent_draw(agent, 4)), .use = use };
    struct weir_message *message = piece_of(agent, &parcel);
    struct weir_answer answer = WEIR_ANSWER;
    uint64_t reference;
    int status;

    if (!message)
        return;
    ticket_send(world, parcel.ticket, lease->member);
    if (agent_draw(agent, 3) == 0) {
        status = weir_runtime_lease_send(world->runtime, lease, message);
    } else {
        status = weir_runtime_lease_request(world->runtime, lease, message, LONG_MS, &reference);
        if (status == 0)
            expect_reply(world, &parcel, &answer,
                         weir_runtime_await(world->runtime, reference, &answer));
    }
    if (status != 0)
        refuse(world, &parcel, message);
}

/* A pool that was paused before the take, and is still, gives none. */
static void expect_not_paused(struct world *world, const struct weir_lease *lease,
                              const uint32_t *pauses)
{
    for (uint32_t i = 0; i < world->leaf_count; i++)
        world_expect(world,
                     lease->pool != world->leaves[i] || pauses[i] % 2 == 0 ||
                         pauses[i] != atomic_load(&world->pauses[i]),
                     "a paused pool has given a lease", i);
}

void act_take(struct agent *agent)
{
    static const uint64_t timeouts[] = { 0, 1, LONG_MS, LONG_MS };
    struct world *world = agent->world;
    uint64_t timeout_ms = timeouts[agent_draw(agent, 4)];
    uint32_t pauses[LEAVES_MAX], use;
    struct weir_lease lease;
    int status;

    for (uint32_t i = 0; i < LEAVES_MAX; i++)
        pauses[i] = atomic_load(&world->pauses[i]);
    status = weir_runtime_take(world->runtime, world->main, timeout_ms, &lease);
    world_expect(world, status != WEIR_ETIMEOUT || timeout_ms < LONG_MS || world->plan.may_stop,
                 "a take stands", (int64_t)timeout_ms);
    if (status != 0)
        return;
    world_count(world, agent->index);
    expect_not_paused(world, &lease, pauses);
    use = atomic_fetch_add(&world->uses, 1) + 1;
    for (uint32_t count = agent_draw(agent, USES_MAX + 1); count > 0; count--)
        use_once(agent, &lease, use);
    if (agent_draw(agent, 8) == 0)
        (void)weir_runtime_lease_renew(world->runtime, &lease);
    if (agent_draw(agent, 8) == 0 && !world->plan.leases_last) /* it is forgotten */
        return;
    (void)weir_runtime_return(world->runtime, &lease, agent_draw(agent, 8) ? WEIR_DONE : WEIR_FAIL);
    world_expect(world, weir_runtime_return(world->runtime, &lease, WEIR_DONE) == WEIR_EUNKNOWN,
                 "a lease is returned twice", use);
}

/* --- requests --------------------------------------------------------------------------------- */

/* Its time-out may end it, or it is given up: then its message may end as it likes. */
static void ask_in_vain(struct agent *agent, uint64_t reference)
{
    struct weir_answer answer = WEIR_ANSWER;
    struct world *world = agent->world;

    if (agent_draw(agent, 2)) {
        (void)weir_runtime_cancel(world->runtime, reference);
        return;
    }
    (void)weir_runtime_await(world->runtime, reference, &answer);
    weir_runtime_message_free(world->runtime, answer.message);
}

void act_ask(struct agent *agent)
{
    struct world *world = agent->world;
    struct parcel parcel = { .deed = deed_any(world, agent_draw(agent, 4)) };
    weir_pid to = world_single(world);
    struct weir_message *message = to ? piece_of(agent, &parcel) : NULL;
    bool in_vain = agent_draw(agent, 4) == 0;
    struct weir_answer answer = WEIR_ANSWER;
    uint64_t reference;

    if (!message)
        return;
    ticket_send(world, parcel.ticket, to);
    if (weir_runtime_request(world->runtime, to, WEIR_NORMAL, message, in_vain ? 1 : LONG_MS,
                             &reference) != 0) {
        refuse(world, &parcel, message);
        return;
    }
    world_count(world, agent->index);
    if (in_vain)
        ask_in_vain(agent, reference);
    else
        expect_reply(world, &parcel, &answer,
                     weir_runtime_await(world->runtime, reference, &answer));
}

/* --- tasks and groups ------------------------------------------------------------------------- */

/* A pool that takes tasks: they have no key, and each is to run once; 0: there is none. */
static weir_pid task_pool(const struct world *world)
{
    uint32_t main_route = world->plan.leaf.route;
    uint32_t sink_route = world->plan.sink.route;

    if (world_single(world) == world->main && main_route != WEIR_ROUTE_HASH &&
        !(world->plan.is_nested && world->plan.parent.route == WEIR_ROUTE_HASH))
        return world->main;
    return sink_route == WEIR_ROUTE_HASH || sink_route == WEIR_ROUTE_BROADCAST ? 0 : world->sink;
}

static int run_task(struct weir_task *task, void *argument)
{
    struct world *world = argument;

    (void)task;
    return atomic_fetch_add(&world->tasks_run, 1) % 5 == 0 ? 5 : 0;
}

void act_tasks(struct agent *agent)
{
    struct world *world = agent->world;
    weir_pid pool = task_pool(world);
    uint64_t timeout_ms = world->plan.may_stop ? 1 : LONG_MS;
    int result, status;

    if (!pool)
        return;
    atomic_fetch_add(&world->tasks_accepted, 1);
    if (agent_draw(agent, 2))
        status = weir_runtime_submit(world->runtime, pool, run_task, world,
                                     agent_draw(agent, 2) ? 0 : timeout_ms);
    else
        status = weir_runtime_submit_wait(world->runtime, pool, run_task, world, timeout_ms,
                                          &result);
    world_expect(world,
                 (status != WEIR_ETIMEOUT && status != WEIR_ERUNNING) || world->plan.may_stop,
                 "a task stands", status);
    if (status == 0)
        world_count(world, agent->index);
}

static uint32_t fill_group(struct agent *agent, struct weir_group *group, uint64_t timeout_ms)
{
    struct world *world = agent->world;
    weir_pid pool = task_pool(world), to = world_single(world);
    uint32_t accepted = 0;

    for (uint32_t count = 1 + agent_draw(agent, TASKS); count > 0 && to; count--) {
        struct parcel parcel = { .deed = deed_any(world, agent_draw(agent, 4)) };
        struct weir_message *message;

        if (pool && agent_draw(agent, 2)) {
            atomic_fetch_add(&world->tasks_accepted, 1);
            accepted += weir_runtime_group_submit(group, pool, run_task, world, timeout_ms) == 0;
            continue;
        }
        message = piece_of(agent, &parcel);
        if (!message)
            break;
        ticket_send(world, parcel.ticket, to);
        if (weir_runtime_group_send(group, to, message, timeout_ms) == 0)
            accepted++;
        else
            refuse(world, &parcel, message);
    }
    return accepted;
}

void act_group(struct agent *agent)
{
    struct world *world = agent->world;
    struct weir_group_ended ended = WEIR_GROUP_ENDED;
    struct weir_group *group;
    uint32_t accepted;
    int status;

    if (weir_runtime_group_create(
            world->runtime, agent_draw(agent, 4) == 0 ? WEIR_GROUP_FIRST_ERROR : 0, &group) != 0)
        abort();
    accepted = fill_group(agent, group,
                          agent_draw(agent, 2)   ? 0
                          : world->plan.may_stop ? 1
                                                 : LONG_MS);
    if (agent_draw(agent, 4) == 0)
        weir_runtime_group_cancel(group);
    status = weir_runtime_group_wait(group, LONG_MS, &ended);
    world_expect(world, status == 0, "a group stands", status);
    world_expect(world, ended.done + ended.failed + ended.cancelled == accepted && ended.open == 0,
                 "a group counts another number than was sent", accepted);
    if (accepted > 0)
        world_count(world, agent->index);
    weir_runtime_group_destroy(group);
}

/* --- one worker ------------------------------------------------------------------------------- */

static void send_to(struct agent *agent, weir_pid to)
{
    struct world *world = agent->world;
    struct parcel parcel = { .deed = deed_any(world, agent_draw(agent, 4)), .to = to };
    struct weir_message *message = piece_of(agent, &parcel);

    if (!message)
        return;
    atomic_fetch_add(&world->tickets[parcel.ticket].accepted, 1);
    if (weir_runtime_send(world->runtime, to, WEIR_NORMAL, message) == 0)
        world_count(world, agent->index);
    else
        refuse(world, &parcel, message);
}

weir_pid agent_draw_member(struct agent *agent)
{
    struct weir_member members[SIZE_MAX_HERE];
    struct world *world = agent->world;
    weir_pid leaf = world->leaves[agent_draw(agent, world->leaf_count)];
    uint32_t count;

    if (weir_runtime_members(world->runtime, leaf, members, SIZE_MAX_HERE, &count) != 0)
        abort();
    count = count < SIZE_MAX_HERE ? count : SIZE_MAX_HERE;
    return count > 0 ? members[agent_draw(agent, count)].pid : 0;
}

void act_direct(struct agent *agent)
{
    weir_pid member = agent_draw_member(agent);

    if (member)
        send_to(agent, member);
}

void act_lookup(struct agent *agent)
{
    static const char *const formats[] = { "worker-%u-%u", "other-%u-%u" };
    struct world *world = agent->world;
    char name[32];
    weir_pid pid;

    (void)snprintf(name, sizeof name, formats[agent_draw(agent, 2)],
                   agent_draw(agent, world->leaf_count), agent_draw(agent, 3));
    if (weir_runtime_lookup(world->runtime, name, &pid) == 0)
        send_to(agent, pid);
}

/* --- dead letters, figures -------------------------------------------------------------------- */

void act_replay(struct agent *agent)
{
    struct world *world = agent->world;
    struct weir_replayed replayed = WEIR_REPLAYED;
    uint32_t leaf = agent_draw(agent, world->leaf_count);

    if (weir_runtime_replay(world->runtime, world->leaves[leaf], &replayed) != 0)
        abort();
    atomic_fetch_add(&world->replayed[leaf], replayed.replayed);
    if (replayed.replayed > 0)
        world_count(world, agent->index);
}

void act_inspect(struct agent *agent)
{
    static const char *const items[] = { "state", "queued", "in_hand", "pool_size", NULL };
    struct weir_member member;
    struct world *world = agent->world;
    weir_pid leaf = world->leaves[agent_draw(agent, world->leaf_count)];
    struct weir_answer answer = WEIR_ANSWER;
    uint32_t count;
    int status;

    if (weir_runtime_members(world->runtime, leaf, &member, 1, &count) != 0)
        abort();
    status = weir_runtime_inspect(world->runtime,
                                  count > 0 && agent_draw(agent, 2) ? member.pid : leaf, items,
                                  LONG_MS, &answer);
    world_expect(world, status != WEIR_ETIMEOUT, "an inspect stands", status);
    if (status == 0)
        world_count(world, agent->index);
    weir_runtime_message_free(world->runtime, answer.message);
}
