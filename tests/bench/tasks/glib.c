/* SPDX-License-Identifier: MIT */
/* GLib's pool of threads; its queue has no limit. */
#include <glib.h>

#include "job.h"

static void run(gpointer data, gpointer context)
{
    job_work(context, data);
}

int main(int argc, char **argv)
{
    struct job job;
    GThreadPool *pool;

    job_begin(&job, argc, argv);
    pool = g_thread_pool_new(run, &job, (gint)job.threads, TRUE, NULL);
    job_start(&job);
    for (uint64_t i = 0; i < job.count; i++)
        g_thread_pool_push(pool, &job.results[i], NULL);
    job_submitted(&job);
    g_thread_pool_free(pool, FALSE, TRUE);
    return job_end(&job);
}
