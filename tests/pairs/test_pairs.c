/* SPDX-License-Identifier: MIT */
/*
 * Goal: any two features of pools and workers hold their promises together: each accepted message
 * ends once, figures add up, each request has one answer, an origin hears the truth once, a leased
 * worker has one user, locks keep their order, and nothing that could go on stands.
 *
 * Method: a small world for each pair of rows of the table in features.c, drawn from a seed:
 * pairs.h. test_pairs has the machine's threads; in test_pairs_steps threads are fibers, preempted
 * at atomic operations, with a clock of their own, so that a seed gives the same order again, and a
 * lost wake-up is seen at once. The end is a matrix: how often the rarer one of both features was
 * exercised; a pair that never was is a failure, unless it is listed as impossible.
 *
 *      test_pairs [--seed FIRST] [--seeds COUNT] [--acts EACH] [--pair NAME NAME] [--quiet]
 *
 * promise Z5
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <unistd.h>

#include "pairs/pairs.h"

#if defined(PAIRS_FIBERS)
#include "storm/fiber_threads.h"
#define IN_FIBERS true
#else
#define IN_FIBERS false
#endif

#define ROWS_MAX 64u

struct wish {
    uint64_t first, seeds;
    uint32_t acts;
    const char *pair[2]; /* NULL: all */
    bool is_quiet;
};

/* The world under test, for the report of a program that ends. */
static char present[128];

struct trial {
    uint32_t first, second;
    uint64_t seed;
    uint32_t acts;
    uint64_t count;
    bool is_good;
};

static void run_trial(void *context)
{
    struct trial *trial = context;

    trial->is_good = world_try(trial->first, trial->second, trial->seed, trial->acts,
                               &trial->count);
}

static bool execute(struct trial *trial)
{
#if defined(PAIRS_FIBERS)
    if (!fiber_threads_run(trial->seed * 4096 + trial->first * 64 + trial->second, run_trial,
                           trial))
        return false;
#else
    run_trial(trial);
#endif
    return trial->is_good;
}

static void report_end(int signal)
{
    (void)!write(STDERR_FILENO, present, strlen(present));
    (void)raise(signal);
}

/* The pair that ends the program is named. */
static void report_ends(void)
{
    static const int signals[] = { SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGTERM };
    struct sigaction action = { .sa_handler = report_end, .sa_flags = (int)SA_RESETHAND };

    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        (void)sigaction(signals[i], &action, NULL);
}

/* Addresses decide a few orders, such as those of hashes: the same ones in each run. */
static void fix_addresses(char **arguments)
{
    int flags = personality(0xffffffff);

    if (!IN_FIBERS || flags == -1 || flags & ADDR_NO_RANDOMIZE ||
        personality((unsigned long)flags | ADDR_NO_RANDOMIZE) == -1)
        return;
    (void)execv("/proc/self/exe", arguments);
}

/* --- the matrix ------------------------------------------------------------------------------- */

static uint64_t matrix[ROWS_MAX][ROWS_MAX];

static void print_count(uint64_t count)
{
    if (count < 1000)
        (void)printf("%5" PRIu64, count);
    else if (count < 1000000)
        (void)printf("%4" PRIu64 "k", count / 1000);
    else
        (void)printf("%4" PRIu64 "M", count / 1000000);
}

static void print_matrix(void)
{
    (void)printf("%-24s", "");
    for (uint32_t i = 0; i < feature_count; i++)
        (void)printf("%5u", i + 1);
    (void)printf("\n");
    for (uint32_t i = 0; i < feature_count; i++) {
        (void)printf("%2u %-21s", i + 1, features[i].name);
        for (uint32_t j = 0; j <= i; j++)
            print_count(matrix[j][i]);
        (void)printf("\n");
    }
}

/* --- running ---------------------------------------------------------------------------------- */

static bool is_wanted(const struct wish *wish, uint32_t first, uint32_t second)
{
    const char *a = features[first].name, *b = features[second].name;

    if (!wish->pair[0])
        return true;
    return (strcmp(a, wish->pair[0]) == 0 && strcmp(b, wish->pair[1]) == 0) ||
           (strcmp(b, wish->pair[0]) == 0 && strcmp(a, wish->pair[1]) == 0);
}

static bool try_pair(const struct wish *wish, uint32_t first, uint32_t second, uint64_t seed)
{
    struct trial trial = { .first = first, .second = second, .seed = seed, .acts = wish->acts };

    (void)snprintf(present, sizeof present, "the pair '%s' '%s', seed %" PRIu64 "\n",
                   features[first].name, features[second].name, seed);
    if (!execute(&trial)) {
        (void)fprintf(stderr, "%s", present);
        return false;
    }
    matrix[first][second] += trial.count;
    return true;
}

static bool try_all(const struct wish *wish, uint64_t *out_worlds)
{
    for (uint64_t seed = wish->first; seed < wish->first + wish->seeds; seed++)
        for (uint32_t i = 0; i < feature_count; i++)
            for (uint32_t j = i; j < feature_count; j++) {
                if (!is_wanted(wish, i, j))
                    continue;
                if (!try_pair(wish, i, j, seed))
                    return false;
                (*out_worlds)++;
            }
    return true;
}

static void read_arguments(struct wish *wish, int count, char **arguments)
{
    for (int i = 1; i < count; i++) {
        uint64_t value = i + 1 < count ? strtoull(arguments[i + 1], NULL, 10) : 0;

        if (strcmp(arguments[i], "--quiet") == 0) {
            wish->is_quiet = true;
        } else if (strcmp(arguments[i], "--pair") == 0 && i + 2 < count) {
            wish->pair[0] = arguments[i + 1];
            wish->pair[1] = arguments[i + 2];
            i += 2;
        } else {
            if (strcmp(arguments[i], "--seed") == 0)
                wish->first = value;
            else if (strcmp(arguments[i], "--seeds") == 0)
                wish->seeds = value;
            else if (strcmp(arguments[i], "--acts") == 0)
                wish->acts = (uint32_t)value;
            i++;
        }
    }
}

int main(int count, char **arguments)
{
    struct wish wish = { .first = 1, .seeds = IN_FIBERS ? 2 : 1, .acts = IN_FIBERS ? 10 : 4 };
    uint64_t worlds = 0;

    fix_addresses(arguments);
    read_arguments(&wish, count, arguments);
    if (feature_count > ROWS_MAX)
        abort();
    report_ends();
    (void)printf("seeds %" PRIu64 "..%" PRIu64 ", acts %u\n", wish.first,
                 wish.first + wish.seeds - 1, wish.acts);
    (void)fflush(stdout);
    if (!try_all(&wish, &worlds))
        return 1;
    if (!wish.is_quiet)
        print_matrix();
    (void)printf("worlds %" PRIu64 "\n", worlds);
    return worlds > 0 ? 0 : 1;
}
