/* SPDX-License-Identifier: MIT */
#include "kit_leaves.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define KEYS_MAX 4096 /* more than any libc has */
#define SIGNALS 65    /* 1..64 */

struct process {
    size_t threads;
    size_t keys; /* free keys */
    struct sigaction actions[SIGNALS];
};

static size_t count_threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    size_t count = 0;

    if (!tasks)
        return 0;
    while (readdir(tasks))
        count++;
    (void)closedir(tasks);
    return count;
}

/* Counts the free keys: creates all of them, and deletes them again. */
static size_t count_free_keys(void)
{
    static pthread_key_t keys[KEYS_MAX];
    size_t count = 0;

    while (count < KEYS_MAX && pthread_key_create(&keys[count], NULL) == 0)
        count++;
    for (size_t i = 0; i < count; i++)
        (void)pthread_key_delete(keys[i]);
    return count;
}

static void look(struct process *out)
{
    out->threads = count_threads();
    out->keys = count_free_keys();
    for (int number = 1; number < SIGNALS; number++)
        if (sigaction(number, NULL, &out->actions[number]) != 0)
            out->actions[number].sa_handler = SIG_DFL;
}

static bool print_left(bool left, const char *what, unsigned count)
{
    if (left)
        (void)fprintf(stderr, "weir kit: left behind: %u %s\n", count, what);
    return left;
}

static unsigned count_signals(const struct process *before, const struct process *after)
{
    unsigned count = 0;

    for (int number = 1; number < SIGNALS; number++)
        count += before->actions[number].sa_handler != after->actions[number].sa_handler;
    return count;
}

bool kit_leaves_nothing(void (*work)(void *context), void *context)
{
    static struct process before, after;
    unsigned signals;
    bool left;

    look(&before);
    work(context);
    look(&after);
    signals = count_signals(&before, &after);
    left = print_left(after.threads > before.threads, "threads",
                      (unsigned)(after.threads - before.threads));
    left |= print_left(after.keys < before.keys, "keys of thread-local data",
                       (unsigned)(before.keys - after.keys));
    left |= print_left(signals > 0, "signal handlers", signals);
    return !left;
}
