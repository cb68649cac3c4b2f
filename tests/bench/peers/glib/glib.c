/* SPDX-License-Identifier: MIT */
/*
 * GLib: GAsyncQueue between threads (pingpong, request, count, contend), and GThreadPool with as
 * many threads as CPUs (pools, latency, hog, overload). Neither has a limit; where the row drops
 * what does not fit, the sender asks how much waits.
 */
#include <glib.h>
#include <sched.h>
#include <stdatomic.h>

#include "../../row.h"

struct context {
    const struct row *row;
    GAsyncQueue *in, *out;
    GThreadPool *pool;
    double interval_ns;
    uint64_t *sent, *delays;
    uint64_t messages, sum; /* of a thread of its own */
    uint64_t steps;
    _Atomic uint64_t pool_messages, pool_sum, refused;
    _Atomic bool stop, hog_ended;
};

/* A queue takes no NULL. */
static gpointer box(uint64_t number)
{
    return (gpointer)(uintptr_t)(number + 1);
}

static uint64_t unbox(gpointer data)
{
    return (uint64_t)(uintptr_t)data - 1;
}

/* --- queues --------------------------------------------------------------------------------- */

static gpointer pong(gpointer argument)
{
    struct context *context = argument;

    for (uint64_t i = 0; i < context->row->each; i++)
        g_async_queue_push(context->out, g_async_queue_pop(context->in));
    return NULL;
}

static int run_pingpong(const struct row *row)
{
    struct context context = { .row = row, .in = g_async_queue_new(), .out = g_async_queue_new() };
    uint64_t sum = 0, start = row_now_ns();
    GThread *thread = g_thread_new("pong", pong, &context);

    for (uint64_t i = row->each; i > 0; i--) {
        g_async_queue_push(context.in, box(i));
        sum += unbox(g_async_queue_pop(context.out));
    }
    g_thread_join(thread);
    row_print(row_is(row, "request") ? row->each : 2 * row->each, row_now_ns() - start,
              sum == row->each * (row->each + 1) / 2);
    return 0;
}

static gpointer count(gpointer argument)
{
    struct context *context = argument;
    uint64_t messages = context->row->each * context->row->senders;

    for (uint64_t i = 0; i < messages; i++)
        context->sum += unbox(g_async_queue_pop(context->in));
    return NULL;
}

static gpointer send(gpointer argument)
{
    struct context *context = argument;

    for (uint64_t i = 1; i <= context->row->each; i++)
        g_async_queue_push(context->in, box(i));
    return NULL;
}

static int run_count(const struct row *row)
{
    struct context context = { .row = row, .in = g_async_queue_new() };
    GThread **senders = g_new(GThread *, row->senders);
    uint64_t start = row_now_ns();
    GThread *counter = g_thread_new("count", count, &context);

    for (uint32_t i = 0; i < row->senders; i++)
        senders[i] = g_thread_new("send", send, &context);
    for (uint32_t i = 0; i < row->senders; i++)
        g_thread_join(senders[i]);
    g_thread_join(counter);
    row_print(row->each * row->senders, row_now_ns() - start,
              context.sum == row->senders * (row->each * (row->each + 1) / 2));
    return 0;
}

/* --- pools ---------------------------------------------------------------------------------- */

static void push(GThreadPool *pool, uint64_t number)
{
    if (!g_thread_pool_push(pool, box(number), NULL))
        abort();
}

static void handle(gpointer data, gpointer argument)
{
    struct context *context = argument;
    uint64_t number = unbox(data), noise = row_work(number, context->steps);

    __asm__("" : : "r"(noise));
    if (context->delays)
        context->delays[number] = row_now_ns() - context->sent[number];
    /* Relaxed: they are read when the pool has been freed. */
    atomic_fetch_add_explicit(&context->pool_messages, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&context->pool_sum, number, memory_order_relaxed);
}

static gpointer send_to_pool(gpointer argument)
{
    struct context *context = argument;

    for (uint64_t i = 1; i <= context->row->each; i++)
        push(context->pool, i);
    return NULL;
}

/* Offers the messages that are due; drops those that do not fit. */
static gpointer offer_to_pool(gpointer argument)
{
    struct context *context = argument;
    const struct row *row = context->row;
    uint64_t start = row_now_ns();

    for (uint64_t i = 1; i <= row->each; i++) {
        uint64_t due = start + (uint64_t)(context->interval_ns * (double)i);

        while (row_now_ns() < due)
            (void)sched_yield();
        if (g_thread_pool_unprocessed(context->pool) < row->limit * row->receivers)
            push(context->pool, i);
        else
            atomic_fetch_add(&context->refused, 1);
    }
    return NULL;
}

static GThreadPool *make_pool(GFunc function, void *context, uint32_t threads)
{
    GThreadPool *pool = g_thread_pool_new(function, context, (gint)threads, TRUE, NULL);

    if (!pool)
        abort();
    return pool;
}

static int run_pool(const struct row *row)
{
    bool offers = row_is(row, "overload");
    struct context context = { .row = row,
                               .steps = row->steps,
                               .interval_ns = offers ? row_overload_interval_ns(row) : 0 };
    GThread **senders = g_new(GThread *, row->senders);
    uint64_t expected = row->senders * row->each, start = row_now_ns();

    context.pool = make_pool(handle, &context, row->threads);
    for (uint32_t i = 0; i < row->senders; i++)
        senders[i] = g_thread_new("send", offers ? offer_to_pool : send_to_pool, &context);
    for (uint32_t i = 0; i < row->senders; i++)
        g_thread_join(senders[i]);
    g_thread_pool_free(context.pool, FALSE, TRUE);
    row_print(context.pool_messages, row_now_ns() - start,
              context.pool_messages + context.refused == expected);
    return 0;
}

static void make_delays(struct context *context, uint64_t count)
{
    context->sent = g_new0(uint64_t, count);
    context->delays = g_new0(uint64_t, count);
}

static int run_latency(const struct row *row)
{
    struct context context = { .row = row, .steps = row->steps };
    double interval = 2 * row_work_ns(row->steps);
    uint64_t start;

    make_delays(&context, row->each);
    context.pool = make_pool(handle, &context, row->threads);
    start = row_now_ns();
    for (uint64_t i = 0; i < row->each; i++) {
        context.sent[i] = start + (uint64_t)(interval * (double)i);
        while (row_now_ns() < context.sent[i])
            ;
        push(context.pool, i);
    }
    g_thread_pool_free(context.pool, FALSE, TRUE);
    row_print(row->each, row_now_ns() - start, context.pool_messages == row->each);
    row_print_delays(context.delays, row->each);
    return 0;
}

/* Number 0 is the hog, which goes back into the queue after each of its turns. */
static void handle_or_hog(gpointer data, gpointer argument)
{
    struct context *context = argument;

    if (unbox(data) > 0) {
        handle(box(unbox(data) - 1), context);
        return;
    }
    __asm__("" : : "r"(row_work(1, context->row->steps)));
    if (atomic_load(&context->stop))
        atomic_store(&context->hog_ended, true);
    else
        push(context->pool, 0);
}

static int run_hog(const struct row *row)
{
    uint64_t messages = row->each * row->receivers, start;
    struct context context = { .row = row };

    make_delays(&context, messages);
    context.pool = make_pool(handle_or_hog, &context, row->threads);
    push(context.pool, 0);
    start = row_now_ns();
    for (uint64_t i = 0; i < messages; i++) {
        row_sleep_until(start + i * ROW_HOG_INTERVAL_NS);
        context.sent[i] = row_now_ns();
        push(context.pool, i + 1);
    }
    while (atomic_load(&context.pool_messages) < messages)
        (void)sched_yield();
    atomic_store(&context.stop, true);
    while (!atomic_load(&context.hog_ended)) /* a pool that is freed takes no push */
        (void)sched_yield();
    g_thread_pool_free(context.pool, FALSE, TRUE);
    row_print(messages, row_now_ns() - start, true);
    row_print_delays(context.delays, messages);
    return 0;
}

static int run(const struct row *row)
{
    if (row_is(row, "pingpong") || row_is(row, "request"))
        return run_pingpong(row);
    if (row_is(row, "count") || row_is(row, "contend"))
        return run_count(row);
    if (row_is(row, "pool0") || row_is(row, "pool1us") || row_is(row, "overload"))
        return run_pool(row);
    if (row_is(row, "latency"))
        return run_latency(row);
    if (row_is(row, "hog"))
        return run_hog(row);
    return ROW_UNKNOWN;
}

int main(int argc, char **argv)
{
    struct row row;
    int status;

    if (!row_parse(argc, argv, &row))
        return 64;
    status = run(&row);
    if (status == 0)
        row_print_end();
    return status;
}
