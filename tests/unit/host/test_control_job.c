/* SPDX-License-Identifier: MIT */
/*
 * Goal: jobs go to the supervisor by kind and in order, and come back with the answer in the
 * requested form.
 *
 * Method: a plan between two settings, a report with a mistake; the test plays both sides, and so
 * do two threads.
 */
#include "host/reload/control_job.h"

#include <stdlib.h>
#include <string.h>

#include "unit/host/suite.h"

#define MANY 2000u

static void count_done(void *context)
{
    ++*(uint32_t *)context;
}

static struct control_job *ask(struct control_jobs *jobs, enum control_job_kind kind,
                               bool wants_text, void *context)
{
    struct control_job *job = control_job_create(kind, "/etc/weir.yaml", context);

    job->wants_text = wants_text;
    control_jobs_add(jobs, job);
    return job;
}

static void test_jobs_are_taken_by_kind_in_order(void)
{
    struct control_jobs jobs;
    struct control_job *first, *second, *plan, *taken;

    control_jobs_init(&jobs, NULL, NULL);
    first = ask(&jobs, CONTROL_JOB_RELOAD, true, NULL);
    plan = ask(&jobs, CONTROL_JOB_PLAN, true, NULL);
    second = ask(&jobs, CONTROL_JOB_RELOAD, true, NULL);
    taken = control_jobs_take(&jobs, CONTROL_JOB_RELOAD);
    CU_ASSERT_PTR_EQUAL(taken, first);
    CU_ASSERT_PTR_EQUAL(taken->next, second);
    CU_ASSERT_PTR_NULL(second->next);
    CU_ASSERT_PTR_NULL(control_jobs_take(&jobs, CONTROL_JOB_RELOAD));
    CU_ASSERT_PTR_NULL(control_jobs_collect(&jobs));
    control_jobs_complete(&jobs, taken, &(struct outcome){ .status = WEIR_ENOMEM });
    CU_ASSERT_PTR_EQUAL(control_jobs_collect(&jobs), first);
    CU_ASSERT_PTR_EQUAL(control_jobs_collect(&jobs), second);
    CU_ASSERT_PTR_NULL(control_jobs_collect(&jobs));
    control_job_destroy(first);
    control_job_destroy(second);
    CU_ASSERT_STRING_EQUAL(plan->file, "/etc/weir.yaml");
    control_jobs_finish(&jobs); /* frees the plan */
}

/* Completes one job, and returns its text, which the caller frees. */
static char *answer_of(enum control_job_kind kind, bool wants_text, const struct outcome *outcome)
{
    uint32_t done = 0;
    struct control_jobs jobs;
    struct control_job *job;
    char *text;

    control_jobs_init(&jobs, count_done, &done);
    ask(&jobs, kind, wants_text, &done);
    control_jobs_complete(&jobs, control_jobs_take(&jobs, kind), outcome);
    CU_ASSERT_EQUAL(done, 1);
    job = control_jobs_collect(&jobs);
    CU_ASSERT_PTR_EQUAL(job->context, &done);
    CU_ASSERT_EQUAL(job->status, outcome->status);
    CU_ASSERT_EQUAL(job->size, strlen(job->text));
    text = job->text;
    job->text = NULL;
    control_job_destroy(job);
    control_jobs_finish(&jobs);
    return text;
}

static void expect(enum control_job_kind kind, bool wants_text, const struct outcome *outcome,
                   const char *part)
{
    char *text = answer_of(kind, wants_text, outcome);

    CU_ASSERT_PTR_NOT_NULL(strstr(text, part));
    free(text);
}

/* promise R20 */
static void test_job_that_waits_is_done_when_nothing_drains(void)
{
    const struct outcome outcome = { .generation = 7, .draining = 2 };
    struct control_jobs jobs;
    struct control_job *job;
    uint32_t done = 0;

    control_jobs_init(&jobs, count_done, &done);
    for (int waits = 0; waits < 2; waits++) {
        job = control_job_create(CONTROL_JOB_RELOAD, NULL, &done);
        CU_ASSERT_PTR_NOT_NULL_FATAL(job);
        job->wants_text = true;
        job->waits = waits;
        control_jobs_add(&jobs, job);
    }
    control_jobs_complete(&jobs, control_jobs_take(&jobs, CONTROL_JOB_RELOAD), &outcome);
    job = control_jobs_collect(&jobs);
    CU_ASSERT_PTR_NOT_NULL_FATAL(job);
    CU_ASSERT_PTR_NOT_NULL(strstr(job->text, "still draining: 2"));
    control_job_destroy(job);
    CU_ASSERT_PTR_NULL(control_jobs_collect(&jobs));
    control_jobs_release(&jobs);
    job = control_jobs_collect(&jobs);
    CU_ASSERT_PTR_NOT_NULL_FATAL(job);
    CU_ASSERT_PTR_NULL(strstr(job->text, "still draining"));
    control_job_destroy(job);
    control_jobs_finish(&jobs);
}

static void test_plan_is_reported_with_its_steps(void)
{
    struct settings from = { .host = { .turn_warning_ms = 1000 } };
    struct settings to = { .host = { .turn_warning_ms = 2000 } };
    struct outcome outcome = { .generation = 7 };
    struct plan *plan, *empty;

    CU_ASSERT_EQUAL_FATAL(plan_create(&from, &to, &plan), 0);
    CU_ASSERT_EQUAL_FATAL(plan_create(&from, &from, &empty), 0);
    outcome.plan = plan;
    expect(CONTROL_JOB_RELOAD, true, &outcome, "~ host.turn_warning: ");
    expect(CONTROL_JOB_RELOAD, true, &outcome, "reloaded, generation 7\n");
    expect(CONTROL_JOB_RELOAD, false, &outcome, "\"result\": \"reloaded\"");
    expect(CONTROL_JOB_RELOAD, false, &outcome, "\"field\": \"turn_warning\"");
    expect(CONTROL_JOB_PLAN, false, &outcome, "\"result\": \"planned\"");
    outcome.plan = empty;
    expect(CONTROL_JOB_RELOAD, false, &outcome, "\"result\": \"unchanged\"");
    expect(CONTROL_JOB_RELOAD, true, &outcome, "unchanged, generation 7\n");
    plan_destroy(plan);
    plan_destroy(empty);
}

/* promise R6 */
static void test_refusal_is_reported_with_its_places(void)
{
    struct mark mark = { "weir.yaml", 3, 5 };
    struct outcome outcome = { .status = WEIR_EINVALID, .generation = 7 };
    struct report report;

    report_init(&report);
    report_add(&report, &mark, "pools.a.size", "must be 0..65536, got %d", -1);
    outcome.report = &report;
    expect(CONTROL_JOB_RELOAD, true, &outcome,
           "weir.yaml:3:5: pools.a.size: must be 0..65536, got -1\n");
    expect(CONTROL_JOB_RELOAD, false, &outcome, "\"result\": \"refused\"");
    expect(CONTROL_JOB_RELOAD, false, &outcome, "\"line\": 3");
    expect(CONTROL_JOB_PLAN, false, &outcome, "\"column\": 5");
    report_finish(&report);
    outcome.report = NULL;
    outcome.status = WEIR_ENOMEM;
    expect(CONTROL_JOB_RELOAD, true, &outcome, "error: out of memory\n");
}

static void *supervise(void *context)
{
    struct control_jobs *jobs = context;
    struct outcome outcome = { .generation = 1 };

    for (uint32_t done = 0; done < MANY;) {
        struct control_job *taken = control_jobs_take(jobs, CONTROL_JOB_RELOAD);

        for (struct control_job *job = taken; job; job = job->next)
            done++;
        control_jobs_complete(jobs, taken, &outcome);
    }
    return NULL;
}

static void test_each_job_comes_back_once_from_another_thread(void)
{
    struct control_jobs jobs;
    uint32_t numbers[MANY] = { 0 };
    uint32_t back = 0;
    pthread_t thread;

    control_jobs_init(&jobs, NULL, NULL);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, supervise, &jobs), 0);
    for (uint32_t i = 0; i < MANY || back < MANY;) {
        struct control_job *job;

        if (i < MANY)
            (void)ask(&jobs, CONTROL_JOB_RELOAD, i % 2, &numbers[i]), i++;
        while ((job = control_jobs_collect(&jobs))) {
            ++*(uint32_t *)job->context;
            back++;
            control_job_destroy(job);
        }
    }
    pthread_join(thread, NULL);
    for (uint32_t i = 0; i < MANY; i++)
        CU_ASSERT_EQUAL(numbers[i], 1);
    control_jobs_finish(&jobs);
}

static void test_name_too_long_makes_no_job(void)
{
    char name[PATH_MAX + 1];

    memset(name, 'a', sizeof name);
    name[PATH_MAX] = '\0';
    CU_ASSERT_PTR_NULL(control_job_create(CONTROL_JOB_PLAN, name, NULL));
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "by kind", test_jobs_are_taken_by_kind_in_order },
        { "plan", test_plan_is_reported_with_its_steps },
        { "refusal", test_refusal_is_reported_with_its_places },
        { "threads", test_each_job_comes_back_once_from_another_thread },
        { "too long", test_name_too_long_makes_no_job },
        { "waits", test_job_that_waits_is_done_when_nothing_drains },
        CU_TEST_INFO_NULL,
    };

    return suite_run("job", tests);
}
