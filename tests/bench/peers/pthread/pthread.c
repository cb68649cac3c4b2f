/* SPDX-License-Identifier: MIT */
/*
 * What a user writes by hand: threads, and queues of a mutex and two condition variables, which
 * take as many messages as the mailboxes of the row together.
 *
 *     pthread ROW THREADS SENDERS RECEIVERS EACH LIMIT STEPS [batch | spin]
 *
 * batch: as many workers as CPUs, and a worker takes all there is at once. spin: the worker of the
 * row `latency` never sleeps.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "../../row.h"

#define THREADS_MAX 1024
#define CHAIN_LIMIT 64 /* of rows whose mailboxes have no limit */

struct task {
    uint64_t number;
    bool ends; /* the worker that takes it */
};

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t not_empty;
    pthread_cond_t not_full;
    uint32_t capacity;
    uint32_t head;
    _Atomic uint32_t count; /* written under the lock; a spinning worker reads it without */
    struct task *ring;
};

struct thread {
    pthread_t thread;
    const struct row *row;
    struct queue *in, *out;
    double interval_ns;
    uint64_t messages, refused, sum, noise;
    uint64_t *sent, *delays; /* of rows that have them: by number */
    _Atomic bool *stop;
};

static void queue_init(struct queue *queue, uint32_t capacity)
{
    memset(queue, 0, sizeof *queue);
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->not_empty, NULL);
    pthread_cond_init(&queue->not_full, NULL);
    queue->capacity = capacity;
    queue->ring = calloc(capacity, sizeof *queue->ring);
    if (!queue->ring)
        abort();
}

static void put_locked(struct queue *queue, struct task task)
{
    queue->ring[(queue->head + queue->count) % queue->capacity] = task;
    queue->count++;
    pthread_cond_signal(&queue->not_empty);
}

static void put(struct queue *queue, uint64_t number, bool ends)
{
    pthread_mutex_lock(&queue->lock);
    while (queue->count == queue->capacity)
        pthread_cond_wait(&queue->not_full, &queue->lock);
    put_locked(queue, (struct task){ number, ends });
    pthread_mutex_unlock(&queue->lock);
}

static bool try_put(struct queue *queue, uint64_t number)
{
    bool fits;

    pthread_mutex_lock(&queue->lock);
    fits = queue->count < queue->capacity;
    if (fits)
        put_locked(queue, (struct task){ number, false });
    pthread_mutex_unlock(&queue->lock);
    return fits;
}

/* Up to `count` tasks; at least one. */
static uint32_t take(struct queue *queue, struct task *out, uint32_t count)
{
    uint32_t taken = 0;

    pthread_mutex_lock(&queue->lock);
    while (queue->count == 0)
        pthread_cond_wait(&queue->not_empty, &queue->lock);
    for (; taken < count && queue->count > 0; taken++) {
        out[taken] = queue->ring[queue->head];
        queue->head = (queue->head + 1) % queue->capacity;
        queue->count--;
    }
    if (count > 1)
        pthread_cond_broadcast(&queue->not_full);
    else
        pthread_cond_signal(&queue->not_full);
    pthread_mutex_unlock(&queue->lock);
    return taken;
}

static uint64_t take_one(struct queue *queue)
{
    struct task task;

    (void)take(queue, &task, 1);
    return task.number;
}

static void handle(struct thread *self, uint64_t number)
{
    self->sum += number;
    self->messages++;
    self->noise = row_work(self->noise + number, self->row->steps);
    if (self->delays)
        self->delays[number] = row_now_ns() - self->sent[number];
}

static void *work(void *argument)
{
    struct thread *self = argument;
    struct task task;

    for (;;) {
        (void)take(self->in, &task, 1);
        if (task.ends)
            return NULL;
        handle(self, task.number);
    }
}

static void *work_in_batches(void *argument)
{
    struct thread *self = argument;
    struct task *tasks = calloc(self->in->capacity, sizeof *tasks);

    for (;;) {
        uint32_t count = take(self->in, tasks, self->in->capacity);

        for (uint32_t i = 0; i < count; i++) {
            if (!tasks[i].ends) {
                handle(self, tasks[i].number);
                continue;
            }
            for (i++; i < count; i++) /* the ends of other workers */
                put(self->in, 0, true);
            free(tasks);
            return NULL;
        }
    }
}

static void *work_and_spin(void *argument)
{
    struct thread *self = argument;
    struct task task;

    for (;;) {
        /* Relaxed: the lock orders the reads after it. */
        while (atomic_load_explicit(&self->in->count, memory_order_relaxed) == 0)
            ;
        (void)take(self->in, &task, 1);
        if (task.ends)
            return NULL;
        handle(self, task.number);
    }
}

static void *send(void *argument)
{
    struct thread *self = argument;

    for (uint64_t i = 1; i <= self->row->each; i++)
        put(self->out, i, false);
    return NULL;
}

/* Offers the messages that are due; drops those that do not fit. */
static void *offer(void *argument)
{
    struct thread *self = argument;
    uint64_t start = row_now_ns();

    for (uint64_t i = 1; i <= self->row->each; i++) {
        uint64_t due = start + (uint64_t)(self->interval_ns * (double)i);

        while (row_now_ns() < due)
            (void)sched_yield();
        if (try_put(self->out, i))
            self->sum += i;
        else
            self->refused++;
    }
    return NULL;
}

static void start(struct thread *threads, uint32_t count, void *(*function)(void *))
{
    for (uint32_t i = 0; i < count; i++)
        if (pthread_create(&threads[i].thread, NULL, function, &threads[i]) != 0)
            abort();
}

static void join(struct thread *threads, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        pthread_join(threads[i].thread, NULL);
}

/* --- chains --------------------------------------------------------------------------------- */

static void *pong(void *argument)
{
    struct thread *self = argument;

    for (uint64_t i = 0; i < self->row->each; i++)
        put(self->out, take_one(self->in), false);
    return NULL;
}

/* pingpong and request: here a request is a ping. */
static int run_pingpong(const struct row *row)
{
    struct queue queues[2];
    struct thread other = { .row = row, .in = &queues[0], .out = &queues[1] };
    uint64_t sum = 0, begun = row_now_ns();

    queue_init(&queues[0], CHAIN_LIMIT);
    queue_init(&queues[1], CHAIN_LIMIT);
    start(&other, 1, pong);
    for (uint64_t i = row->each; i > 0; i--) {
        put(&queues[0], i, false);
        sum += take_one(&queues[1]);
    }
    join(&other, 1);
    row_print(row_is(row, "request") ? row->each : 2 * row->each, row_now_ns() - begun,
              sum == row->each * (row->each + 1) / 2);
    return 0;
}

static void *hop(void *argument)
{
    struct thread *self = argument;

    for (;;) {
        uint64_t left = take_one(self->in);

        self->messages++;
        put(self->out, left > 0 ? left - 1 : 0, false); /* 0 goes round, and ends all */
        if (left == 0)
            return NULL;
    }
}

static int run_ring(const struct row *row)
{
    struct queue *queues = calloc(row->receivers, sizeof *queues);
    struct thread *threads = calloc(row->receivers, sizeof *threads);
    uint64_t messages = 0, begun;

    for (uint32_t i = 0; i < row->receivers; i++) {
        queue_init(&queues[i], CHAIN_LIMIT);
        threads[i] = (struct thread){ .row = row,
                                      .in = &queues[i],
                                      .out = &queues[(i + 1) % row->receivers] };
    }
    begun = row_now_ns();
    start(threads, row->receivers, hop);
    put(&queues[0], row->each, false);
    join(threads, row->receivers);
    for (uint32_t i = 0; i < row->receivers; i++)
        messages += threads[i].messages;
    row_print(row->each, row_now_ns() - begun, messages == row->each + row->receivers);
    return 0;
}

/* --- streams and pools ---------------------------------------------------------------------- */

struct pool {
    struct queue queue;
    struct thread workers[THREADS_MAX];
    uint32_t count;
};

static void start_pool(struct pool *pool, const struct row *row, const char *variant,
                       const struct thread *model)
{
    bool few = strcmp(variant, "") != 0 && row->threads < row->receivers;

    pool->count = few ? row->threads : row->receivers;
    if (pool->count > THREADS_MAX || row->senders > THREADS_MAX)
        abort();
    queue_init(&pool->queue, row->limit > 0 ? row->limit * row->receivers : 1u << 16);
    for (uint32_t i = 0; i < pool->count; i++) {
        pool->workers[i] = *model;
        pool->workers[i].row = row;
        pool->workers[i].in = &pool->queue;
    }
    start(pool->workers, pool->count,
          strcmp(variant, "batch") == 0  ? work_in_batches
          : strcmp(variant, "spin") == 0 ? work_and_spin
                                         : work);
}

/* Adds up what the workers have seen. */
static void end_pool(struct pool *pool, uint64_t *sum, uint64_t *messages)
{
    *sum = *messages = 0;
    for (uint32_t i = 0; i < pool->count; i++)
        put(&pool->queue, 0, true);
    join(pool->workers, pool->count);
    for (uint32_t i = 0; i < pool->count; i++) {
        *sum += pool->workers[i].sum;
        *messages += pool->workers[i].messages;
    }
}

/* The senders and the pool; overload is one of them. */
static int run_pool(const struct row *row, const char *variant)
{
    static struct pool pool;
    static struct thread senders[THREADS_MAX];
    bool offers = row_is(row, "overload");
    double interval = offers ? row_overload_interval_ns(row) : 0;
    uint64_t begun = row_now_ns(), sum, messages, expected = 0;

    start_pool(&pool, row, variant, &(struct thread){ .row = row });
    for (uint32_t i = 0; i < row->senders; i++)
        senders[i] = (struct thread){ .row = row, .out = &pool.queue, .interval_ns = interval };
    start(senders, row->senders, offers ? offer : send);
    join(senders, row->senders);
    end_pool(&pool, &sum, &messages);
    for (uint32_t i = 0; i < row->senders; i++)
        expected += offers ? senders[i].sum : row->each * (row->each + 1) / 2;
    row_print(messages, row_now_ns() - begun, sum == expected);
    return 0;
}

/* --- delays --------------------------------------------------------------------------------- */

static int run_latency(const struct row *row, const char *variant)
{
    static struct pool pool;
    uint64_t *sent = calloc(row->each, sizeof *sent), *delays = calloc(row->each, sizeof *delays);
    double interval = 2 * row_work_ns(row->steps);
    uint64_t begun, sum, messages;

    start_pool(&pool, row, strcmp(variant, "") != 0 ? variant : "few",
               &(struct thread){ .sent = sent, .delays = delays });
    begun = row_now_ns();
    for (uint64_t i = 0; i < row->each; i++) {
        sent[i] = begun + (uint64_t)(interval * (double)i);
        while (row_now_ns() < sent[i])
            ;
        put(&pool.queue, i, false);
    }
    end_pool(&pool, &sum, &messages);
    row_print(row->each, row_now_ns() - begun, messages == row->each);
    row_print_delays(delays, row->each);
    return 0;
}

static void *hog(void *argument)
{
    struct thread *self = argument;

    while (!atomic_load(self->stop))
        self->noise = row_work(self->noise, self->row->steps);
    return NULL;
}

/* The kernel shares the CPUs out between a thread that hogs and one for the light messages. */
static int run_hog(const struct row *row)
{
    static struct pool pool;
    uint64_t count = row->each * row->receivers, sum, messages, begun;
    uint64_t *sent = calloc(count, sizeof *sent), *delays = calloc(count, sizeof *delays);
    struct row light = *row;
    _Atomic bool stop = false;
    struct thread one = { .row = row, .stop = &stop };

    light.receivers = row->threads;
    light.steps = 0;
    light.limit = 0;
    start_pool(&pool, &light, "", &(struct thread){ .sent = sent, .delays = delays });
    start(&one, 1, hog);
    begun = row_now_ns();
    for (uint64_t i = 0; i < count; i++) {
        row_sleep_until(begun + i * ROW_HOG_INTERVAL_NS);
        sent[i] = row_now_ns();
        put(&pool.queue, i, false);
    }
    end_pool(&pool, &sum, &messages);
    atomic_store(&stop, true);
    join(&one, 1);
    row_print(count, row_now_ns() - begun, messages == count);
    row_print_delays(delays, count);
    return 0;
}

static int run(const struct row *row, const char *variant)
{
    if (row_is(row, "pingpong") || row_is(row, "request"))
        return run_pingpong(row);
    if (row_is(row, "ring"))
        return run_ring(row);
    if (row_is(row, "latency"))
        return run_latency(row, variant);
    if (row_is(row, "hog"))
        return run_hog(row);
    if (row_is(row, "count") || row_is(row, "contend") || row_is(row, "pool0") ||
        row_is(row, "pool1us") || row_is(row, "overload"))
        return run_pool(row, variant);
    return ROW_UNKNOWN;
}

int main(int argc, char **argv)
{
    struct row row;
    int status;

    if (!row_parse(argc, argv, &row))
        return 64;
    status = run(&row, argc > ROW_ARGUMENTS ? argv[ROW_ARGUMENTS] : "");
    if (status == 0)
        row_print_end();
    return status;
}
