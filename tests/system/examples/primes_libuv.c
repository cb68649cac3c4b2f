/* SPDX-License-Identifier: MIT */
/* examples/tasks/primes.c with libuv: at most 16 numbers wait, 4 threads, the same output. */
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <uv.h>

#define WAITING_MAX 16

struct check {
    uv_work_t work; /* first: libuv's pointer is ours */
    struct batch *batch;
    char *number;
    int busy;
};

struct batch {
    struct check checks[WAITING_MAX];
    char **next, **end;
    _Atomic int failed;
};

static void check(uv_work_t *work)
{
    struct check *check = (struct check *)work;
    uint64_t number = strtoull(check->number, NULL, 10);

    for (uint64_t divisor = 2; divisor <= number / divisor; divisor++) {
        if (number % divisor == 0) {
            printf("%s is not prime\n", check->number);
            atomic_store(&check->batch->failed, 1);
            return;
        }
        if (divisor % 4096 == 0 && atomic_load(&check->batch->failed))
            return;
    }
}

static void cancel_all(struct batch *batch)
{
    for (int i = 0; i < WAITING_MAX; i++)
        if (batch->checks[i].busy)
            (void)uv_cancel((uv_req_t *)&batch->checks[i].work);
}

static int submit_next(struct batch *batch, struct check *check);

static void after(uv_work_t *work, int status)
{
    struct check *check = (struct check *)work;

    check->busy = 0;
    if (status == UV_ECANCELED)
        return;
    if (atomic_load(&check->batch->failed))
        cancel_all(check->batch);
    else if (submit_next(check->batch, check) != 0)
        exit(70);
}

static int submit_next(struct batch *batch, struct check *check_next)
{
    if (batch->next == batch->end)
        return 0;
    check_next->batch = batch;
    check_next->number = *batch->next++;
    check_next->busy = 1;
    return uv_queue_work(uv_default_loop(), &check_next->work, check, after);
}

int main(int argc, char **argv)
{
    static struct batch batch;

    if (setenv("UV_THREADPOOL_SIZE", "4", 1) != 0)
        return 70;
    batch.next = argv + 1;
    batch.end = argv + argc;
    for (int i = 0; i < WAITING_MAX; i++)
        if (submit_next(&batch, &batch.checks[i]) != 0)
            return 70;
    (void)uv_run(uv_default_loop(), UV_RUN_DEFAULT);
    (void)uv_loop_close(uv_default_loop());
    return atomic_load(&batch.failed);
}
