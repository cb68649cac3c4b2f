/* SPDX-License-Identifier: MIT */
/*
 * The least cost of a message: only the steps that any actor system needs. A node comes from a free
 * list and is pushed onto a queue of many senders; the actor goes from idle to queued; a thread
 * takes it from the owner's end of a deque that thieves may use; it makes an indirect call, frees
 * the node, makes the actor idle, and looks at the queue a second time. Two actors take turns. F1
 * has one message an activation, F100 a hundred. They are measured in the same run as the rows,
 * since the cost of locked instructions differs between machines, and from one second to the next.
 */
#include <stdlib.h>

#include "bench.h"

#define NODES 128u /* more than are ever on their way */
#define DEQUE 256u

struct node {
    _Atomic(struct node *) next;
    uint64_t payload;
};

struct queue {
    _Atomic(struct node *) tail; /* senders exchange it */
    _Alignas(64) struct node *head;
    struct node sentinel;
};

struct floor_actor {
    struct queue box;
    _Atomic uint32_t state;
    void (*handle)(struct floor_actor *, uint64_t);
    uint64_t sum;
};

struct composite {
    _Alignas(64) _Atomic uint64_t top;
    _Alignas(64) _Atomic uint64_t bottom;
    _Atomic(struct floor_actor *) slots[DEQUE];
    struct floor_actor actors[2];
    struct node nodes[NODES];
    struct node *free_list;
};

__attribute__((noinline)) static void add(struct floor_actor *actor, uint64_t payload)
{
    actor->sum += payload;
}

static void push(struct queue *queue, struct node *node)
{
    struct node *before;

    atomic_store_explicit(&node->next, NULL, memory_order_relaxed);
    before = atomic_exchange_explicit(&queue->tail, node, memory_order_acq_rel);
    atomic_store_explicit(&before->next, node, memory_order_release);
}

static struct node *pop(struct queue *queue)
{
    struct node *head = queue->head;
    struct node *next = atomic_load_explicit(&head->next, memory_order_acquire);

    if (head == &queue->sentinel) {
        if (!next)
            return NULL;
        queue->head = head = next;
        next = atomic_load_explicit(&head->next, memory_order_acquire);
    }
    if (!next) {
        push(queue, &queue->sentinel);
        next = atomic_load_explicit(&head->next, memory_order_acquire);
    }
    queue->head = next;
    return head;
}

static void give(struct composite *c, struct node *node)
{
    atomic_store_explicit(&node->next, c->free_list, memory_order_relaxed);
    c->free_list = node;
}

static void send_one(struct composite *c, struct floor_actor *actor, uint64_t payload)
{
    struct node *node = c->free_list;
    uint32_t idle = 0;

    c->free_list = atomic_load_explicit(&node->next, memory_order_relaxed);
    node->payload = payload;
    push(&actor->box, node);
    if (atomic_load_explicit(&actor->state, memory_order_relaxed) == 0 &&
        atomic_compare_exchange_strong(&actor->state, &idle, 1)) {
        uint64_t bottom = atomic_load_explicit(&c->bottom, memory_order_relaxed);

        atomic_store_explicit(&c->slots[bottom % DEQUE], actor, memory_order_relaxed);
        atomic_store_explicit(&c->bottom, bottom + 1, memory_order_release);
    }
}

static struct floor_actor *take(struct composite *c)
{
    uint64_t bottom = atomic_load_explicit(&c->bottom, memory_order_relaxed) - 1;
    struct floor_actor *actor;

    atomic_store(&c->bottom, bottom); /* seen before the top is read */
    actor = atomic_load_explicit(&c->slots[bottom % DEQUE], memory_order_relaxed);
    if (bottom == atomic_load_explicit(&c->top, memory_order_relaxed)) {
        uint64_t top = bottom;

        (void)atomic_compare_exchange_strong(&c->top, &top, bottom + 1);
        atomic_store_explicit(&c->bottom, bottom + 1, memory_order_relaxed);
    }
    return actor;
}

static void run_one(struct composite *c)
{
    struct floor_actor *actor = take(c);
    struct node *node;

    while ((node = pop(&actor->box))) {
        actor->handle(actor, node->payload);
        give(c, node);
    }
    atomic_exchange(&actor->state, 0);
    if (atomic_load_explicit(&actor->box.tail, memory_order_acquire) != actor->box.head)
        abort();
}

static struct composite *make(void)
{
    struct composite *c = aligned_alloc(_Alignof(struct composite), sizeof *c);

    if (!c)
        abort();
    *c = (struct composite){ .top = 0 };
    for (uint32_t i = 0; i < NODES; i++)
        give(c, &c->nodes[i]);
    for (int i = 0; i < 2; i++) {
        struct queue *box = &c->actors[i].box;

        c->actors[i].handle = add;
        box->head = &box->sentinel;
        atomic_store(&box->tail, &box->sentinel);
    }
    return c;
}

/* `limit` messages an activation. */
static struct bench_result run_floor(struct bench *bench)
{
    struct bench_result result = { .messages = bench->row.each, .ok = true };
    struct composite *c = make();
    uint32_t many = bench->row.limit;
    uint64_t start;

    if (many == 0 || many > NODES)
        abort();
    start = row_now_ns();
    for (uint64_t i = 0; i < result.messages / many; i++) {
        for (uint32_t k = 0; k < many; k++)
            send_one(c, &c->actors[i & 1], i);
        run_one(c);
    }
    result.ns = row_now_ns() - start;
    free(c);
    return result;
}

/* What the work of the messages takes when there is nothing else. */
static struct bench_result run_work(struct bench *bench)
{
    struct bench_result result = { .messages = bench->row.each };
    uint64_t start = row_now_ns(), noise = 1;

    for (uint64_t i = 0; i < result.messages; i++)
        noise = row_work(noise + i, bench->row.steps);
    result.ns = row_now_ns() - start;
    result.ok = noise != 0; /* so the compiler leaves no step out */
    return result;
}

const struct bench_row bench_floor_rows[] = {
    { "F1", run_floor },
    { "F100", run_floor },
    { "work", run_work },
    { 0 },
};
