/* SPDX-License-Identifier: MIT */
/*
 * pack FROM TO [THREADS]: compresses every file of a folder into another one, with an index.
 *
 *     main thread ──▶ compress: a pool ──▶ verify: a pool ──▶ index: one actor
 *
 * Every mailbox is small. The main thread waits when the first pool is full, so memory is the same
 * for ten files and for ten million.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weir/runtime.h>

#include "compress.h"
#include "index.h"
#include "job.h"
#include "verify.h"

struct packer {
    struct job_settings settings;
    struct weir_runtime *runtime;
    weir_pid compress;
    weir_pid verify;
    weir_pid index;
    uint64_t given; /* files that were sent */
};

/* The program decides how log lines look. */
static void log_line(void *context, enum weir_log_level level, const char *component,
                     const char *event, const struct weir_field *fields)
{
    (void)context;
    if (level > WEIR_LOG_WARNING)
        return;
    flockfile(stderr);
    (void)fprintf(stderr, "pack: %s: %s", component, event);
    for (; fields && fields->key; fields++)
        if (fields->kind == WEIR_STRING)
            (void)fprintf(stderr, " %s=%s", fields->key, fields->value.string);
    (void)fputc('\n', stderr);
    funlockfile(stderr);
}

static int fail(const char *what, int status)
{
    (void)fprintf(stderr, "pack: %s: %s\n", what, weir_status_text(status));
    return 1;
}

/* --- building, from the end ----------------------------------------------------------------- */

static int add_index(struct packer *packer)
{
    struct weir_actor_options options = WEIR_ACTOR_OPTIONS;

    options.name = "index";
    options.behaviour = &index_behaviour;
    options.settings = &packer->settings;
    options.limit = 16;
    return weir_runtime_add_actor(packer->runtime, &options, &packer->index);
}

static int add_pool(struct packer *packer, const struct weir_behaviour *behaviour, uint32_t workers,
                    weir_pid target, weir_pid *out)
{
    const struct weir_binding output = { .target = target };
    struct weir_pool_options options = WEIR_POOL_OPTIONS;

    options.path = behaviour->name;
    options.behaviour = behaviour;
    options.settings = &packer->settings;
    options.workers = workers;
    options.limit = 4;
    options.route = WEIR_ROUTE_LEAST_LOADED;
    options.outputs = &output;
    options.output_count = 1;
    return weir_runtime_add_pool(packer->runtime, &options, out);
}

static int build(struct packer *packer, uint32_t threads)
{
    struct weir_runtime_options options = WEIR_RUNTIME_OPTIONS;
    int status;

    options.threads = threads;
    options.log = log_line;
    status = weir_runtime_create(&options, &packer->runtime);
    if (status != 0)
        return status;
    status = add_index(packer);
    if (status == 0)
        status = add_pool(packer, &verify_behaviour, threads, packer->index, &packer->verify);
    if (status == 0)
        status = add_pool(packer, &compress_behaviour, threads, packer->verify, &packer->compress);
    if (status == 0)
        status = weir_runtime_wait_open(packer->runtime, packer->compress, WEIR_FOR_EVER);
    return status;
}

/* --- feeding -------------------------------------------------------------------------------- */

static int give(struct packer *packer, const char *name)
{
    struct weir_message *message = weir_runtime_message_new(packer->runtime, NULL,
                                                            sizeof(struct job));
    int status;

    if (!message)
        return WEIR_ENOMEM;
    (void)snprintf(((struct job *)message->data)->name, JOB_NAME_MAX, "%s", name);
    /* The program waits here when the pools cannot keep up. */
    status = weir_runtime_send_wait(packer->runtime, packer->compress, message, WEIR_FOR_EVER);
    if (status != 0)
        weir_runtime_message_free(packer->runtime, message);
    else
        packer->given++;
    return status;
}

static int feed(struct packer *packer, DIR *folder)
{
    int status = 0;

    for (struct dirent *entry = readdir(folder); entry && status == 0; entry = readdir(folder)) {
        struct stat about;

        if (fstatat(packer->settings.from, entry->d_name, &about, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(about.st_mode))
            status = give(packer, entry->d_name);
    }
    return status;
}

/* --- the end -------------------------------------------------------------------------------- */

/* Sums up the result of every message: no file is lost silently. */
static int sum_up(struct packer *packer)
{
    struct weir_ledger ledger = WEIR_LEDGER;
    int status = weir_runtime_ledger(packer->runtime, packer->index, &ledger);

    if (status != 0)
        return fail("ledger", status);
    (void)printf("%" PRIu64 " files, %" PRIu64 " packed, %" PRIu64 " failed\n", packer->given,
                 ledger.done, packer->given - ledger.done);
    return ledger.done == packer->given ? weir_runtime_exit_status(packer->runtime) : 1;
}

static int pack(struct packer *packer, DIR *folder, uint32_t threads)
{
    int status = build(packer, threads);
    int code;

    if (status == 0)
        status = feed(packer, folder);
    if (status == 0) /* finishes all accepted messages, in the order of the outputs */
        status = weir_runtime_shutdown(packer->runtime, WEIR_FOR_EVER);
    code = status == 0 ? sum_up(packer) : fail("cannot go on", status);
    weir_runtime_destroy(packer->runtime);
    return code;
}

static int pack_folders(const char *from, const char *to, uint32_t threads)
{
    struct packer packer = { .settings = { .level = 6 } };
    DIR *folder = opendir(from);
    int code = 1;

    packer.settings.from = folder ? dirfd(folder) : -1;
    packer.settings.to = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (!folder || packer.settings.to < 0)
        (void)fprintf(stderr, "pack: %s: %s\n", folder ? to : from, strerror(errno));
    else
        code = pack(&packer, folder, threads);
    if (packer.settings.to >= 0)
        (void)close(packer.settings.to);
    if (folder)
        (void)closedir(folder);
    return code;
}

int main(int argc, char **argv)
{
    char *end = "";
    unsigned long threads = argc > 3 ? strtoul(argv[3], &end, 10) : 4;

    if (argc < 3 || argc > 4 || *end || threads < 1 || threads > 256) {
        (void)fprintf(stderr, "usage: pack FROM TO [THREADS]\n");
        return 64;
    }
    return pack_folders(argv[1], argv[2], (uint32_t)threads);
}
