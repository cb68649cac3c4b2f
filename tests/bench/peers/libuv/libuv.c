/* SPDX-License-Identifier: MIT */
/*
 * libuv's pool of threads: one loop keeps as many requests on their way as the row's mailboxes take
 * together; UV_THREADPOOL_SIZE is the number of CPUs.
 */
#include <uv.h>

#include "../../row.h"

struct flow {
    uint64_t next, last, done, sum, steps;
};

struct request {
    uv_work_t work; /* first: libuv's pointer is ours */
    struct flow *flow;
    uint64_t number, noise;
};

static void work(uv_work_t *work)
{
    struct request *request = (struct request *)work;

    request->noise = row_work(request->noise + request->number, request->flow->steps);
}

static void after(uv_work_t *done, int status);

static void send_next(uv_loop_t *loop, struct request *request)
{
    request->number = request->flow->next++;
    if (uv_queue_work(loop, &request->work, work, after) != 0)
        abort();
}

static void after(uv_work_t *done, int status)
{
    struct request *request = (struct request *)done;

    (void)status;
    request->flow->sum += request->number;
    request->flow->done++;
    if (request->flow->next <= request->flow->last)
        send_next(done->loop, request);
}

int main(int argc, char **argv)
{
    uv_loop_t *loop = uv_default_loop();
    struct flow flow;
    struct request *requests;
    struct row row;
    uint64_t start;

    if (!row_parse(argc, argv, &row))
        return 64;
    if (!row_is(&row, "pool0") && !row_is(&row, "pool1us"))
        return ROW_UNKNOWN;
    flow = (struct flow){ .next = 1, .last = row.each * row.senders, .steps = row.steps };
    requests = calloc((size_t)row.receivers * row.limit, sizeof *requests);
    start = row_now_ns();
    for (uint32_t i = 0; i < row.receivers * row.limit && flow.next <= flow.last; i++) {
        requests[i].flow = &flow;
        send_next(loop, &requests[i]);
    }
    (void)uv_run(loop, UV_RUN_DEFAULT);
    row_print(flow.done, row_now_ns() - start,
              flow.done == flow.last && flow.sum == flow.last * (flow.last + 1) / 2);
    row_print_end();
    free(requests);
    return 0;
}
