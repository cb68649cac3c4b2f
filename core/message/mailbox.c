/* SPDX-License-Identifier: MIT */
#include "message/mailbox.h"

#define TAIL_MASK 0xffffffffull
#define BATCH_MAX 16u /* the line that senders write moves once for as many messages */
#define LIMIT_MAX ((uint32_t)INT32_MAX) /* more messages than fit any memory; see is_full */

static uint32_t bounded(uint32_t limit)
{
    return limit != MAILBOX_UNBUFFERED && limit > LIMIT_MAX ? LIMIT_MAX : limit;
}

void mailbox_init(struct mailbox *mailbox, uint32_t serial, uint32_t limit)
{
    atomic_init(&mailbox->tail, NULL);
    atomic_init(&mailbox->other, NULL);
    atomic_init(&mailbox->signals, 0);
    atomic_init(&mailbox->first, NULL);
    atomic_init(&mailbox->head, 0);
    atomic_init(&mailbox->taken, 0);
    atomic_init(&mailbox->waker, NULL);
    atomic_init(&mailbox->bytes_limit, 0);
    atomic_init(&mailbox->bytes, 0);
    atomic_init(&mailbox->lanes[0], 0);
    atomic_init(&mailbox->lanes[1], 0);
    atomic_init(&mailbox->limit, bounded(limit));
    /* [M0] publishes the rest to senders that find the new serial. */
    atomic_store_explicit(&mailbox->word,
                          ((uint64_t)serial << MAILBOX_SERIAL_SHIFT) | MAILBOX_CLOSED,
                          memory_order_release);
}

void mailbox_set_limit(struct mailbox *mailbox, uint32_t limit)
{
    /* Release for is_full. Before the check for waiting senders: see actor/wait_queue.h. */
    atomic_store_explicit(&mailbox->limit, bounded(limit), memory_order_seq_cst);
}

/*
 * True when the normal lane has no place for the sender that read `word`. The difference is signed:
 * an outdated tail is behind head, and then the exchange fails anyway. The lane was full at the
 * instant when head was read, since tail only grows. As a signed number MAILBOX_UNBUFFERED is below
 * each difference: then the worker's sleep decides.
 */
static inline bool is_full(struct mailbox *mailbox, uint64_t word)
{
    /* A changed limit counts from when it is seen. */
    uint32_t limit = atomic_load_explicit(&mailbox->limit, memory_order_acquire);

    /* [M1] pairs with the release in mailbox_return: the places have been emptied. */
    return limit != 0 &&
           (int32_t)((uint32_t)word - atomic_load_explicit(&mailbox->head, memory_order_acquire)) >=
               (int32_t)limit &&
           !(limit == MAILBOX_UNBUFFERED && (word & MAILBOX_IDLE));
}

/* Whether the mailbox is that of the serial, and open. */
static inline int lets_in(uint64_t word, uint32_t serial)
{
    if (mailbox_serial(word) != serial)
        return WEIR_ETERMINATED;
    return word & MAILBOX_CLOSED ? WEIR_ECLOSED : 0;
}

/* `ignored`: MAILBOX_CLOSED to admit past a close, or 0. */
static inline int admit(struct mailbox *mailbox, uint32_t serial, uint64_t ignored, bool *out_wake)
{
    uint64_t word = atomic_load_explicit(&mailbox->word, memory_order_seq_cst);

    for (;;) {
        uint64_t next;
        int status = lets_in(word & ~ignored, serial);

        if (status != 0)
            return status;
        if (is_full(mailbox, word))
            return WEIR_EFULL;
        next = (word & ~(TAIL_MASK | MAILBOX_IDLE)) | ((word + 1) & TAIL_MASK);
        /* [M2] acquires what the owner left when it set IDLE in mailbox_try_idle. */
        if (atomic_compare_exchange_weak_explicit(&mailbox->word, &word, next, memory_order_seq_cst,
                                                  memory_order_seq_cst))
            break;
    }
    *out_wake = (word & MAILBOX_IDLE) != 0;
    return 0;
}

/* Links messages that are chained by `next` already, up to `last`. */
static inline void link_chain(struct mailbox *mailbox, struct message *first, struct message *last)
{
    struct message *previous;

    atomic_store_explicit(&last->next, NULL, memory_order_relaxed);
    /* [M3] acquires the previous sender's exchange, so that links are made in this order. */
    previous = atomic_exchange_explicit(&mailbox->tail, last, memory_order_acq_rel);
    /* [M4] publishes the messages to mailbox_pop. `previous` cannot be freed before this store:
     * mailbox_pop needs its link, or the tail to be still pointing at it. */
    if (previous)
        atomic_store_explicit(&previous->next, first, memory_order_release);
    else
        atomic_store_explicit(&mailbox->first, first, memory_order_release);
}

/*
 * Puts a chain that was let in where the owner finds it. `wakes`: it took IDLE down, which stands
 * for an empty queue, so that its first is the first of all.
 */
static inline void put_chain(struct mailbox *mailbox, struct message *first, struct message *last,
                             bool wakes)
{
    if (wakes) {
        /* [M8] Relaxed: the owner takes it in the turn that this sender schedules after it. */
        atomic_store_explicit(&mailbox->waker, first, memory_order_relaxed);
        if (first == last)
            return;
        first = atomic_load_explicit(&first->next, memory_order_relaxed);
    }
    link_chain(mailbox, first, last);
}

/* --- bytes ---------------------------------------------------------------------------------- */

void mailbox_set_bytes_limit(struct mailbox *mailbox, uint64_t limit)
{
    /* Before the check for waiting senders: see actor/wait_queue.h. */
    atomic_store_explicit(&mailbox->bytes_limit, limit, memory_order_seq_cst);
}

bool mailbox_bytes_full(struct mailbox *mailbox)
{
    uint64_t limit = atomic_load_explicit(&mailbox->bytes_limit, memory_order_relaxed);

    return limit && atomic_load_explicit(&mailbox->bytes, memory_order_relaxed) >= limit;
}

/*
 * Takes `size` of the bytes that may wait; false: they would be too many. Relaxed, as give_bytes:
 * the bytes are a count, and read-modify-writes never lose one. A thread that must see the bytes
 * that a turn gave back has read the word that the turn wrote afterwards.
 */
static bool take_bytes(struct mailbox *mailbox, uint64_t size, uint64_t limit)
{
    uint64_t bytes = atomic_load_explicit(&mailbox->bytes, memory_order_relaxed);

    do
        if (bytes > limit || size > limit - bytes)
            return false;
    while (!atomic_compare_exchange_weak_explicit(&mailbox->bytes, &bytes, bytes + size,
                                                  memory_order_relaxed, memory_order_relaxed));
    return true;
}

static void give_bytes(struct mailbox *mailbox, uint64_t size)
{
    atomic_fetch_sub_explicit(&mailbox->bytes, size, memory_order_relaxed);
}

/* As mailbox_push, under a limit of bytes; 1: taken, and the caller must schedule the actor. Out of
 * line and without an out parameter, so that other pushes save no registers and need no frame. */
__attribute__((noinline)) static int push_weighed(struct mailbox *mailbox, uint32_t serial,
                                                  struct message *message, uint64_t limit,
                                                  uint64_t ignored)
{
    uint64_t size = message->public.size;
    bool wake;
    int status;

    /* The word before the bytes: a sender that checks a second time (wait_queue.h) sees the bytes
     * of a turn that ended before it joined the queue. */
    if (mailbox_serial(atomic_load_explicit(&mailbox->word, memory_order_seq_cst)) != serial)
        return WEIR_ETERMINATED;
    if (size > limit)
        return WEIR_EINVALID;
    if (!take_bytes(mailbox, size, limit))
        return WEIR_EFULL;
    status = admit(mailbox, serial, ignored, &wake);
    if (status != 0) {
        give_bytes(mailbox, size);
        return status;
    }
    message->public.reserved |= MESSAGE_WEIGHED;
    put_chain(mailbox, message, message, wake);
    return wake;
}

/* Gives back the bytes of a message that leaves the queue. */
void mailbox_unweigh(struct mailbox *mailbox, struct message *message)
{
    message->public.reserved &= ~(uint32_t)MESSAGE_WEIGHED;
    give_bytes(mailbox, message->public.size);
}

/* --- the normal lane ------------------------------------------------------------------------ */

static inline int push(struct mailbox *mailbox, uint32_t serial, struct message *message,
                       uint64_t ignored, bool *out_wake)
{
    /* Relaxed: a changed limit counts from when it is seen. */
    uint64_t bytes_limit = atomic_load_explicit(&mailbox->bytes_limit, memory_order_relaxed);
    int status;

    if (bytes_limit) {
        status = push_weighed(mailbox, serial, message, bytes_limit, ignored);
        *out_wake = status > 0;
        return status < 0 ? status : 0;
    }
    status = admit(mailbox, serial, ignored, out_wake);
    if (status == 0)
        put_chain(mailbox, message, message, *out_wake);
    return status;
}

int mailbox_push(struct mailbox *mailbox, uint32_t serial, struct message *message, bool *out_wake)
{
    return push(mailbox, serial, message, 0, out_wake);
}

int mailbox_push_past_close(struct mailbox *mailbox, uint32_t serial, struct message *message,
                            bool *out_wake)
{
    return push(mailbox, serial, message, MAILBOX_CLOSED, out_wake);
}

/* How many of `count` there is room for; of a tail that has grown old it may be too many: then the
 * exchange fails. */
static uint32_t room_for(struct mailbox *mailbox, uint64_t word, uint32_t count)
{
    uint32_t limit = atomic_load_explicit(&mailbox->limit, memory_order_relaxed);
    int32_t waiting;

    if (limit == 0)
        return count;
    if (limit == MAILBOX_UNBUFFERED)
        return word & MAILBOX_IDLE ? 1 : 0;
    /* [M1] as in is_full. */
    waiting = (int32_t)((uint32_t)word -
                        atomic_load_explicit(&mailbox->head, memory_order_acquire));
    if (waiting < 0)
        waiting = 0;
    if ((uint32_t)waiting >= limit)
        return 0;
    return limit - (uint32_t)waiting < count ? limit - (uint32_t)waiting : count;
}

/* As admit, of several; answers how many. */
static int admit_chain(struct mailbox *mailbox, uint32_t serial, uint32_t count, bool *out_wake)
{
    uint64_t word = atomic_load_explicit(&mailbox->word, memory_order_seq_cst);
    uint32_t taken;
    uint64_t next;

    do {
        int status = lets_in(word, serial);

        if (status != 0)
            return status;
        taken = room_for(mailbox, word, count);
        if (taken == 0)
            return WEIR_EFULL;
        next = (word & ~(TAIL_MASK | MAILBOX_IDLE)) | ((word + taken) & TAIL_MASK);
        /* [M2] as in admit. */
    } while (!atomic_compare_exchange_weak_explicit(&mailbox->word, &word, next,
                                                    memory_order_seq_cst, memory_order_seq_cst));
    *out_wake = (word & MAILBOX_IDLE) != 0;
    return (int)taken;
}

/* Takes the bytes of as many of the first as there is room for; answers how many. */
static uint32_t take_bytes_of_chain(struct mailbox *mailbox, struct message *const *messages,
                                    uint32_t count, uint64_t limit)
{
    uint32_t taken = 0;

    /* The word before the bytes, as in push_weighed. */
    (void)atomic_load_explicit(&mailbox->word, memory_order_seq_cst);
    while (taken < count && take_bytes(mailbox, messages[taken]->public.size, limit))
        taken++;
    return taken;
}

/* Marks those that were let in, and gives back the bytes of the others. */
static void weigh_chain(struct mailbox *mailbox, struct message *const *messages, uint32_t fits,
                        uint32_t taken)
{
    for (uint32_t i = 0; i < taken; i++)
        messages[i]->public.reserved |= MESSAGE_WEIGHED;
    for (uint32_t i = taken; i < fits; i++)
        give_bytes(mailbox, messages[i]->public.size);
}

int mailbox_push_chain(struct mailbox *mailbox, uint32_t serial, struct message *const *messages,
                       uint32_t count, bool *out_wake)
{
    uint64_t bytes_limit = atomic_load_explicit(&mailbox->bytes_limit, memory_order_relaxed);
    uint32_t fits = count;
    int taken;

    if (bytes_limit && messages[0]->public.size > bytes_limit)
        return WEIR_EINVALID;
    if (bytes_limit)
        fits = take_bytes_of_chain(mailbox, messages, count, bytes_limit);
    taken = fits ? admit_chain(mailbox, serial, fits, out_wake) : WEIR_EFULL;
    if (bytes_limit)
        weigh_chain(mailbox, messages, fits, taken > 0 ? (uint32_t)taken : 0);
    if (taken <= 0)
        return taken;
    /* Relaxed: [M4] publishes these links, too. */
    for (int i = 0; i + 1 < taken; i++)
        atomic_store_explicit(&messages[i]->next, messages[i + 1], memory_order_relaxed);
    put_chain(mailbox, messages[0], messages[taken - 1], *out_wake);
    return taken;
}

/* Takes the last message out; false when a sender is linking behind it this moment. */
static bool unlink_last(struct mailbox *mailbox, struct message *last)
{
    struct message *expected = last;
    struct message *next;

    atomic_store_explicit(&mailbox->first, NULL, memory_order_relaxed);
    /* [M6] pairs with [M3]: a sender that finds NULL writes `first` after our store of it. */
    if (atomic_compare_exchange_strong_explicit(&mailbox->tail, &expected, NULL,
                                                memory_order_acq_rel, memory_order_relaxed))
        return true;
    next = atomic_load_explicit(&last->next, memory_order_acquire);
    atomic_store_explicit(&mailbox->first, next ? next : last, memory_order_relaxed);
    return next != NULL;
}

struct message *mailbox_take_linked(struct mailbox *mailbox)
{
    /* [M4] acquires the message. */
    struct message *message = atomic_load_explicit(&mailbox->first, memory_order_acquire);
    struct message *next;

    if (!message)
        return NULL;
    next = atomic_load_explicit(&message->next, memory_order_acquire);
    if (next)
        atomic_store_explicit(&mailbox->first, next, memory_order_relaxed);
    else if (!unlink_last(mailbox, message))
        return NULL;
    return message;
}

/* Takes a message that is last, behind one that stays. False: a sender is linking behind it. */
static bool unlink_last_behind(struct mailbox *mailbox, struct message *previous,
                               struct message *last)
{
    struct message *expected = last;
    struct message *next;

    atomic_store_explicit(&previous->next, NULL, memory_order_relaxed);
    /* [M6] as in unlink_last: a sender that finds `previous` writes its link after our store. */
    if (atomic_compare_exchange_strong_explicit(&mailbox->tail, &expected, previous,
                                                memory_order_acq_rel, memory_order_relaxed))
        return true;
    next = atomic_load_explicit(&last->next, memory_order_acquire);
    atomic_store_explicit(&previous->next, next ? next : last, memory_order_relaxed);
    return next != NULL;
}

/* Takes `message`, which follows the message that the walk has passed. A link that exists is
 * written by no sender any more. */
static bool unlink_behind(struct mailbox *mailbox, struct message *previous,
                          struct message *message)
{
    struct message *next = atomic_load_explicit(&message->next, memory_order_acquire);

    if (!next)
        return unlink_last_behind(mailbox, previous, message);
    atomic_store_explicit(&previous->next, next, memory_order_relaxed);
    return true;
}

/* The message at the position of the walk, which it takes or passes; NULL: none is linked. */
static struct message *look_at_next(struct mailbox *mailbox, struct mailbox_walk *walk,
                                    bool *out_taken)
{
    _Atomic(struct message *) *link = walk->passed ? &walk->passed->next : &mailbox->first;
    /* [M4] acquires the message. */
    struct message *message = atomic_load_explicit(link, memory_order_acquire);

    *out_taken = message && walk->may(walk->context, message);
    if (*out_taken && walk->passed)
        return unlink_behind(mailbox, walk->passed, message) ? message : NULL;
    if (*out_taken)
        return mailbox_take_linked(mailbox);
    if (message)
        walk->passed = message;
    return message;
}

struct message *mailbox_take_if(struct mailbox *mailbox, struct mailbox_walk *walk)
{
    /* Relaxed: see [M8]. */
    struct message *message = atomic_load_explicit(&mailbox->waker, memory_order_relaxed);

    if (message && !walk->passed_waker) {
        if (walk->may(walk->context, message))
            return mailbox_take(mailbox);
        walk->passed_waker = true;
    }
    while (walk->looks > 0) {
        bool taken;

        walk->looks--;
        message = look_at_next(mailbox, walk, &taken);
        if (message && taken)
            mailbox_count_taken(mailbox, message);
        if (!message || taken)
            return message;
    }
    return NULL;
}

/* Puts a message in front of the queue. */
static void link_first(struct mailbox *mailbox, struct message *message)
{
    /* Relaxed: while it is set, only the owner writes it, and takes the message itself. */
    struct message *first = atomic_load_explicit(&mailbox->first, memory_order_relaxed);

    if (!first) { /* the queue is empty, or a sender is linking its first message */
        link_chain(mailbox, message, message);
        return;
    }
    atomic_store_explicit(&message->next, first, memory_order_relaxed);
    atomic_store_explicit(&mailbox->first, message, memory_order_relaxed);
}

void mailbox_put_back(struct mailbox *mailbox, struct message *message)
{
    if (atomic_load_explicit(&mailbox->bytes_limit, memory_order_relaxed)) {
        atomic_fetch_add_explicit(&mailbox->bytes, message->public.size, memory_order_relaxed);
        message->public.reserved |= MESSAGE_WEIGHED;
    }
    /* Relaxed, here and below: only the owner writes them while it is awake. */
    if (atomic_load_explicit(&mailbox->waker, memory_order_relaxed))
        link_first(mailbox, message);
    else
        atomic_store_explicit(&mailbox->waker, message, memory_order_relaxed);
    atomic_store_explicit(&mailbox->taken,
                          atomic_load_explicit(&mailbox->taken, memory_order_relaxed) - 1,
                          memory_order_release);
}

uint32_t mailbox_batch(struct mailbox *mailbox)
{
    /* Relaxed: a changed limit counts from when it is seen. */
    uint32_t quarter = atomic_load_explicit(&mailbox->limit, memory_order_relaxed) / 4;

    return quarter == 0 ? 1 : quarter < BATCH_MAX ? quarter : BATCH_MAX;
}

struct message *mailbox_pop(struct mailbox *mailbox)
{
    struct message *message = mailbox_take(mailbox);

    if (message)
        mailbox_return(mailbox);
    return message;
}

bool mailbox_empty(struct mailbox *mailbox)
{
    return mailbox_waiting(mailbox) == 0;
}

bool mailbox_try_idle(struct mailbox *mailbox)
{
    uint64_t word = atomic_load_explicit(&mailbox->word, memory_order_relaxed);
    uint32_t taken = (uint32_t)atomic_load_explicit(&mailbox->taken, memory_order_relaxed);

    if ((uint32_t)word != taken || (word & MAILBOX_OTHER))
        return false;
    /* [M2] releases the actor to the sender that takes IDLE down. Any sender that was faster has
     * changed the word. */
    return atomic_compare_exchange_strong_explicit(&mailbox->word, &word, word | MAILBOX_IDLE,
                                                   memory_order_seq_cst, memory_order_relaxed);
}

bool mailbox_try_mute(struct mailbox *mailbox)
{
    uint64_t word = atomic_load_explicit(&mailbox->word, memory_order_relaxed);

    do
        if (word & MAILBOX_OTHER)
            return false;
    /* [M2] as in mailbox_try_idle, to raise_other. */
    while (!atomic_compare_exchange_weak_explicit(&mailbox->word, &word, word | MAILBOX_MUTED,
                                                  memory_order_seq_cst, memory_order_relaxed));
    return true;
}

void mailbox_open(struct mailbox *mailbox)
{
    atomic_fetch_and_explicit(&mailbox->word, ~MAILBOX_CLOSED, memory_order_seq_cst);
}

void mailbox_close(struct mailbox *mailbox)
{
    atomic_fetch_or_explicit(&mailbox->word, MAILBOX_CLOSED, memory_order_seq_cst);
}

void mailbox_end(struct mailbox *mailbox)
{
    uint64_t word = atomic_load_explicit(&mailbox->word, memory_order_relaxed);
    uint64_t next;

    do
        next = (word & ~(~0ull << MAILBOX_SERIAL_SHIFT)) | MAILBOX_CLOSED |
               ((uint64_t)(mailbox_serial(word) + 1) << MAILBOX_SERIAL_SHIFT);
    while (!atomic_compare_exchange_weak_explicit(&mailbox->word, &word, next, memory_order_seq_cst,
                                                  memory_order_relaxed));
}

bool mailbox_is_closed(struct mailbox *mailbox)
{
    return atomic_load_explicit(&mailbox->word, memory_order_seq_cst) & MAILBOX_CLOSED;
}

/* The tail and `taken` of one instant: `taken` is read around the word until it is equal. */
static uint32_t read_tail(struct mailbox *mailbox, uint64_t *out_taken)
{
    uint64_t word;

    do {
        *out_taken = mailbox_taken(mailbox);
        word = atomic_load_explicit(&mailbox->word, memory_order_acquire);
    } while (*out_taken != mailbox_taken(mailbox));
    return (uint32_t)word;
}

uint32_t mailbox_waiting(struct mailbox *mailbox)
{
    uint64_t taken;
    uint32_t tail = read_tail(mailbox, &taken);

    return tail - (uint32_t)taken;
}

uint64_t mailbox_accepted(struct mailbox *mailbox)
{
    uint64_t taken;
    uint32_t tail = read_tail(mailbox, &taken);

    return taken + (uint32_t)(tail - (uint32_t)taken);
}

uint32_t mailbox_room(struct mailbox *mailbox)
{
    uint32_t limit = atomic_load_explicit(&mailbox->limit, memory_order_relaxed);
    /* The head first: so the room is never overestimated. */
    uint32_t head = atomic_load_explicit(&mailbox->head, memory_order_acquire);
    uint64_t word = atomic_load_explicit(&mailbox->word, memory_order_seq_cst);
    uint32_t occupied = (uint32_t)word - head;

    if (limit == 0)
        return UINT32_MAX;
    if (limit == MAILBOX_UNBUFFERED)
        return word & MAILBOX_IDLE ? 1 : 0;
    return occupied < limit ? limit - occupied : 0;
}
