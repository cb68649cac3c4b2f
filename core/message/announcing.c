#include "message/announcing.h"

void announcing_begin(struct mailbox *mailbox)
{
    /* Release: who sees it sees all places that were freed without being announced. */
    atomic_store_explicit(&mailbox->announces, true, memory_order_release);
}

bool announcing_is_full(struct mailbox *mailbox)
{
    bool announces = atomic_load_explicit(&mailbox->announces, memory_order_acquire);
    uint32_t limit = atomic_load_explicit(&mailbox->limit, memory_order_seq_cst);
    uint32_t tail;

    if (mailbox_is_closed(mailbox))
        return true;
    if (!announces || limit == 0)
        return false;
    tail = (uint32_t)atomic_load_explicit(&mailbox->word, memory_order_seq_cst);
    /* Sequentially consistent: pairs with the store in mailbox_pop_announced. */
    return (int32_t)(tail - (uint32_t)atomic_load_explicit(&mailbox->head, memory_order_seq_cst)) >=
           (int32_t)limit;
}
