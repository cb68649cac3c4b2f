/* SPDX-License-Identifier: MIT */
#include "actor/leases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actor/credit.h"
#include "actor/deliver.h"
#include "actor/external_answer.h"
#include "actor/find.h"
#include "actor/place.h"
#include "actor/router.h"
#include "actor/runtime.h"

#define NUMBER_BITS 40 /* a trillion leases, and 16 million members of a pool */
#define NUMBER_MASK ((UINT64_C(1) << NUMBER_BITS) - 1)
#define NS_PER_MS 1000000u

void leases_init(struct leases *leases, uint32_t depth)
{
    lock_init_nested(&leases->lock, LOCK_LEASES, depth);
}

void leases_finish(struct leases *leases)
{
    free(leases->entries);
    lock_finish(&leases->lock);
}

void leases_set(struct leases *leases, bool on, uint64_t timeout_ms)
{
    atomic_store_explicit(&leases->timeout_ms, timeout_ms, memory_order_relaxed);
    atomic_store_explicit(&leases->on, on, memory_order_relaxed);
}

void leases_absorb(struct leases *leases, struct leases *gone)
{
    lock_acquire(&leases->lock);
    lock_acquire(&gone->lock);
    leases->granted += gone->granted;
    for (int end = 0; end < LEASE_ENDS; end++)
        leases->ended[end] += gone->ended[end];
    for (int end = 0; end < TAKE_ENDS; end++)
        leases->unserved[end] += gone->unserved[end];
    leases->failed_free += gone->failed_free;
    leases->failed_leased += gone->failed_leased;
    histogram_absorb(&leases->waited, &gone->waited);
    histogram_absorb(&leases->lasted, &gone->lasted);
    lock_release(&gone->lock);
    lock_release(&leases->lock);
}

/* --- members ---------------------------------------------------------------------------------- */

/* The first free index; false when memory is out. */
static bool find_free_locked(struct leases *leases, uint32_t *out_index)
{
    uint32_t count = leases->count ? leases->count * 2 : 8;
    struct lease **entries;

    for (uint32_t i = leases->first_free; i < leases->count; i++) {
        leases->first_free = *out_index = i;
        if (!leases->entries[i])
            return true;
    }
    entries = realloc(leases->entries, count * sizeof(struct lease *));
    if (!entries)
        return false;
    leases->first_free = *out_index = leases->count;
    for (uint32_t i = leases->count; i < count; i++)
        entries[i] = NULL;
    leases->entries = entries;
    leases->count = count;
    return true;
}

struct lease *leases_join(struct leases *leases, struct actor *member)
{
    struct lease *lease = calloc(1, sizeof *lease);
    bool found;

    if (!lease)
        return NULL;
    lease->leases = leases;
    lease->actor = member;
    lock_acquire(&leases->lock);
    found = find_free_locked(leases, &lease->index);
    if (found)
        leases->entries[lease->index] = lease;
    lock_release(&leases->lock);
    if (found)
        return lease;
    free(lease);
    return NULL;
}

void leases_leave(struct lease *lease)
{
    lock_acquire(&lease->leases->lock);
    lease->leases->entries[lease->index] = NULL;
    if (lease->index < lease->leases->first_free)
        lease->leases->first_free = lease->index;
    lock_release(&lease->leases->lock);
}

uint64_t leases_due(const struct leases *leases, uint64_t now_ns)
{
    uint64_t timeout_ms = atomic_load_explicit(&leases->timeout_ms, memory_order_relaxed);

    if (timeout_ms == 0 || timeout_ms > (TIMER_NEVER - 1 - now_ns) / NS_PER_MS)
        return TIMER_NEVER;
    return now_ns + timeout_ms * NS_PER_MS;
}

/* The clocks of two threads may differ by a beat. */
static uint64_t span_ns(uint64_t from_ns, uint64_t to_ns)
{
    return to_ns > from_ns ? to_ns - from_ns : 0;
}

/* The runtime's, so that no lease of another pool has the same token. */
static uint64_t next_number(const struct lease *lease)
{
    /* Relaxed: each number is drawn once. */
    return atomic_fetch_add_explicit(&lease->actor->runtime->leases_begun, 1,
                                     memory_order_relaxed) +
           1;
}

static void open_locked(struct lease *lease, weir_pid holder, uint64_t queued_ns, uint64_t now_ns,
                        uint64_t due_ns, struct weir_lease *out)
{
    lease->leases->granted++;
    lease->token = (uint64_t)lease->index << NUMBER_BITS | (next_number(lease) & NUMBER_MASK);
    lease->open = true;
    lease->is_used = false;
    lease->holder = holder;
    lease->begun_ns = now_ns;
    lease->due_ns = due_ns;
    histogram_add(&lease->leases->waited, span_ns(queued_ns, now_ns));
    *out = (struct weir_lease){ lease->leases->pool, actor_pid(lease->actor), lease->token };
}

uint64_t leases_open(struct lease *lease, weir_pid holder, uint64_t now_ns, struct weir_lease *out)
{
    struct leases *leases = lease->leases;
    uint64_t due_ns = leases_due(leases, now_ns);

    lock_acquire(&leases->lock);
    open_locked(lease, holder, lease->take->queued_ns, now_ns, due_ns, out);
    lock_release(&leases->lock);
    return due_ns;
}

void leases_open_loan_locked(struct lease *lease, uint64_t queued_ns, uint64_t now_ns,
                             uint64_t due_ns, struct weir_lease *out)
{
    open_locked(lease, 0, queued_ns, now_ns, due_ns, out);
}

/* A member that stays, and has no order to leave, comes back to the queue. Under the lock of the
 * leases, before the member can take from the queue. */
static void come_back_locked(const struct lease *lease, uint64_t now_ns)
{
    struct place *place = lease->actor->place;

    if (!mailbox_is_closed(&lease->actor->mailbox))
        place->owner->ops->comes(place, lease_keeps_worker(lease->end), now_ns);
}

static void close_locked(struct lease *lease, uint64_t now_ns, enum lease_end end)
{
    lease->open = false;
    lease->end = end;
    lease->leases->ended[end]++;
    histogram_add(&lease->leases->lasted, span_ns(lease->begun_ns, now_ns));
}

/* From now on the time-out bounds the way of the member back to the pool. */
static void begin_way_back_locked(struct lease *lease, uint64_t now_ns)
{
    lease->due_ns = leases_due(lease->leases, now_ns);
    come_back_locked(lease, now_ns);
}

static void end_locked(struct lease *lease, uint64_t now_ns, enum lease_end end)
{
    close_locked(lease, now_ns, end);
    begin_way_back_locked(lease, now_ns);
}

enum lease_end leases_close(struct lease *lease, enum lease_end end)
{
    uint64_t now_ns = executor_look_at_clock(lease->actor->executor);

    lock_acquire(&lease->leases->lock);
    if (lease->open)
        end_locked(lease, now_ns, end);
    end = lease->end;
    lock_release(&lease->leases->lock);
    return end;
}

void leases_count_failure(struct leases *leases, bool is_leased)
{
    lock_acquire(&leases->lock);
    if (is_leased)
        leases->failed_leased++;
    else
        leases->failed_free++;
    lock_release(&leases->lock);
}

static void count_unserved(struct leases *leases, enum take_end end)
{
    lock_acquire(&leases->lock);
    leases->unserved[end]++;
    lock_release(&leases->lock);
}

void leases_count_unserved(struct leases *leases, int status)
{
    count_unserved(leases, status == WEIR_EFULL        ? TAKE_FULL
                           : status == WEIR_ETIMEOUT   ? TAKE_EXPIRED
                           : status == WEIR_ECANCELLED ? TAKE_CANCELLED
                                                       : TAKE_REFUSED);
}

static void note_open(struct leases *leases, const struct actor *member, const char *reason)
{
    /* Relaxed: a text for people. */
    if (!reason && !atomic_load_explicit(&leases->in_trouble, memory_order_relaxed))
        return;
    lock_acquire(&leases->lock);
    if (reason)
        (void)snprintf(leases->trouble, sizeof leases->trouble, "worker %s does not open: %s",
                       member->place->path, reason);
    else
        leases->trouble[0] = '\0';
    atomic_store_explicit(&leases->in_trouble, reason != NULL, memory_order_relaxed);
    lock_release(&leases->lock);
}

void leases_note_open(const struct actor *member, const char *reason)
{
    const struct owner *owner = place_member_of(member);

    for (; owner && leases_are_given(owner->leases); owner = owner->above)
        note_open(owner->leases, member, reason);
}

bool leases_look(struct lease *lease, uint64_t now_ns, enum lease_end *out_end,
                 uint64_t *out_due_ns)
{
    bool is_over;

    lock_acquire(&lease->leases->lock);
    if (lease->open && lease->due_ns <= now_ns)
        end_locked(lease, now_ns, LEASE_EXPIRED);
    is_over = !lease->open;
    *out_end = lease->end;
    *out_due_ns = lease->due_ns;
    lock_release(&lease->leases->lock);
    return is_over;
}

/* --- holders ---------------------------------------------------------------------------------- */

static struct leases *find_leases(struct runtime *runtime, weir_pid pool)
{
    struct router *router = actor_find_router(runtime, pool);

    return router ? router->leases : NULL;
}

void leases_explain(struct runtime *runtime, weir_pid pool, char *out_text, size_t size)
{
    struct leases *leases = find_leases(runtime, pool);

    if (!leases)
        return;
    lock_acquire(&leases->lock);
    (void)snprintf(out_text, size, "%s", leases->trouble);
    lock_release(&leases->lock);
}

/* The open lease of a token; NULL: it is over. */
static struct lease *find_locked(const struct leases *leases, uint64_t token)
{
    uint64_t index = token >> NUMBER_BITS;
    struct lease *lease = index < leases->count ? leases->entries[index] : NULL;

    return lease && lease->open && lease->token == token ? lease : NULL;
}

/* As find_locked; an error status also when `holder` may not use the lease. */
static int find_of_holder_locked(const struct leases *leases, uint64_t token, weir_pid holder,
                                 struct lease **out)
{
    *out = find_locked(leases, token);
    if (!*out)
        return WEIR_EUNKNOWN;
    return (*out)->holder == holder ? 0 : WEIR_ENOTALLOWED;
}

static void signal_member(const struct lease *lease, struct executor *executor)
{
    (void)actor_signal(lease->actor, actor_serial_of(actor_pid(lease->actor)), executor,
                       SIGNAL_TIME);
}

/* What is left to do without the lock after a lease was given back. */
struct given_back {
    struct owner *owner; /* of a member that was free, or was taken, without a turn; NULL: none */
    struct loan next;    /* who has it now */
};

static void give_back_locked(struct lease *lease, struct executor *executor, enum lease_end end,
                             struct given_back *out)
{
    struct owner *owner = lease->actor->place->owner;
    uint64_t now_ns = executor_look_at_clock(executor);

    close_locked(lease, now_ns, end);
    if (end == LEASE_DONE && !lease->is_used &&
        owner->ops->end_loan(lease->actor->place, executor, now_ns, &out->next)) {
        out->owner = owner;
        return;
    }
    begin_way_back_locked(lease, now_ns);
    signal_member(lease, executor);
}

/* Answers the take of a loan. False: nobody waits for it any more. Takes the take. */
static bool answer(struct runtime *runtime, struct executor *executor, struct loan *loan)
{
    struct message *reply = leases_make_reply(executor, &loan->lease);
    const uint64_t reference = loan->take->reference;
    bool is_wanted;

    is_wanted = external_requests_answer(runtime->external_requests, reference,
                                         reply ? 0 : WEIR_ENOMEM, reply, "") &&
                reply;
    if (!is_wanted)
        message_destroy(&executor->cache, reply);
    message_destroy(&executor->cache, loan->take);
    return is_wanted;
}

/* As the end of a turn that makes a member free, or takes from the queue. In the read section in
 * which the member was there. */
static void say_room(struct runtime *runtime, struct executor *executor, struct owner *owner)
{
    credit_pulled(owner, executor);
    /* seq_cst: the ledger was changed under its lock before. */
    if (atomic_load_explicit(&runtime->idle_waits, memory_order_seq_cst))
        runtime_notice(runtime);
}

/* `given` was filled under the lock. A taker that has given up gives its lease back, too. */
static void finish_return(struct runtime *runtime, struct executor *executor, struct leases *leases,
                          struct given_back *given)
{
    while (given->owner) {
        struct owner *owner = given->owner;
        const uint64_t token = given->next.lease.token;
        bool is_over = !given->next.take || answer(runtime, executor, &given->next);
        struct lease *found;

        *given = (struct given_back){ 0 };
        say_room(runtime, executor, owner);
        if (is_over)
            return;
        lock_acquire(&leases->lock);
        found = find_locked(leases, token);
        if (found)
            give_back_locked(found, executor, LEASE_DONE, given);
        lock_release(&leases->lock);
    }
}

int leases_return(struct runtime *runtime, struct executor *executor,
                  const struct weir_lease *lease, weir_pid holder, int how)
{
    struct leases *leases = find_leases(runtime, lease->pool);
    struct given_back given = { 0 };
    struct lease *found;
    int status;

    if (how != WEIR_DONE && how != WEIR_FAIL)
        return WEIR_EINVALID;
    if (!leases)
        return WEIR_EUNKNOWN;
    lock_acquire(&leases->lock);
    status = find_of_holder_locked(leases, lease->token, holder, &found);
    if (status == 0)
        give_back_locked(found, executor, how == WEIR_DONE ? LEASE_DONE : LEASE_FAILED, &given);
    lock_release(&leases->lock);
    finish_return(runtime, executor, leases, &given);
    return status;
}

int leases_renew(struct runtime *runtime, struct executor *executor, const struct weir_lease *lease,
                 weir_pid holder)
{
    struct leases *leases = find_leases(runtime, lease->pool);
    uint64_t now_ns = executor_look_at_clock(executor);
    struct lease *found;
    uint64_t due_ns;
    int status;

    if (!leases)
        return WEIR_EUNKNOWN;
    due_ns = leases_due(leases, now_ns);
    lock_acquire(&leases->lock);
    status = find_of_holder_locked(leases, lease->token, holder, &found);
    if (status == 0) {
        /* The member's timer goes off at the former time and is armed again then. A reload may have
         * made the time-out shorter: then the member has to arm its timer now. */
        if (due_ns < found->due_ns)
            signal_member(found, executor);
        found->due_ns = due_ns;
    }
    lock_release(&leases->lock);
    return status;
}

static int send_locked(struct lease *lease, struct executor *executor, struct message *message)
{
    struct actor *actor = lease->actor;
    int status;

    message->lease = lease->token;
    message->public.reserved |= MESSAGE_LEASED | MESSAGE_DIRECT;
    status = deliver_under_lease(actor, actor_serial_of(actor_pid(actor)), executor, message);
    if (status != 0)
        message->public.reserved &= ~(uint32_t)(MESSAGE_LEASED | MESSAGE_DIRECT);
    lease->is_used |= status == 0;
    return status;
}

int leases_send(struct runtime *runtime, struct executor *executor, const struct weir_lease *lease,
                struct message *message)
{
    struct leases *leases = find_leases(runtime, lease->pool);
    struct lease *found;
    int status = WEIR_ENOTALLOWED;

    if (message->public.reserved & MESSAGE_TRACKED)
        return WEIR_EINVALID;
    if (!leases)
        return status;
    lock_acquire(&leases->lock);
    found = find_locked(leases, lease->token);
    if (found)
        status = send_locked(found, executor, message);
    lock_release(&leases->lock);
    return status;
}

struct message *leases_make_reply(struct executor *executor, const struct weir_lease *lease)
{
    struct message *reply = message_create(&executor->cache, NULL, sizeof *lease);

    if (!reply)
        return NULL;
    memcpy(reply->public.data, lease, sizeof *lease);
    reply->public.reserved |= MESSAGE_TAKE;
    reply->public.from = lease->member;
    return reply;
}

bool leases_lend(struct runtime *runtime, struct executor *executor, weir_pid pool,
                 struct weir_lease *out)
{
    struct router *router = actor_find_router(runtime, pool);

    return router && leases_are_given(router->leases) && router->ops->lend(router, executor, out);
}

int leases_take(struct runtime *runtime, struct executor *executor, weir_pid pool, bool tries,
                struct message *take)
{
    struct actor *actor;
    struct router *router;
    int status = actor_find_alive(runtime, pool, &actor);

    if (status != 0)
        return status;
    router = actor->router;
    if (!router || !leases_are_given(router->leases))
        return WEIR_EUNSUPPORTED;
    take->public.reserved |= MESSAGE_TAKE | (tries ? MESSAGE_TRIES : 0);
    status = router->ops->take(router, executor, take);
    if (status == WEIR_EFULL)
        count_unserved(router->leases, TAKE_FULL);
    return status;
}

void leases_return_unwanted(struct runtime *runtime, struct executor *executor,
                            const struct message *answer)
{
    const struct weir_lease *lease = answer->public.data;
    struct given_back given = { 0 };
    struct leases *leases;
    struct lease *found;

    if (!(answer->public.reserved & MESSAGE_TAKE) || answer->status != 0)
        return;
    leases = find_leases(runtime, lease->pool);
    if (!leases)
        return;
    lock_acquire(&leases->lock);
    found = find_locked(leases, lease->token);
    if (found)
        give_back_locked(found, executor, LEASE_DONE, &given);
    lock_release(&leases->lock);
    finish_return(runtime, executor, leases, &given);
}
