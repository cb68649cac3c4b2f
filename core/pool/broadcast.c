#include "pool/broadcast.h"

#include <assert.h>
#include <stdlib.h>

#include "actor/actor.h"
#include "pool/pool.h"
#include "pool/route.h"

enum step_kind {
    STEP_LOCKED, /* a pool on the way */
    STEP_HELD,   /* a worker's mailbox */
    STEP_QUEUED, /* the queue of a pool that routes by pull, held */
};

struct step {
    enum step_kind kind;
    bool bound; /* the worker's siblings get it, too */
    struct pool *pool;
    struct actor *actor;
    struct message *message; /* what it gets */
};

/* One broadcast under way: what has been locked and held so far. */
struct cast {
    struct executor *executor;
    struct message *message;
    struct step *steps;
    uint32_t count;
    uint32_t room;
};

static int reach_pool(struct cast *cast, struct pool *pool);

bool broadcast_passes_over(const struct member *member)
{
    return member->pool && atomic_load_explicit(&member->pool->closing, memory_order_acquire);
}

/* --- steps ---------------------------------------------------------------------------------- */

static bool make_room(struct cast *cast)
{
    uint32_t room = cast->room ? cast->room * 2 : 16;
    struct step *steps;

    if (cast->count < cast->room)
        return true;
    steps = realloc(cast->steps, room * sizeof *steps);
    if (!steps)
        return false;
    cast->steps = steps;
    cast->room = room;
    return true;
}

static void add_step(struct cast *cast, struct step step)
{
    cast->steps[cast->count++] = step;
}

static void undo(struct cast *cast, const struct step *step)
{
    switch (step->kind) {
    case STEP_LOCKED:
        pthread_mutex_unlock(&step->pool->lock);
        break;
    case STEP_HELD:
        mailbox_release(&step->actor->mailbox, cast->message->public.size);
        break;
    case STEP_QUEUED:
        pulling_release_locked(step->pool);
        break;
    }
}

/* Takes back all steps but the first `count`. */
static void go_back(struct cast *cast, uint32_t count)
{
    while (cast->count > count)
        undo(cast, &cast->steps[--cast->count]);
}

/* --- who refused last ------------------------------------------------------------------------ */

static bool pool_refuses(struct pool *pool, size_t size);

/* Full by the number of messages, now. */
static bool worker_refuses(const struct member *member, size_t size)
{
    struct mailbox *mailbox = &member->actor->mailbox;
    uint32_t limit = atomic_load_explicit(&mailbox->limit, memory_order_relaxed);
    uint64_t bytes_limit = atomic_load_explicit(&mailbox->bytes_limit, memory_order_relaxed);
    bool is_full = limit > 0 && mailbox_waiting(mailbox) >= limit;
    uint64_t word = atomic_load_explicit(&mailbox->word, memory_order_acquire);

    /* Still the one that was meant, which tells CLOSED and INVALID by itself. */
    return is_full && mailbox_serial(word) == member->serial && !(word & MAILBOX_CLOSED) &&
           (bytes_limit == 0 || size <= bytes_limit);
}

/* By one look at the member that refused last: if it still does, nobody else need be asked. */
static bool broadcast_refuses(struct pool *pool, size_t size)
{
    const struct members *members = atomic_load_explicit(&pool->members, memory_order_acquire);
    /* Relaxed: a hint, and any member will do. */
    uint32_t refuser = atomic_load_explicit(&pool->refuser, memory_order_relaxed);
    const struct member *member = &members->members[refuser];

    if (refuser >= members->count || broadcast_passes_over(member))
        return false;
    return member->pool ? pool_refuses(member->pool, size) : worker_refuses(member, size);
}

/* Depth is bounded by the configuration. */
static bool pool_refuses(struct pool *pool, size_t size)
{
    if (atomic_load_explicit(&pool->route, memory_order_relaxed) == ROUTE_BROADCAST)
        return broadcast_refuses(pool, size);
    (void)size;
    return fullness_refuses(&pool->owner.fullness);
}

/* --- reaching everybody --------------------------------------------------------------------- */

static int reach_member(struct cast *cast, const struct member *member, bool bound)
{
    int status;

    if (member->pool)
        return reach_pool(cast, member->pool);
    if (!make_room(cast))
        return WEIR_EFULL;
    status = mailbox_hold(&member->actor->mailbox, member->serial, cast->message->public.size);
    if (status == 0)
        add_step(cast, (struct step){ STEP_HELD, bound, NULL, member->actor, NULL });
    return status;
}

static bool has_one_answer(const struct message *message)
{
    return message->public.kind == WEIR_REQUEST || (message->public.reserved & MESSAGE_ORIGIN);
}

/* One of all. Whom it cannot let in now it refuses for now: only the pool itself can be closed. */
static int reach_each(struct cast *cast, const struct member *member)
{
    uint32_t before = cast->count;
    int status;

    if (broadcast_passes_over(member))
        return 0;
    status = reach_member(cast, member, true);
    if (status != WEIR_ECLOSED && status != WEIR_ETERMINATED)
        return status;
    if (!broadcast_passes_over(member))
        return WEIR_EFULL; /* a worker that is not open */
    go_back(cast, before); /* it began to close since the first look */
    return 0;
}

static int reach_all(struct cast *cast, struct pool *pool, const struct members *members)
{
    uint32_t before = cast->count;
    int status = 0;

    if (has_one_answer(cast->message))
        return WEIR_EINVALID;
    for (uint32_t i = 0; i < members->count && status == 0; i++) {
        status = reach_each(cast, &members->members[i]);
        if (status == WEIR_EFULL)
            atomic_store_explicit(&pool->refuser, i, memory_order_relaxed);
    }
    if (status == 0 && cast->count == before)
        return WEIR_EFULL; /* there is nobody */
    return status;
}

/* In a pool below, as it routes: the first with room. */
static int reach_one(struct cast *cast, struct pool *pool, const struct members *members)
{
    struct route_choice choice = route_choose(pool, members, cast->executor, cast->message);
    int refusal = members->count ? WEIR_EINVALID : WEIR_EFULL;

    for (uint32_t i = 0; i < choice.count; i++) {
        uint32_t before = cast->count;
        int status = reach_member(cast, route_chosen(members, choice, i), false);

        if (status == 0)
            return 0;
        go_back(cast, before);
        if (status != WEIR_EINVALID)
            refusal = WEIR_EFULL;
    }
    return refusal;
}

static int reach_queue(struct cast *cast, struct pool *pool)
{
    int status = make_room(cast) ? pulling_hold_locked(pool, cast->message->public.size)
                                 : WEIR_EFULL;

    if (status == 0)
        add_step(cast, (struct step){ STEP_QUEUED, false, pool, NULL, NULL });
    return status;
}

static int reach_pool(struct cast *cast, struct pool *pool)
{
    const struct members *members;

    if (!make_room(cast))
        return WEIR_EFULL;
    pthread_mutex_lock(&pool->lock);
    add_step(cast, (struct step){ STEP_LOCKED, false, pool, NULL, NULL });
    /* Relaxed: all of these are written under the lock, but for the route, of which any will do. */
    if (atomic_load_explicit(&pool->closing, memory_order_relaxed))
        return WEIR_ECLOSED;
    if (atomic_load_explicit(&pool->paused, memory_order_relaxed))
        return WEIR_EFULL;
    members = atomic_load_explicit(&pool->members, memory_order_relaxed);
    switch (atomic_load_explicit(&pool->route, memory_order_relaxed)) {
    case ROUTE_BROADCAST:
        return reach_all(cast, pool, members);
    case ROUTE_PULL:
        return reach_queue(cast, pool);
    default:
        return reach_one(cast, pool, members);
    }
}

/* --- giving it ------------------------------------------------------------------------------ */

/* Everybody's own message; the last one gets the original. False: memory is out. */
static bool make_messages(struct cast *cast)
{
    struct step *last = NULL;

    for (uint32_t i = 0; i < cast->count; i++) {
        struct step *step = &cast->steps[i];

        if (step->kind == STEP_LOCKED)
            continue;
        if (last) {
            last->message = message_copy(&cast->executor->cache, cast->message);
            if (!last->message)
                return false;
        }
        last = step;
    }
    assert(last);
    last->message = cast->message;
    return true;
}

static void destroy_messages(struct cast *cast)
{
    for (uint32_t i = 0; i < cast->count; i++)
        message_destroy(&cast->executor->cache, cast->steps[i].message);
}

static void give(struct cast *cast, struct step *step)
{
    struct message *message = step->message;

    if (step->kind == STEP_QUEUED) {
        pulling_push_held_locked(step->pool, cast->executor, message);
        return;
    }
    message->public.lane = WEIR_NORMAL;
    if (step->bound)
        message->public.reserved |= MESSAGE_BOUND;
    if (mailbox_push_held(&step->actor->mailbox, message))
        actor_wake(step->actor, cast->executor);
}

/* Those who shall have it get it, and what remains are locks. */
static void give_all(struct cast *cast)
{
    for (uint32_t i = 0; i < cast->count; i++) {
        struct step *step = &cast->steps[i];

        if (step->kind != STEP_LOCKED)
            give(cast, step);
    }
    for (uint32_t i = cast->count; i-- > 0;)
        if (cast->steps[i].kind == STEP_LOCKED)
            undo(cast, &cast->steps[i]);
}

int broadcast(struct pool *pool, struct executor *executor, struct message *message)
{
    struct cast cast = { .executor = executor, .message = message };
    int status;

    if (!has_one_answer(message) && broadcast_refuses(pool, message->public.size))
        return WEIR_EFULL;
    status = reach_pool(&cast, pool);
    if (status == 0 && !make_messages(&cast)) {
        destroy_messages(&cast);
        status = WEIR_EFULL;
    }
    if (status == 0)
        give_all(&cast);
    else
        go_back(&cast, 0);
    free(cast.steps);
    return status;
}
