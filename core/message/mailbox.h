/* SPDX-License-Identifier: MIT */
/*
 * message/mailbox.h - an actor's incoming lanes, and the word that admits messages.
 *
 * The normal lane is a linked queue of any number of senders and one owner. Before the queue comes
 * the place of the *waker*. A sender that finds the owner asleep finds the queue empty, and no
 * thread reads the queue until that sender has scheduled the owner: so the sender stores its
 * message there by a plain store. The other lanes share one stack, which the owner takes whole and
 * sorts. The *admission word* holds
 *
 *      63        36   35     34       33      32    31            0
 *     | serial     | muted | closed | other | idle | tail          |
 *
 * One compare-and-swap of a sender checks the serial, that the mailbox is open and that there is
 * room; takes a place in the order; and shows whether the actor slept, in which case the sender
 * schedules it. The owner goes idle by a compare-and-swap on the same word, which fails when a
 * sender came first. So no wake-up is lost.
 *
 * `taken`, on the owner's line, counts the messages that have left the queue: tail - taken messages
 * wait, exactly. The owner returns places in batches: `head`, on the senders' line, is the value of
 * `taken` at the last return, and there is a place while tail - head < limit. A place that is not
 * returned yet counts as occupied for senders, so the limit stays an upper bound.
 *
 * Without a buffer, MAILBOX_UNBUFFERED, the bit IDLE decides instead of the counters: the one
 * sender that clears it is admitted. So a message is admitted only for an owner that sleeps and
 * would take it at once. An owner that may take no message is muted or closed instead.
 *
 * A limit of bytes is a second word. A sender takes its bytes before its place, and returns them
 * when it gets no place. So the payload that waits never passes the limit, under any number of
 * senders. Close to the limit, concurrent senders may get FULL where senders one after the other
 * would find room, since bytes of a sender that is about to be refused count, too. Without a limit
 * of bytes none of this costs anything.
 *
 *               | push others | pop idle take | open close restart
 *   push others |      -      |       -       |       -            - = any threads at once
 *   pop idle .. |      -      |       X       |       X            X = the owner alone
 *   open ...    |      -      |       X       |       X            L = one by one, by a lock
 *
 * `others` are the pushes and signals of the control queue, `take` is its owner's operation.
 */
#ifndef MESSAGE_MAILBOX_H
#define MESSAGE_MAILBOX_H

#include <stdalign.h>
#include <stdbool.h>

#include "message/message.h"

#include <weir/choices.h>

#define MAILBOX_IDLE (1ull << 32)   /* not running, not queued: the next sender schedules it */
#define MAILBOX_OTHER (1ull << 33)  /* the other lanes or the signals are not empty */
#define MAILBOX_CLOSED (1ull << 34) /* admits nothing */
#define MAILBOX_MUTED (1ull << 35)  /* not running, and only the other lanes wake it */
#define MAILBOX_UNBUFFERED WEIR_UNBUFFERED /* instead of a limit: admits while the owner sleeps */
#define MAILBOX_SERIAL_SHIFT 36
#define MAILBOX_SERIAL_MAX ((1u << 28) - 1)

/*
 * Senders write the first 64 bytes, the owner writes what follows. A struct that contains a mailbox
 * aligns it to 64, and continues with fields that the owner writes.
 */
struct mailbox {
    /* written by senders */
    _Atomic uint64_t word;
    _Atomic(struct message *) tail;  /* last linked; NULL = empty */
    _Atomic(struct message *) other; /* stack of urgent, high, replies, exits, downs */
    _Atomic uint32_t head;           /* written by the owner, by mailbox_return */
    _Atomic uint32_t limit;          /* written by a change of settings; 0 = unlimited */
    _Atomic uint16_t signals;        /* bits that the owner defines, set by any thread */
    _Atomic uint64_t bytes_limit;    /* written by a change of settings; 0 = unlimited */
    _Atomic uint64_t bytes;          /* of payload that wait, weighed while there is a limit */
    _Atomic uint32_t lanes[2];       /* in high, urgent: for actor/send.c, which bounds them */

    /* written by the owner */
    _Atomic(struct message *) first; /* also by the sender that found it empty */
    _Atomic uint64_t taken;          /* read for figures */
    _Atomic(struct message *) waker; /* the message that woke it, until taken; by its sender, too */
};

static_assert(offsetof(struct mailbox, first) == 64, "two lines: senders, owner");

/* Starts closed, not idle: the creator schedules the actor once. The serial is odd; 0: it has none
 * yet. */
void mailbox_init(struct mailbox *mailbox, uint32_t serial, uint32_t limit);

/*
 * Admits one message into the normal lane. Any thread. Never blocks, never allocates.
 *
 * Takes `message` on 0; otherwise the caller keeps it. WEIR_EFULL: no place. WEIR_EINVALID: its
 * payload alone passes the limit of bytes. WEIR_ECLOSED: the owner drains or is not open.
 * WEIR_ETERMINATED: another serial. On 0, `out_wake` says that the caller must schedule the actor.
 * A sender that is paused between its two steps delays later messages of other senders; none is
 * lost or reordered.
 */
int mailbox_push(struct mailbox *mailbox, uint32_t serial, struct message *message, bool *out_wake);

/* As mailbox_push, also while the mailbox is closed. The caller ensures that the owner does not end
 * it meanwhile. */
int mailbox_push_past_close(struct mailbox *mailbox, uint32_t serial, struct message *message,
                            bool *out_wake);

/*
 * Admits as many messages of a chain as there is room for, from the front, in one step: no message
 * of another sender comes between them. Any thread. Returns the number of messages that it took; if
 * that is none, a status as mailbox_push. `count` is at least 1, at most INT32_MAX.
 */
int mailbox_push_chain(struct mailbox *mailbox, uint32_t serial, struct message *const *messages,
                       uint32_t count, bool *out_wake);

/* The next message of the normal lane, owned by the caller; NULL: none that can be seen yet. Its
 * place stays occupied until mailbox_return. */
static inline struct message *mailbox_take(struct mailbox *mailbox);

/* Returns the places of all messages that were taken: senders may use them. */
static inline void mailbox_return(struct mailbox *mailbox)
{
    /* [M1] the release gives the places to senders. */
    atomic_store_explicit(&mailbox->head,
                          (uint32_t)atomic_load_explicit(&mailbox->taken, memory_order_relaxed),
                          memory_order_release);
}

/* A walk over the messages that wait, from the first one. */
struct mailbox_walk {
    bool (*may)(const void *context, const struct message *message); /* const: to be taken */
    const void *context;                                             /* const */
    struct message *passed; /* the last linked message that stays; NULL: none */
    bool passed_waker;      /* the waker stays */
    uint32_t looks;         /* messages that the walk may still look at */
};

/* As mailbox_take, for the first message from the walk's position on that `may` be taken; the
 * messages before it stay, in order. `may` sees packed tasks, too. */
struct message *mailbox_take_if(struct mailbox *mailbox, struct mailbox_walk *walk);

/* After mailbox_take_if, before mailbox_return: the message is the first one, also before those
 * that `may` has passed by, or the second one if a message stays that came to a sleeping owner. */
void mailbox_put_back(struct mailbox *mailbox, struct message *message);

/* The largest number of places that the owner may hold back: a quarter of the limit. At least 1,
 * which means that it returns each place at once. */
uint32_t mailbox_batch(struct mailbox *mailbox);

/* mailbox_take, and mailbox_return. */
struct message *mailbox_pop(struct mailbox *mailbox);

/* True when the other lanes or the signals may not be empty: see control_queue.h. */
static inline bool mailbox_has_other(const struct mailbox *mailbox)
{
    /* Relaxed: a hint; the owner synchronises when it takes them. */
    return atomic_load_explicit(&mailbox->word, memory_order_relaxed) & MAILBOX_OTHER;
}

/* True when nothing waits; counts messages that are admitted and not linked yet. */
bool mailbox_empty(struct mailbox *mailbox);

/* Whether its owner sleeps and takes the next message at once: a look, which may be out of date. */
static inline bool mailbox_is_idle(const struct mailbox *mailbox)
{
    /* seq_cst for pool/backed_up.h. */
    return atomic_load_explicit(&mailbox->word, memory_order_seq_cst) & MAILBOX_IDLE;
}

/*
 * Goes idle if no message waits. True: the actor belongs to the next sender that wakes it, and the
 * caller touches it no more. False: a message or signal has arrived.
 */
bool mailbox_try_idle(struct mailbox *mailbox);

/*
 * Goes to sleep although messages may wait: only the other lanes and the signals wake the actor.
 * True: the caller touches it no more. False: the other lanes or the signals are not empty.
 */
bool mailbox_try_mute(struct mailbox *mailbox);

/* Sets the limit of later pushes; 0 = unlimited, or MAILBOX_UNBUFFERED. From 2^31 on it counts as
 * 2^31 - 1. Any thread. */
void mailbox_set_limit(struct mailbox *mailbox, uint32_t limit);
void mailbox_set_bytes_limit(struct mailbox *mailbox, uint64_t limit);

/* True when the limit of bytes has no room for one byte. A hint. */
bool mailbox_bytes_full(struct mailbox *mailbox);

void mailbox_open(struct mailbox *mailbox);
void mailbox_close(struct mailbox *mailbox);

/* Whether it admits nothing, because its owner drains or is not open. Any thread. */
bool mailbox_is_closed(struct mailbox *mailbox);

/* Ends this serial; the next one is even. Every later push returns WEIR_ETERMINATED. Only when
 * closed and empty. */
void mailbox_end(struct mailbox *mailbox);

/* The number of messages admitted so far, and of those that wait. Exact for the owner; for other
 * threads exact at some instant of the call. */
uint64_t mailbox_accepted(struct mailbox *mailbox);
uint32_t mailbox_waiting(struct mailbox *mailbox);

/* Messages that have left the queue. Any thread. */
static inline uint64_t mailbox_taken(const struct mailbox *mailbox)
{
    return atomic_load_explicit(&mailbox->taken, memory_order_acquire);
}

static inline bool mailbox_is_unbuffered(const struct mailbox *mailbox)
{
    /* Relaxed: a changed limit takes effect when this thread sees it. */
    return atomic_load_explicit(&mailbox->limit, memory_order_relaxed) == MAILBOX_UNBUFFERED;
}

/* The number of free places; UINT32_MAX without a limit. Any thread. A hint: senders and the owner
 * change it at any time. */
uint32_t mailbox_room(struct mailbox *mailbox);

static inline uint32_t mailbox_serial(uint64_t word)
{
    return (uint32_t)(word >> MAILBOX_SERIAL_SHIFT);
}

/* Parts of mailbox_take: take the first message of the queue; give back a message's bytes. */
struct message *mailbox_take_linked(struct mailbox *mailbox);
void mailbox_unweigh(struct mailbox *mailbox, struct message *message);

/* Another part of it: counts a message that has left the queue. */
static inline void mailbox_count_taken(struct mailbox *mailbox, struct message *message)
{
    if (__builtin_expect(message->public.reserved & MESSAGE_WEIGHED, false))
        mailbox_unweigh(mailbox, message);
    /* Release: a reader that sees the count sees that the message was admitted. Relaxed load: only
     * the owner writes it. */
    atomic_store_explicit(&mailbox->taken,
                          atomic_load_explicit(&mailbox->taken, memory_order_relaxed) + 1,
                          memory_order_release);
}

static inline struct message *mailbox_take(struct mailbox *mailbox)
{
    /* [M8] Relaxed: this turn was scheduled by the sender that has put it there. */
    struct message *message = atomic_load_explicit(&mailbox->waker, memory_order_relaxed);

    if (message) {
        atomic_store_explicit(&mailbox->waker, NULL, memory_order_relaxed);
    } else {
        /* Relaxed: a first look. */
        if (!atomic_load_explicit(&mailbox->first, memory_order_relaxed))
            return NULL;
        message = mailbox_take_linked(mailbox);
        if (!message)
            return NULL;
    }
    mailbox_count_taken(mailbox, message);
    return message;
}

#endif
