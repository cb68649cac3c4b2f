/* SPDX-License-Identifier: MIT */
#include "host/isolation/worker_crash.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "host/crash/crash.h"
#include "host/isolation/dialogue.h"
#include "host/log/logger.h"
#include "host/plugin/symbols.h"

#define CODE_SIZE 512

static struct {
    pthread_t thread; /* that runs the callbacks */
    struct crash_note note;
    struct symbols *symbols;
    struct logger *logger; /* never destroyed; its format is that of the lines */
    char pool[PATH_MAX];
    char code[CODE_SIZE];
} crash;

static const struct crash_note *current(void)
{
    return pthread_equal(crash.thread, pthread_self()) ? &crash.note : NULL;
}

/* A plugin that does not look whether it got memory crashes. The host hears of it before the end of
 * the process, and decides by the limit that it has set. */
static void cry_if_memory_is_out(void)
{
    struct rlimit limit;
    void *probed;

    if (getrlimit(RLIMIT_DATA, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return;
    probed = mmap(NULL, limit.rlim_cur / 8 + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                  -1, 0);
    if (probed == MAP_FAILED)
        channel_cry(DIALOGUE_BELL);
    else
        (void)munmap(probed, limit.rlim_cur / 8 + 1);
}

static bool name_function(void *symbols, const void *base, const void *address, char *out,
                          size_t size)
{
    return symbols_find(symbols, base, address, out, size);
}

/* Seconds east of UTC. */
static long zone_now(void)
{
    time_t now = time(NULL);
    struct tm local;

    return localtime_r(&now, &local) ? local.tm_gmtoff : 0;
}

void worker_crash_begin(void)
{
    static struct crash_stack stack; /* until the process ends */
    struct logger_setup setup = {
        .clock = clock_monotonic(),
        .date_us = logger_date_us,
        .style = { .format = LOG_AUTO,
                   .journal = logger_is_journal(STDERR_FILENO, getenv("JOURNAL_STREAM")),
                   .zone_s = zone_now() },
        .terminal = isatty(STDERR_FILENO),
    };
    const struct crash_setup handler = { .current = current,
                                         .first = cry_if_memory_is_out,
                                         .effect = "the process of the worker ends" };

    crash.thread = pthread_self();
    crash.logger = logger_create(&setup);
    crash.symbols = symbols_create();
    last_words_begin(STDERR_FILENO, crash.logger);
    (void)crash_thread_begin(&stack);
    (void)crash_install(&handler);
}

void worker_crash_name(const struct worker_code *code)
{
    const struct stack_names names = { name_function, crash.symbols };
    Dl_info info;

    (void)snprintf(crash.pool, sizeof crash.pool, "%.*s", (int)strcspn(code->worker->path, "#"),
                   code->worker->path);
    (void)snprintf(crash.code, sizeof crash.code,
                   "plugin=%.128s/%.64s generation=%u behaviour=%.128s", code->descriptor->name,
                   code->descriptor->version, code->generation, code->behaviour);
    if (crash.logger)
        logger_set_format(crash.logger, code->format);
    if (dladdr(code->behaviour, &info))
        symbols_add(crash.symbols, code->image, code->file, info.dli_fbase);
    crash.note.pool = crash.pool;
    crash.note.code = crash.code;
    crash.note.worker = code->worker->index;
    crash_name_functions(&names);
}

void worker_crash_note(int callback)
{
    bool runs = callback > 0 && callback < DIALOGUE_ANSWER;

    crash.note.inside = runs;
    if (!runs)
        return;
    crash.note.callback = dialogue_name(callback);
    crash.note.tag = NULL;
    crash.note.attempt = 0;
}

void worker_crash_note_message(const struct worker_message *message)
{
    crash.note.tag = message->public.tag ? message->public.tag->name : NULL;
    crash.note.attempt = message->public.attempt;
}
