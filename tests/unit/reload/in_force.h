/* SPDX-License-Identifier: MIT */
/*
 * in_force.h - a host that runs a configuration file, and reloads other contents of that file.
 *
 * Life: begin, reload_to..., finish. Each call asserts that the host accepts the content, and waits
 * until the pools have their number of workers.
 */
#ifndef TESTS_UNIT_RELOAD_IN_FORCE_H
#define TESTS_UNIT_RELOAD_IN_FORCE_H

#include <string.h>

#include "unit/host/suite.h"
#include "unit/host/workspace.h"
#include "unit/reload/hosted.h"

#define HEAD "version: 1\nhost: {plugins: [\"" TEST_PLUGINS "\"]"

struct fixture {
    struct workspace workspace;
    struct hosted hosted;
    char file[256];
};

static inline void write_file(struct fixture *f, const char *text)
{
    workspace_write(f->file, text, strlen(text));
}

static inline bool is_settled(void *context)
{
    const struct assembly *assembly = &((struct hosted *)context)->assembly;

    for (uint32_t i = 0; i < assembly->shared->settings->pool_count; i++) {
        struct weir_pool_stats stats = { .size = sizeof stats };

        pool_stats(assembly->pools[i], &stats);
        if (stats.live != stats.target || stats.starting + stats.retiring > 0)
            return false;
    }
    return true;
}

static inline void begin(struct fixture *f, const char *text)
{
    workspace_init(&f->workspace);
    (void)workspace_path(&f->workspace, "weir.yaml", f->file);
    write_file(f, text);
    hosted_start(&f->hosted, f->file, NULL);
    CU_ASSERT_TRUE_FATAL(hosted_wait(&f->hosted, is_settled, &f->hosted));
}

static inline void reload_to(struct fixture *f, const char *text)
{
    struct hosted_answer answer;

    write_file(f, text);
    hosted_reload(&f->hosted, &answer);
    CU_ASSERT_EQUAL_FATAL(answer.status, 0);
    CU_ASSERT_TRUE_FATAL(hosted_wait(&f->hosted, is_settled, &f->hosted));
}

static inline void finish(struct fixture *f)
{
    hosted_stop(&f->hosted);
    workspace_finish(&f->workspace);
}

#endif
