/* SPDX-License-Identifier: MIT */
/*
 * Goal: `weir check` and a reload come to the same verdict, over all files of tests/config and over
 * thousands of mutants of them; no file crashes either; and no mutant costs more work than a large
 * file may. Shows promise C5 and promise C3.
 *
 * Method: one runtime in this process. Each file is checked by the code of `weir check`, and then
 * taken on by it as the supervisor does it: read and checked again, planned, rebuilt, which must
 * succeed. Sockets are left alone: a file may name any. The work is counted: memory that is asked
 * for and texts that are formatted, by the linker between the program and libc. The longest time is
 * printed, and fails nothing.
 *
 *      test_host_verdict [--seed N] [--mutants N]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/reader.h"
#include "host/apply/apply.h"
#include "host/apply/opener.h"
#include "host/reload/configuration.h"
#include "unit/config/corpus.h"
#include "unit/config/fake_catalogue.h"
#include "unit/host/suite.h"
#include "unit/support/steps.h"

#define CPUS 4
#define MUTANTS 1500     /* in CTest; `./dev mutants` makes 10,000 */
#define WORKERS_MAX 256u /* more are not run: thousands of threads and workers for one digit */
#define THREADS_MAX 64u
#define STEPS_MAX 300000u /* as in test_hostile.c; most files take a hundredth */

/* --- verdicts --------------------------------------------------------------------------------- */

struct stage {
    struct runtime *runtime;
    struct assembly assembly;
    uint64_t taken_on;
    uint64_t refused;
    uint64_t too_large; /* to be run here */
    uint64_t most_steps;
    const char *most_name; /* of the file that took them */
    uint64_t longest_ns;
};

/* A status and its messages. */
struct verdict {
    int status;
    struct report report;
};

static int check(const char *name, const char *text, size_t size, struct report *report,
                 struct settings **out)
{
    struct config_source source = { .variable = corpus_variable, .is_checked_next = true };
    struct config_tree *tree = NULL;
    int status = config_read_text(name, text, size, &source, report, &tree);

    if (status == WEIR_OK)
        status = configuration_check(tree, &fake_catalogue, CPUS, report, out);
    config_tree_destroy(tree);
    return status;
}

static void judge(struct stage *stage, const char *name, const char *text, size_t size,
                  struct verdict *out, struct settings **out_settings)
{
    struct clock clock = clock_monotonic();
    uint64_t start_ns = clock_now_ns(&clock);
    uint64_t start = steps_taken();
    uint64_t taken;

    report_init(&out->report);
    out->status = check(name, text, size, &out->report, out_settings);
    taken = steps_taken() - start;
    if (taken > stage->most_steps) {
        stage->most_steps = taken;
        stage->most_name = name;
    }
    if (clock_now_ns(&clock) - start_ns > stage->longest_ns)
        stage->longest_ns = clock_now_ns(&clock) - start_ns;
    CU_ASSERT(taken < STEPS_MAX);
    CU_ASSERT_EQUAL(report_count(&out->report) > 0, out->status != WEIR_OK);
}

/* Takes the settings. */
static void take_on(struct stage *stage, struct settings *settings, struct verdict *out)
{
    struct shared_settings *old = stage->assembly.shared;
    struct apply apply;
    struct plan *plan = NULL;

    CU_ASSERT_EQUAL_FATAL(plan_create(old->settings, settings, &plan), 0);
    atomic_fetch_add(&old->references, 1); /* the plan borrows from them: see supervisor.c */
    out->status = apply_prepare(&apply, &stage->assembly, settings, plan, &out->report);
    if (out->status == WEIR_OK) {
        apply_commit(&apply);
        apply_drain(&apply);
    } else {
        apply_abandon(&apply);
    }
    plan_destroy(plan);
    shared_settings_unref(old);
}

static bool is_too_large(const struct settings *settings)
{
    uint64_t threads = 0;

    for (uint32_t i = 0; i < settings->dispatcher_count; i++)
        threads += settings->dispatchers[i].threads;
    return settings_worker_count(settings) > WORKERS_MAX || threads > THREADS_MAX ||
           settings->pool_count > WORKERS_MAX;
}

static bool equal(const struct verdict *left, const struct verdict *right)
{
    char texts[2][1024];
    bool same = left->status == right->status &&
                report_count(&left->report) == report_count(&right->report);

    for (size_t i = 0; same && i < left->report.errors.kept; i++) {
        (void)report_format(&left->report.errors.entries[i], texts[0], sizeof texts[0]);
        (void)report_format(&right->report.errors.entries[i], texts[1], sizeof texts[1]);
        same = strcmp(texts[0], texts[1]) == 0;
    }
    return same;
}

static void complain(const char *name, const char *text, const struct verdict *checked,
                     const struct verdict *reloaded)
{
    (void)fprintf(stderr, "%s: check says %d, a reload %d\n", name, checked->status,
                  reloaded->status);
    report_print(&checked->report, stderr);
    report_print(&reloaded->report, stderr);
    (void)fprintf(stderr, "---\n%s\n---\n", text);
}

static void compare(struct stage *stage, const char *name, const char *text, size_t size)
{
    struct settings *settings = NULL;
    struct settings *again = NULL;
    struct verdict checked;
    struct verdict reloaded;
    bool same;

    judge(stage, name, text, size, &checked, &settings);
    judge(stage, name, text, size, &reloaded, &again);
    same = equal(&checked, &reloaded);
    if (again && is_too_large(again)) {
        stage->too_large++;
        settings_destroy(again);
    } else if (again) {
        take_on(stage, again, &reloaded);
        stage->taken_on += reloaded.status == WEIR_OK;
        same = reloaded.status == WEIR_OK;
    }
    stage->refused += checked.status != WEIR_OK;
    if (!same)
        complain(name, text, &checked, &reloaded);
    CU_ASSERT(same);
    settings_destroy(settings);
    report_finish(&checked.report);
    report_finish(&reloaded.report);
}

/* --- one host --------------------------------------------------------------------------------- */

static void begin(struct stage *stage)
{
    static const char first[] = "pools: {first: {use: sink.null, size: 1}}\n";
    struct runtime_options options = { .clock = clock_monotonic() };
    struct settings *settings = NULL;
    struct report report;

    *stage = (struct stage){ .most_steps = 0 };
    report_init(&report);
    CU_ASSERT_EQUAL_FATAL(check("first", first, sizeof first - 1, &report, &settings), WEIR_OK);
    CU_ASSERT_EQUAL_FATAL(runtime_create(&options, &stage->runtime), 0);
    assembly_init(&stage->assembly, stage->runtime);
    CU_ASSERT_EQUAL_FATAL(apply_from_nothing(&stage->assembly, settings, &report), 0);
    CU_ASSERT_EQUAL_FATAL(opener_create(&stage->assembly), 0);
    assembly_go(&stage->assembly);
    report_finish(&report);
}

static void end(struct stage *stage, const char *what)
{
    (void)printf("\n    %s: taken on %" PRIu64 ", refused %" PRIu64 ", too large to run %" PRIu64
                 "; at most %" PRIu64 " steps (%s), %.1f ms ",
                 what, stage->taken_on, stage->refused, stage->too_large, stage->most_steps,
                 stage->most_name, (double)stage->longest_ns / 1e6);
    CU_ASSERT_EQUAL(runtime_stop(stage->runtime), 0);
    assembly_finish(&stage->assembly);
    runtime_destroy(stage->runtime);
}

/* --- tests ------------------------------------------------------------------------------------ */

static void test_corpus_has_one_verdict_by_check_and_by_reload(void)
{
    struct corpus corpus;
    struct stage stage;

    corpus_init(&corpus);
    begin(&stage);
    for (size_t i = 0; i < corpus.count; i++)
        compare(&stage, corpus.files[i].name, corpus.files[i].text, corpus.files[i].size);
    CU_ASSERT(stage.taken_on >= 15); /* the good ones, one after the other */
    CU_ASSERT(stage.refused >= 120);
    end(&stage, "files");
    corpus_finish(&corpus);
}

/* The parsed command line. */
static struct {
    uint64_t seed;
    uint64_t mutants;
} wanted = { 1, MUTANTS };

static void test_mutants_have_one_verdict_by_check_and_by_reload(void)
{
    uint64_t random = wanted.seed;
    struct corpus corpus;
    struct stage stage;

    (void)printf("seed %" PRIu64 ", mutants %" PRIu64, wanted.seed, wanted.mutants);
    (void)fflush(stdout); /* also if the next one crashes us */
    corpus_init(&corpus);
    begin(&stage);
    for (uint64_t i = 0; i < wanted.mutants; i++) {
        struct mutant mutant;

        mutant_make(&corpus, &random, &mutant);
        compare(&stage, mutant.name, mutant.text, mutant.size);
        mutant_finish(&mutant);
    }
    CU_ASSERT(stage.taken_on * 20 > wanted.mutants);
    CU_ASSERT(stage.refused * 20 > wanted.mutants);
    end(&stage, "mutants");
    corpus_finish(&corpus);
}

int main(int count, char **arguments)
{
    CU_TestInfo tests[] = {
        { "files", test_corpus_has_one_verdict_by_check_and_by_reload },
        { "mutants", test_mutants_have_one_verdict_by_check_and_by_reload },
        CU_TEST_INFO_NULL,
    };

    for (int i = 1; i + 1 < count; i += 2) {
        uint64_t value = strtoull(arguments[i + 1], NULL, 10);

        if (strcmp(arguments[i], "--seed") == 0)
            wanted.seed = value;
        else if (strcmp(arguments[i], "--mutants") == 0)
            wanted.mutants = value;
    }
    return suite_run("verdict", tests);
}
