/*
 * What a hop costs when nothing of ours is in it: a node from a free list, an exchange onto a
 * queue, idle to queued, a run queue, an indirect call, the node back, and idle again with a second
 * look. Measured in the same run, since machines differ from one second to the next.
 */
#include <stdlib.h>

#include "bench.h"

#define ROUNDS 5
#define HOPS 2000000

struct node {
    struct node *next;
    uint64_t payload;
};

struct composite {
    _Atomic(struct node *) queue;
    _Atomic uint32_t state;
    _Atomic uint32_t run_tail;
    uint32_t run_head;
    struct composite *run[256];
    struct node *free_list;
    uint64_t sum;
    void (*handle)(struct composite *, struct node *);
};

static void add(struct composite *c, struct node *node)
{
    c->sum += node->payload;
}

static void send_one(struct composite *c, uint64_t payload)
{
    struct node *node = c->free_list;
    uint32_t idle = 0;

    c->free_list = node->next;
    node->payload = payload;
    atomic_exchange_explicit(&c->queue, node, memory_order_acq_rel);
    if (atomic_compare_exchange_strong(&c->state, &idle, 1)) {
        uint32_t tail = atomic_load_explicit(&c->run_tail, memory_order_relaxed);

        c->run[tail % 256] = c;
        atomic_store_explicit(&c->run_tail, tail + 1, memory_order_release);
    }
}

static void run_one(struct composite *c)
{
    struct composite *next = c->run[c->run_head++ % 256];
    struct node *node = atomic_load_explicit(&next->queue, memory_order_acquire);

    next->handle(next, node);
    node->next = next->free_list;
    next->free_list = node;
    atomic_store_explicit(&next->queue, NULL, memory_order_relaxed);
    atomic_exchange(&next->state, 0);
    if (atomic_load_explicit(&next->queue, memory_order_acquire))
        abort();
}

double bench_floor_ns(void)
{
    struct composite *c = calloc(1, sizeof *c);
    struct node node = { 0 };
    double best = 1e9;

    if (!c)
        return 0;
    c->handle = add;
    c->free_list = &node;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t start = bench_now_ns();
        double ns;

        for (uint64_t i = 0; i < HOPS; i++) {
            send_one(c, i);
            run_one(c);
        }
        ns = (double)(bench_now_ns() - start) / HOPS;
        best = ns < best ? ns : best;
    }
    free(c);
    return best;
}
