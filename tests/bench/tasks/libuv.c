/* libuv's queue of work, from the thread of its loop; the requests are made before. */
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
    (void)work;
    if (status != 0)
        exit(70);
}

int main(int argc, char **argv)
{
    struct request *requests;
    struct job job;

    job_begin(&job, argc, argv);
    if (setenv("UV_THREADPOOL_SIZE", argv[1], 1) != 0)
        return 70;
    requests = malloc(job.count * sizeof *requests);
    if (!requests)
        return 70;
    memset(requests, 0, job.count * sizeof *requests);
    job_start(&job);
    for (uint64_t i = 0; i < job.count; i++) {
        requests[i].job = &job;
        requests[i].result = &job.results[i];
        if (uv_queue_work(uv_default_loop(), &requests[i].work, run, after) != 0)
            return 70;
    }
    job_submitted(&job);
    (void)uv_run(uv_default_loop(), UV_RUN_DEFAULT);
    free(requests);
    return job_end(&job);
}
