/* SPDX-License-Identifier: MIT */
#include "message/control_queue.h"

#define SLEEPING (MAILBOX_IDLE | MAILBOX_MUTED)

/* Tells the owner that the other lanes or the signals have something. */
static int raise_other(struct mailbox *mailbox, uint32_t serial, bool *out_wake)
{
    uint64_t word = atomic_load_explicit(&mailbox->word, memory_order_relaxed);

    do {
        if (mailbox_serial(word) != serial)
            return WEIR_ETERMINATED;
        /* [M5] release: the owner that clears OTHER sees the messages that were put there before.
         * */
    } while (!atomic_compare_exchange_weak_explicit(&mailbox->word, &word,
                                                    (word & ~SLEEPING) | MAILBOX_OTHER,
                                                    memory_order_seq_cst, memory_order_relaxed));
    *out_wake = (word & SLEEPING) != 0;
    return 0;
}

static bool is_serial(struct mailbox *mailbox, uint32_t serial)
{
    return mailbox_serial(atomic_load_explicit(&mailbox->word, memory_order_acquire)) == serial;
}

int control_queue_push(struct mailbox *mailbox, uint32_t serial, struct message *message,
                       bool *out_wake)
{
    struct message *top;

    if (!is_serial(mailbox, serial))
        return WEIR_ETERMINATED;
    top = atomic_load_explicit(&mailbox->other, memory_order_relaxed);
    do
        atomic_store_explicit(&message->next, top, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&mailbox->other, &top, message,
                                                  memory_order_release, memory_order_relaxed));
    /* The actor may have ended since: then the message lies in a mailbox that is swept before its
     * slot is used again, and is dead there. It was accepted. */
    if (raise_other(mailbox, serial, out_wake) != 0)
        *out_wake = false;
    return 0;
}

int control_queue_signal(struct mailbox *mailbox, uint32_t serial, uint32_t bits, bool *out_wake)
{
    if (!is_serial(mailbox, serial))
        return WEIR_ETERMINATED;
    /* Release pairs with the acquire in control_queue_take, which may see a bit before OTHER is
     * raised. */
    atomic_fetch_or_explicit(&mailbox->signals, (uint16_t)bits, memory_order_release);
    return raise_other(mailbox, serial, out_wake);
}

static struct message *reversed(struct message *top)
{
    struct message *oldest = NULL;

    while (top) {
        struct message *next = atomic_load_explicit(&top->next, memory_order_relaxed);

        atomic_store_explicit(&top->next, oldest, memory_order_relaxed);
        oldest = top;
        top = next;
    }
    return oldest;
}

struct message *control_queue_take(struct mailbox *mailbox, uint32_t *out_signals)
{
    /* [M5] acquire: a thread that set OTHER before had put its message or signal there before. A
     * thread that puts one there afterwards sets OTHER again. */
    atomic_fetch_and_explicit(&mailbox->word, ~MAILBOX_OTHER, memory_order_acq_rel);
    /* Relaxed: a signal that is not visible after that acquire sets OTHER again. */
    *out_signals = 0;
    if (atomic_load_explicit(&mailbox->signals, memory_order_relaxed))
        *out_signals = atomic_exchange_explicit(&mailbox->signals, 0, memory_order_acquire);
    if (!atomic_load_explicit(&mailbox->other, memory_order_relaxed))
        return NULL;
    return reversed(atomic_exchange_explicit(&mailbox->other, NULL, memory_order_acquire));
}
