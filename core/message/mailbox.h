/*
 * message/mailbox.h - an actor's incoming lanes and the word that admits into them.
 *
 * The normal lane is a linked queue of any number of senders and one owner, and before it the place
 * of the *waker*: a sender that finds the owner asleep finds the queue empty, and no thread reads
 * it before the owner has been scheduled by that sender; so its message is laid there by a plain
 * store. The other lanes share one stack, which the owner takes whole and sorts. The *admission
 * word* holds
 *
 *      63        36   35     34       33      32    31            0
 *     | serial     | muted | closed | other | idle | tail          |
 *
 * so that a sender's single compare-and-swap answers "is it still you, still open, is there room",
 * takes a place in the order, and tells whether the actor slept (then the sender schedules it).
 * The owner goes idle by a compare-and-swap on the same word: a sender that was first makes it
 * fail. There is no second flag to race with, hence no wake-up to lose.
 *
 * `taken`, on the owner's line, counts the messages that have left the queue: tail - taken messages
 * wait, exactly. The owner returns places in batches: `head`, on the senders' line, is the value of
 * `taken` at the last return, and there is a place while tail - head < limit. A place that is not
 * returned yet counts as occupied for senders, so the limit stays an upper bound.
 *
 * Without a buffer, MAILBOX_UNBUFFERED, the bit IDLE decides instead of the counters: the sender
 * that takes it down is admitted, alone. So a message is admitted only for an owner that sleeps and
 * would take it at once; one that may take none is muted instead, or closed.
 *
 * A limit of bytes is a second word: a sender takes its bytes before its place, and gives them back
 * when it gets none. So the payload that waits never passes the limit, under any number of senders;
 * a "full" is true of the bytes that wait and those of senders between the two steps, of which one
 * may yet be refused: at the very limit, concurrent senders may get FULL where senders one after
 * the other would find room. Without a limit none of this costs anything.
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

#define MAILBOX_IDLE (1ull << 32)   /* nobody runs it or will: the next sender schedules it */
#define MAILBOX_OTHER (1ull << 33)  /* the other lanes or the signals have something */
#define MAILBOX_CLOSED (1ull << 34) /* admits nothing */
#define MAILBOX_MUTED (1ull << 35)  /* nobody runs it, and only the other lanes wake it */
#define MAILBOX_UNBUFFERED WEIR_UNBUFFERED /* instead of a limit: admits while the owner sleeps */
#define MAILBOX_SERIAL_SHIFT 36
#define MAILBOX_SERIAL_MAX ((1u << 28) - 1)

/*
 * The first 64 bytes are the senders', what comes behind them the owner's: whoever holds a mailbox
 * aligns it to 64 and goes on behind it with what the owner writes.
 */
struct mailbox {
    /* written by senders */
    _Atomic uint64_t word;
    _Atomic(struct message *) tail;  /* last linked; NULL = empty */
    _Atomic(struct message *) other; /* stack of urgent, high, replies, exits, downs */
    _Atomic uint32_t head;           /* written by the owner, by mailbox_return */
    _Atomic uint32_t limit;          /* written by whoever reconfigures; 0 = unlimited */
    _Atomic uint16_t signals;        /* bits of the owner's choosing, set by anybody */
    _Atomic uint64_t bytes_limit;    /* written by whoever reconfigures; 0 = unlimited */
    _Atomic uint64_t bytes;          /* of payload that wait, weighed while there is a limit */
    _Atomic uint32_t lanes[2];       /* in high, urgent: for actor/send.c, which bounds them */

    /* written by the owner */
    _Atomic(struct message *) first; /* also by the sender that found it empty */
    _Atomic uint64_t taken;          /* read by those who read figures */
    _Atomic(struct message *) waker; /* the message that woke it, until taken; by its sender, too */
};

static_assert(offsetof(struct mailbox, first) == 64, "two lines: senders, owner");

/* Starts closed, not idle (the creator schedules it once). The serial is odd; 0: of nobody yet. */
void mailbox_init(struct mailbox *mailbox, uint32_t serial, uint32_t limit);

/*
 * Admits one message into the normal lane. Any thread. Never blocks, never allocates.
 *
 * Takes `message` on 0; on any other status the caller keeps it: WEIR_EFULL no place, WEIR_EINVALID
 * its payload alone passes the limit of bytes, WEIR_ECLOSED the owner drains or is not open,
 * WEIR_ETERMINATED another serial. On 0, `out_wake` says that the
 * caller must schedule the actor. A sender paused between its two steps holds back later messages
 * of others; none is lost or reordered.
 */
int mailbox_push(struct mailbox *mailbox, uint32_t serial, struct message *message, bool *out_wake);

/*
 * Admits as many of a chain as there is room for, from the front, by one step: nothing of another
 * sender comes between them. Any thread. Answers how many it took, or as mailbox_push when there is
 * none. `count` is at least 1, at most INT32_MAX.
 */
int mailbox_push_chain(struct mailbox *mailbox, uint32_t serial, struct message *const *messages,
                       uint32_t count, bool *out_wake);

/* The next message of the normal lane, owned by the caller; NULL: none that can be seen yet. Its
 * place stays occupied until mailbox_return. */
struct message *mailbox_take(struct mailbox *mailbox);

/* Returns the places of all messages that were taken: senders may use them. */
void mailbox_return(struct mailbox *mailbox);

/* The largest number of places that the owner may hold back: a quarter of the limit. At least 1,
 * which means that it returns each place at once. */
uint32_t mailbox_batch(struct mailbox *mailbox);

/* The message that mailbox_take would return. Borrowed until then; the owner alone. */
const struct message *mailbox_peek(const struct mailbox *mailbox);

/* mailbox_take, and mailbox_return. */
struct message *mailbox_pop(struct mailbox *mailbox);

/* True when the other lanes or the signals may have something: see control_queue.h. */
static inline bool mailbox_has_other(const struct mailbox *mailbox)
{
    /* Relaxed: a guess; taking them synchronises. */
    return atomic_load_explicit(&mailbox->word, memory_order_relaxed) & MAILBOX_OTHER;
}

/* True when nothing waits; counts messages that are admitted and not linked yet. */
bool mailbox_empty(struct mailbox *mailbox);

/*
 * Gives the actor up if nothing waits. On true it belongs to the next sender that wakes it: touch
 * nothing of it any more. False: something came.
 */
bool mailbox_try_idle(struct mailbox *mailbox);

/*
 * Gives the actor up although messages may wait: only the other lanes and the signals wake it. On
 * true touch nothing of it any more. False: they have something.
 */
bool mailbox_try_mute(struct mailbox *mailbox);

/* From now on, for what is pushed from now on; 0 = unlimited, or MAILBOX_UNBUFFERED. Any
 * thread. A number of messages that cannot be counted, from 2^31 on, is as good as 2^31 - 1. */
void mailbox_set_limit(struct mailbox *mailbox, uint32_t limit);
void mailbox_set_bytes_limit(struct mailbox *mailbox, uint64_t limit);

/* True when not even a message of one byte would be admitted, for its bytes. A hint. */
bool mailbox_bytes_full(struct mailbox *mailbox);

void mailbox_open(struct mailbox *mailbox);
void mailbox_close(struct mailbox *mailbox);

/* Whether it admits nothing, because its owner drains or is not open. Any thread. */
bool mailbox_is_closed(struct mailbox *mailbox);

/* Ends this serial, the next one is even: every later push answers TERMINATED. Only when closed and
 * empty. */
void mailbox_end(struct mailbox *mailbox);

/* Messages admitted in all, and of those how many wait. Exact for the owner; for others exact at
 * some instant of the call. */
uint64_t mailbox_accepted(struct mailbox *mailbox);
uint32_t mailbox_waiting(struct mailbox *mailbox);

/* Messages that have left the queue. Any thread. */
static inline uint64_t mailbox_taken(const struct mailbox *mailbox)
{
    return atomic_load_explicit(&mailbox->taken, memory_order_acquire);
}

static inline bool mailbox_is_unbuffered(const struct mailbox *mailbox)
{
    /* Relaxed: a changed limit counts from when it is seen. */
    return atomic_load_explicit(&mailbox->limit, memory_order_relaxed) == MAILBOX_UNBUFFERED;
}

/* The number of free places; UINT32_MAX without a limit. Any thread. A hint: senders and the owner
 * change it at any time. */
uint32_t mailbox_room(struct mailbox *mailbox);

static inline uint32_t mailbox_serial(uint64_t word)
{
    return (uint32_t)(word >> MAILBOX_SERIAL_SHIFT);
}

#endif
