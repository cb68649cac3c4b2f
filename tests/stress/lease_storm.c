/* SPDX-License-Identifier: MIT */
/* The world of the storm of leases: lease_storm.h. */
#include "stress/lease_storm.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "face/leases.h"
#include "face/messages.h"
#include "pool/change.h"
#include "pool/creation.h"

#define THREADS 3u
#define USERS 6u
#define QUEUE 3u
#define TAKE_MS 10u
#define ASK_MS 5000u
#define USES_MAX 3u
#define REMOVE_MS 5u /* shorter than a lease that is forgotten */

uint32_t storm_draw(uint64_t *state, uint32_t below)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33) % below;
}

void storm_expect(struct storm *storm, bool holds, const char *what, uint64_t number)
{
    if (holds)
        return;
    atomic_fetch_add(&storm->wrong, 1);
    (void)printf("wrong: %s (%" PRIu64 ")\n", what, number);
}

void storm_used(struct storm *storm, uint64_t use, uint64_t session)
{
    uint64_t before = 0;

    storm_expect(storm, session > 0 && session < SESSIONS_MAX, "a session that is none", session);
    if (session == 0 || session >= SESSIONS_MAX)
        return;
    if (!atomic_compare_exchange_strong(&storm->use_of[session], &before, use))
        storm_expect(storm, before == use, "one session, two users", session);
}

static void add(struct pool_leases *sum, struct pool *pool)
{
    struct pool_leases leases;

    pool_look_at_leases(pool, &leases);
    sum->leased += leases.leased;
    sum->waiting += leases.waiting;
    sum->begun += leases.begun;
    for (int end = 0; end < LEASE_ENDS; end++)
        sum->ended[end] += leases.ended[end];
    for (int end = 0; end < TAKE_ENDS; end++)
        sum->unserved[end] += leases.unserved[end];
    sum->on |= leases.on;
}

void storm_figures(struct storm *storm, struct pool_leases *out)
{
    *out = (struct pool_leases){ 0 };
    add(out, storm->pools[GROUP]); /* with those of its pools, while it gives leases */
    if (!out->on) {
        add(out, storm->pools[0]);
        add(out, storm->pools[1]);
    }
    add(out, storm->pools[ALONE]);
}

/* --- pools ------------------------------------------------------------------------------------ */

static struct spec *make_spec(struct storm *storm, const struct weir_behaviour *behaviour)
{
    struct spec *spec = spec_create(behaviour, storm);

    if (!spec)
        abort();
    spec->restart = (struct restart){
        .max = UINT32_MAX, .within_ms = 1, .backoff_ms_min = 1, .backoff_ms_max = 5
    };
    return spec;
}

/* The settings of a pool: those that a reload changes are drawn. */
static struct pool_settings draw_settings(uint32_t index, uint64_t *random)
{
    struct pool_settings settings = {
        .route = index == GROUP ? WEIR_ROUTE_LEAST_LOADED : WEIR_ROUTE_PULL,
        .mailbox = 4,
        .size_max = SIZE_MAX_HERE,
        .remove = { .timeout_ms = REMOVE_MS },
        .lease = { true, LEASE_MS + storm_draw(random, LEASE_MS), storm_draw(random, QUEUE + 1) },
    };

    if (index < ALONE)
        settings.scale = (struct scale){ true, storm_draw(random, 2) * 2, 20 };
    if (index == GROUP)
        settings.size_max = 0;
    return settings;
}

static struct spec *spec_of(struct storm *storm, uint32_t index)
{
    bool is_bare = index == ALONE ? storm->seed & 1 : index == 1;

    return is_bare ? storm->bare_member : storm->member;
}

static struct pool *make_pool(struct storm *storm, const char *path, uint32_t index,
                              struct pool *parent)
{
    uint64_t random = storm->seed + 1;
    struct pool_options options = { .path = path,
                                    .parent = parent,
                                    .spec = index == GROUP ? NULL : spec_of(storm, index),
                                    .size = index == GROUP ? 0 : 2,
                                    .settings = draw_settings(index, &random) };
    struct pool *pool = rig_pool(&storm->rig, &options);

    if (!pool)
        abort();
    return pool;
}

static struct pool *make_users(struct storm *storm)
{
    struct pool_options options = {
        .path = "users", .spec = storm->user, .size = USERS, .settings.mailbox = 8
    };
    struct pool *pool = rig_pool(&storm->rig, &options);

    if (!pool)
        abort();
    return pool;
}

void storm_init(struct storm *storm, uint64_t seed)
{
    struct runtime_options options = { .clock = clock_monotonic() };

    storm->seed = seed;
    storm->use_of = calloc(SESSIONS_MAX, sizeof *storm->use_of);
    if (!storm->use_of || runtime_create(&options, &storm->rig.runtime) != 0 ||
        runtime_add_dispatcher(storm->rig.runtime, "default", THREADS, NULL,
                               &storm->rig.dispatcher) != 0 ||
        runtime_start(storm->rig.runtime) != 0)
        abort();
    storm->member = make_spec(storm, &storm_member);
    storm->bare_member = make_spec(storm, &storm_bare_member);
    storm->user = make_spec(storm, &storm_user);
    storm->pools[GROUP] = make_pool(storm, "group", GROUP, NULL);
    storm->pools[0] = make_pool(storm, "group/a", 0, storm->pools[GROUP]);
    storm->pools[1] = make_pool(storm, "group/b", 1, storm->pools[GROUP]);
    storm->pools[ALONE] = make_pool(storm, "alone", ALONE, NULL);
    storm->users = make_users(storm);
}

/* A change of the pool; `gives`: it goes on to give leases. */
static void reload(struct storm *storm, uint32_t index, uint64_t *random, bool gives)
{
    struct executor *executor = runtime_enter(storm->rig.runtime);
    struct pool_change_options options = { .settings = draw_settings(index, random) };
    struct pool_change *change;

    if (!gives) {
        options.settings.lease = (struct lease_settings){ 0 };
        storm->lost_gives++;
    }
    if (index != GROUP) {
        options.size = storm_draw(random, SIZE_MAX_HERE + 1);
        if (index == ALONE || storm_draw(random, 2) == 0)
            options.spec = spec_of(storm, index);
    }
    if (pool_change_prepare(storm->pools[index], executor, &options, &change) != 0)
        abort();
    pool_change_commit(change, executor);
    runtime_leave(executor);
}

/* --- the end ---------------------------------------------------------------------------------- */

static bool is_calm(void *context)
{
    struct storm *storm = context;
    struct pool_leases sum;
    uint64_t known;

    storm_figures(storm, &sum);
    known = sum.begun;
    for (int end = 0; end < TAKE_ENDS; end++)
        known += sum.unserved[end];
    return sum.leased == 0 && sum.waiting == 0 && known == atomic_load(&storm->asked);
}

static void compare(struct storm *storm)
{
    struct pool_leases sum;
    uint64_t known, over = 0;

    storm_figures(storm, &sum);
    known = sum.begun + sum.waiting;
    for (int end = 0; end < TAKE_ENDS; end++)
        known += sum.unserved[end];
    for (int end = 0; end < LEASE_ENDS; end++)
        over += sum.ended[end];
    storm_expect(storm, sum.leased == 0, "leases that do not end", sum.leased);
    storm_expect(storm, sum.waiting == 0, "takers that wait", sum.waiting);
    storm_expect(storm, over == sum.begun, "leases that ended", over);
    storm_expect(storm, known == atomic_load(&storm->asked), "takes that are counted", known);
    storm_expect(storm, atomic_load(&storm->answered) <= sum.begun, "leases of nobody",
                 atomic_load(&storm->answered));
}

void storm_finish(struct storm *storm)
{
    uint64_t random = storm->seed + 1;
    struct executor *executor;

    storm_expect(storm, rig_end(&storm->rig, storm->users, NULL), "the users do not end", 0);
    reload(storm, GROUP, &random, true);  /* so that its figures have those of its pools */
    for (uint32_t i = 0; i <= ALONE; i++) /* so that members look at takers that have given up */
        (void)rig_resize(&storm->rig, storm->pools[i], 2, NULL);
    (void)rig_wait(&storm->rig, is_calm, storm);
    compare(storm);
    storm_expect(storm, rig_end(&storm->rig, storm->pools[ALONE], NULL), "a pool does not end", 2);
    storm_expect(storm, rig_end(&storm->rig, storm->pools[GROUP], NULL), "the group does not end",
                 GROUP);
    executor = runtime_enter(storm->rig.runtime);
    for (uint32_t i = 0; i < ALONE; i++)
        pool_destroy(storm->pools[i], executor);
    runtime_leave(executor);
    rig_finish(&storm->rig);
    spec_unref(storm->member);
    spec_unref(storm->bare_member);
    spec_unref(storm->user);
    free(storm->use_of);
}

/* --- a thread that takes ---------------------------------------------------------------------- */

/* False: the lease is over. */
static bool use_once(struct storm *storm, const struct weir_lease *lease, uint64_t use, bool fails)
{
    const struct storm_order order = { use, fails ? DEED_FAIL : DEED_REPLY };
    struct weir_message *message = runtime_message_new(storm->rig.runtime, NULL, sizeof order);
    struct weir_answer answer = WEIR_ANSWER;
    uint64_t reference, session;
    int status;

    if (!message)
        abort();
    memcpy(message->data, &order, sizeof order);
    status = runtime_lease_request(storm->rig.runtime, lease, message, ASK_MS, &reference);
    if (status != 0) {
        runtime_message_free(storm->rig.runtime, message);
        return false;
    }
    status = runtime_await(storm->rig.runtime, reference, &answer);
    if (status == 0) {
        memcpy(&session, answer.message->data, sizeof session);
        storm_used(storm, use, session);
        runtime_message_free(storm->rig.runtime, answer.message);
    }
    return status == 0;
}

/* Nothing is possible under a lease that was returned. */
static void expect_over(struct storm *storm, const struct weir_lease *lease)
{
    struct runtime *runtime = storm->rig.runtime;
    struct weir_message *message = runtime_message_new(runtime, NULL, sizeof(struct storm_order));
    int status;

    if (!message)
        abort();
    status = runtime_lease_send(runtime, LEASE_OF_PROGRAM, lease, message);
    storm_expect(storm, status == WEIR_ENOTALLOWED, "sent after the return", (uint64_t)-status);
    if (status != 0)
        runtime_message_free(runtime, message);
    status = runtime_lease_return(runtime, LEASE_OF_PROGRAM, lease, WEIR_DONE);
    storm_expect(storm, status == WEIR_EUNKNOWN, "a second return", (uint64_t)-status);
    status = runtime_lease_renew(runtime, LEASE_OF_PROGRAM, lease);
    storm_expect(storm, status == WEIR_EUNKNOWN, "renewed after the return", (uint64_t)-status);
}

static void use_lease(struct storm *storm, const struct weir_lease *lease, uint64_t *random)
{
    uint64_t use = atomic_fetch_add(&storm->uses, 1) + 1;
    uint32_t how = storm_draw(random, 16);
    int status;

    atomic_fetch_add(&storm->answered, 1);
    for (uint32_t left = storm_draw(random, USES_MAX + 1); left > 0; left--)
        if (!use_once(storm, lease, use, storm_draw(random, 32) == 0))
            break;
    if (storm_draw(random, 8) == 0) {
        status = runtime_lease_renew(storm->rig.runtime, LEASE_OF_PROGRAM, lease);
        storm_expect(storm, status == 0 || status == WEIR_EUNKNOWN, "renewed", (uint64_t)-status);
    }
    if (how == 0) /* it is forgotten */
        return;
    status = runtime_lease_return(storm->rig.runtime, LEASE_OF_PROGRAM, lease,
                                  how == 1 ? WEIR_FAIL : WEIR_DONE);
    storm_expect(storm, status == 0 || status == WEIR_EUNKNOWN, "returned", (uint64_t)-status);
    expect_over(storm, lease);
}

void storm_take(struct storm *storm, uint64_t *random)
{
    const struct pool *pool = storm->pools[storm_draw(random, TARGETS)];
    struct runtime *runtime = storm->rig.runtime;
    struct weir_answer answer = WEIR_ANSWER;
    struct weir_lease lease;
    uint64_t reference;
    int status = runtime_take(runtime, NULL, pool->pid, 1 + storm_draw(random, TAKE_MS),
                              &reference);

    if (status == 0 || status == WEIR_EFULL)
        atomic_fetch_add(&storm->asked, 1);
    if (status != 0)
        return;
    if (storm_draw(random, 8) == 0) {
        if (runtime_cancel(runtime, reference) == 0)
            atomic_fetch_add(&storm->given_up, 1);
        return;
    }
    if (runtime_await(runtime, reference, &answer) != 0)
        return;
    lease = *(const struct weir_lease *)answer.message->data;
    runtime_message_free(runtime, answer.message);
    use_lease(storm, &lease, random);
}

/* --- other threads ---------------------------------------------------------------------------- */

static void send(struct storm *storm, weir_pid to, enum weir_lane lane, struct storm_order order)
{
    struct weir_message *message = runtime_message_new(storm->rig.runtime, NULL, sizeof order);

    if (!message)
        abort();
    memcpy(message->data, &order, sizeof order);
    if (runtime_send(storm->rig.runtime, to, lane, message) != 0)
        runtime_message_free(storm->rig.runtime, message);
}

void storm_send(struct storm *storm, uint64_t *random)
{
    static const enum storm_wish rare[] = { WISH_GIVE_UP, WISH_GIVE_UP, WISH_FAIL, WISH_STOP };
    enum storm_wish wish = storm_draw(random, 16) == 0 ? rare[storm_draw(random, 4)] : WISH_TAKE;

    send(storm, storm->users->pid, WEIR_NORMAL, (struct storm_order){ .deed = wish });
    if (storm_draw(random, 4) == 0)
        send(storm, storm->pools[storm_draw(random, TARGETS)]->pid, WEIR_NORMAL,
             (struct storm_order){ .deed = DEED_REPLY });
}

void storm_change(struct storm *storm, uint64_t *random)
{
    uint32_t index = storm_draw(random, TARGETS);
    uint32_t what = storm_draw(random, 4);
    weir_pid member;

    if (what == 0 || index == GROUP) {
        reload(storm, index, random, index < ALONE || storm_draw(random, 4) > 0);
    } else if (what == 1) {
        (void)rig_resize(&storm->rig, storm->pools[index], storm_draw(random, SIZE_MAX_HERE + 1),
                         NULL);
    } else {
        member = rig_worker(storm->pools[index], storm_draw(random, SIZE_MAX_HERE));
        if (member)
            send(storm, member, WEIR_HIGH, (struct storm_order){ .deed = DEED_FAIL });
    }
    atomic_fetch_add(&storm->changes, 1);
}
