/* SPDX-License-Identifier: MIT */
/* libuv's queue of work, from the thread of its loop; each task has a request of its own. */
#include <uv.h>

#include "job.h"

struct request {
    uv_work_t work; /* first: libuv's pointer is ours */
    struct job *job;
    uint64_t *result;
};

static void run(uv_work_t *work)
{
    struct request *request = (struct request *)work;

    job_work(request->job, request->result);
}

static void after(uv_work_t *work, int status)
{
    if (status != 0)
        exit(70);
    free(work);
}

int main(int argc, char **argv)
{
    struct job job;

    job_begin(&job, argc, argv);
    if (setenv("UV_THREADPOOL_SIZE", argv[1], 1) != 0)
        return 70;
    job_start(&job);
    for (uint64_t i = 0; i < job.count; i++) {
        struct request *request = malloc(sizeof *request);

        if (!request)
            return 70;
        request->job = &job;
        request->result = &job.results[i];
        if (uv_queue_work(uv_default_loop(), &request->work, run, after) != 0)
            return 70;
    }
    job_submitted(&job);
    (void)uv_run(uv_default_loop(), UV_RUN_DEFAULT);
    return job_end(&job);
}
