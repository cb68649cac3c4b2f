#include "dispatch/share.h"

#include <stddef.h>

static void give_some(struct refcount *object, uint32_t count)
{
    /* Each release pairs with the acquire of the last one: all uses were before. */
    if (atomic_fetch_sub_explicit(&object->references, count, memory_order_acq_rel) == count)
        object->release(object);
}

void refcount_take(struct refcount *object)
{
    /* Relaxed: the caller has a reference already. */
    atomic_fetch_add_explicit(&object->references, 1, memory_order_relaxed);
}

void refcount_give(struct refcount *object)
{
    give_some(object, 1);
}

/* The share of an object; NULL: other objects have all. */
static struct share *share_of(struct shares *shares, const struct refcount *object)
{
    struct share *share = shares->shares;

    while (share->object != object)
        if (++share == shares->shares + SHARES)
            return NULL;
    share->used = true;
    return share;
}

/* A share for an object; NULL: other objects have all. */
static struct share *make_share(struct shares *shares, struct refcount *object)
{
    struct share *share = share_of(shares, object);

    if (!share)
        share = share_of(shares, NULL);
    if (share)
        share->object = object;
    return share;
}

void shares_take(struct shares *shares, struct refcount *object)
{
    struct share *share = make_share(shares, object);

    if (!share) {
        refcount_take(object);
        return;
    }
    if (share->spare == 0) {
        /* Relaxed: as in refcount_take. */
        atomic_fetch_add_explicit(&object->references, SHARE_BATCH, memory_order_relaxed);
        share->spare = SHARE_BATCH;
    }
    share->spare--;
}

void shares_give(struct shares *shares, struct refcount *object)
{
    struct share *share = make_share(shares, object);

    if (!share) {
        refcount_give(object);
        return;
    }
    if (++share->spare < 2 * SHARE_BATCH)
        return;
    share->spare -= SHARE_BATCH; /* some are left: this is not the last reference */
    give_some(object, SHARE_BATCH);
}

static void return_share(struct share *share)
{
    struct share returned = *share;

    *share = (struct share){ 0 }; /* first: `release` may take and give others */
    if (returned.spare > 0)
        give_some(returned.object, returned.spare);
}

void shares_look(struct shares *shares)
{
    for (uint32_t i = 0; i < SHARES; i++) {
        if (!shares->shares[i].used)
            return_share(&shares->shares[i]);
        shares->shares[i].used = false;
    }
}

void shares_return(struct shares *shares)
{
    for (uint32_t i = 0; i < SHARES; i++)
        return_share(&shares->shares[i]);
}
