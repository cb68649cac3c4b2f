#include "pool/fullness.h"

#include "actor/place.h"
#include "message/announcing.h"
#include "pool/pool.h"

#define STATE_MASK 3ull
#define VERSION_STEP 4ull
#define VERSION_MASK 0xfffffffcull
#define SIZE_SHIFT 32

enum state {
    STATE_OPEN,
    STATE_LOOKING,
    STATE_FULL,
};

static enum state state_of(uint64_t word)
{
    return (enum state)(word & STATE_MASK);
}

static uint64_t next_open(uint64_t word)
{
    return (word + VERSION_STEP) & VERSION_MASK;
}

void fullness_init(struct pool *pool)
{
    pool->fullness.top = pool->parent ? pool->parent->fullness.top : pool;
    atomic_init(&pool->fullness.word, 0);
    atomic_init(&pool->fullness.workers, 0);
}

void fullness_count_locked(struct pool *pool, uint32_t workers)
{
    struct fullness *fullness = &pool->fullness;

    /* Relaxed: it decides who announces, which each worker says for itself. Modulo 2^32, as it is
     * meant to be. */
    atomic_fetch_add_explicit(&fullness->top->fullness.workers, workers - fullness->counted,
                              memory_order_relaxed);
    fullness->counted = workers;
}

static bool are_few(const struct pool *pool)
{
    return atomic_load_explicit(&pool->fullness.top->fullness.workers, memory_order_relaxed) <=
           FULLNESS_FEW;
}

/* --- senders -------------------------------------------------------------------------------- */

bool fullness_refuses(struct pool *pool, size_t size)
{
    uint64_t word = atomic_load_explicit(&pool->fullness.word, memory_order_seq_cst);

    return state_of(word) == STATE_FULL && size < word >> SIZE_SHIFT;
}

static uint32_t lesser(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Sizes that are refused because of the count, not for good. */
static uint32_t size_within(uint64_t bytes_limit)
{
    return bytes_limit == 0 || bytes_limit >= UINT32_MAX ? UINT32_MAX : (uint32_t)bytes_limit + 1;
}

/* What follows answers the size below which messages are refused for sure; 0: none. */
static uint32_t look_at_pool(struct pool *pool);

static uint32_t look_at_worker(struct actor *actor)
{
    struct mailbox *mailbox = &actor->mailbox;

    if (!announcing_is_full(mailbox))
        return 0;
    return size_within(atomic_load_explicit(&mailbox->bytes_limit, memory_order_relaxed));
}

static uint32_t look_at_members(struct pool *pool)
{
    /* [P1] pairs with members_publish. */
    const struct members *members = atomic_load_explicit(&pool->members, memory_order_acquire);
    uint32_t size = UINT32_MAX;

    for (uint32_t i = 0; i < members->count && size > 0; i++) {
        const struct member *member = &members->members[i];

        size = lesser(size,
                      member->pool ? look_at_pool(member->pool) : look_at_worker(member->actor));
    }
    return size;
}

static uint32_t look_at_pool(struct pool *pool)
{
    uint64_t word = atomic_load_explicit(&pool->fullness.word, memory_order_seq_cst);

    if (state_of(word) == STATE_FULL)
        return (uint32_t)(word >> SIZE_SHIFT);
    if (atomic_load_explicit(&pool->closing, memory_order_acquire) ||
        atomic_load_explicit(&pool->paused, memory_order_acquire))
        return UINT32_MAX;
    switch (atomic_load_explicit(&pool->route, memory_order_relaxed)) {
    case ROUTE_PULL:
        return pulling_is_full(pool) ? size_within(pulling_bytes_limit(pool)) : 0;
    case ROUTE_HASH:
    case ROUTE_BROADCAST:
        return 0;
    default:
        return look_at_members(pool);
    }
}

void fullness_note(struct pool *pool)
{
    _Atomic uint64_t *word = &pool->fullness.word;
    uint64_t seen = atomic_load_explicit(word, memory_order_seq_cst);
    uint32_t size;

    if (are_few(pool) || state_of(seen) == STATE_FULL)
        return;
    if (state_of(seen) == STATE_OPEN) {
        /* [F1] before the looks below; see fullness_tell. */
        if (!atomic_compare_exchange_strong_explicit(word, &seen, seen | STATE_LOOKING,
                                                     memory_order_seq_cst, memory_order_seq_cst))
            return;
        seen |= STATE_LOOKING;
    }
    size = look_at_members(pool);
    /* Nothing came free since it was LOOKING: it would be of another version. */
    if (size > 0)
        (void)atomic_compare_exchange_strong_explicit(
            word, &seen, (seen & VERSION_MASK) | STATE_FULL | (uint64_t)size << SIZE_SHIFT,
            memory_order_seq_cst, memory_order_relaxed);
}

void fullness_forget(struct pool *pool)
{
    for (; pool; pool = pool->parent) {
        uint64_t seen = atomic_load_explicit(&pool->fullness.word, memory_order_relaxed);

        /* Written whatever it says: the release orders what made the room before it, for [F1]. */
        while (!atomic_compare_exchange_weak_explicit(&pool->fullness.word, &seen, next_open(seen),
                                                      memory_order_seq_cst, memory_order_relaxed))
            continue;
    }
}

/* --- the members' turns --------------------------------------------------------------------- */

void fullness_tell(struct pool *pool)
{
    for (; pool; pool = pool->parent) {
        /* [F1] after the place was freed, by a sequentially consistent store. */
        uint64_t seen = atomic_load_explicit(&pool->fullness.word, memory_order_seq_cst);

        while (state_of(seen) != STATE_OPEN &&
               !atomic_compare_exchange_weak_explicit(&pool->fullness.word, &seen, next_open(seen),
                                                      memory_order_seq_cst, memory_order_seq_cst))
            continue;
    }
}

void fullness_attend(struct actor *actor)
{
    const struct pool *pool = actor->place->pool;

    if (!pool || (actor->flags & ACTOR_ANNOUNCES) || are_few(pool))
        return;
    /* For good: somebody may already rely on it. */
    actor->flags |= ACTOR_ANNOUNCES;
    announcing_begin(&actor->mailbox);
}

struct message *fullness_pop(struct actor *actor)
{
    struct message *message;

    if (!(actor->flags & ACTOR_ANNOUNCES))
        return mailbox_pop(&actor->mailbox);
    message = mailbox_pop_announced(&actor->mailbox);
    if (message)
        fullness_tell(actor->place->pool);
    return message;
}
