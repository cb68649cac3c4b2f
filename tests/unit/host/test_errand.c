/*
 * Goal: errands go to the supervisor by kind and in order, and come back with the answer in the
 * requested form.
 *
 * Method: a plan between two settings, a report with a mistake; the test plays both sides, and so
 * do two threads.
 */
#include "host/reload/errand.h"

#include <stdlib.h>
#include <string.h>

#include "unit/host/suite.h"

#define MANY 2000u

static void count_done(void *context)
{
    ++*(uint32_t *)context;
}

static struct errand *ask(struct errands *errands, enum errand_kind kind, bool wants_text,
                          void *context)
{
    struct errand *errand = errand_create(kind, "/etc/weir.yaml", context);

    errand->wants_text = wants_text;
    errands_ask(errands, errand);
    return errand;
}

static void test_errands_are_taken_by_kind_in_order(void)
{
    struct errands errands;
    struct errand *first, *second, *plan, *taken;

    errands_init(&errands, NULL, NULL);
    first = ask(&errands, ERRAND_RELOAD, true, NULL);
    plan = ask(&errands, ERRAND_PLAN, true, NULL);
    second = ask(&errands, ERRAND_RELOAD, true, NULL);
    taken = errands_take(&errands, ERRAND_RELOAD);
    CU_ASSERT_PTR_EQUAL(taken, first);
    CU_ASSERT_PTR_EQUAL(taken->next, second);
    CU_ASSERT_PTR_NULL(second->next);
    CU_ASSERT_PTR_NULL(errands_take(&errands, ERRAND_RELOAD));
    CU_ASSERT_PTR_NULL(errands_collect(&errands));
    errands_complete(&errands, taken, &(struct outcome){ .status = WEIR_ENOMEM });
    CU_ASSERT_PTR_EQUAL(errands_collect(&errands), first);
    CU_ASSERT_PTR_EQUAL(errands_collect(&errands), second);
    CU_ASSERT_PTR_NULL(errands_collect(&errands));
    errand_destroy(first);
    errand_destroy(second);
    CU_ASSERT_STRING_EQUAL(plan->file, "/etc/weir.yaml");
    errands_finish(&errands); /* frees the plan */
}

/* Completes one errand, and returns its text, which the caller frees. */
static char *answer_of(enum errand_kind kind, bool wants_text, const struct outcome *outcome)
{
    uint32_t done = 0;
    struct errands errands;
    struct errand *errand;
    char *text;

    errands_init(&errands, count_done, &done);
    ask(&errands, kind, wants_text, &done);
    errands_complete(&errands, errands_take(&errands, kind), outcome);
    CU_ASSERT_EQUAL(done, 1);
    errand = errands_collect(&errands);
    CU_ASSERT_PTR_EQUAL(errand->context, &done);
    CU_ASSERT_EQUAL(errand->status, outcome->status);
    CU_ASSERT_EQUAL(errand->size, strlen(errand->text));
    text = errand->text;
    errand->text = NULL;
    errand_destroy(errand);
    errands_finish(&errands);
    return text;
}

static void expect(enum errand_kind kind, bool wants_text, const struct outcome *outcome,
                   const char *part)
{
    char *text = answer_of(kind, wants_text, outcome);

    CU_ASSERT_PTR_NOT_NULL(strstr(text, part));
    free(text);
}

static void test_plan_is_told_with_its_steps(void)
{
    struct settings from = { .host = { .turn_warning_ms = 1000 } };
    struct settings to = { .host = { .turn_warning_ms = 2000 } };
    struct outcome outcome = { .generation = 7 };
    struct plan *plan, *empty;

    CU_ASSERT_EQUAL_FATAL(plan_create(&from, &to, &plan), 0);
    CU_ASSERT_EQUAL_FATAL(plan_create(&from, &from, &empty), 0);
    outcome.plan = plan;
    expect(ERRAND_RELOAD, true, &outcome, "~ host.turn_warning: ");
    expect(ERRAND_RELOAD, true, &outcome, "reloaded, generation 7\n");
    expect(ERRAND_RELOAD, false, &outcome, "\"result\": \"reloaded\"");
    expect(ERRAND_RELOAD, false, &outcome, "\"field\": \"turn_warning\"");
    expect(ERRAND_PLAN, false, &outcome, "\"result\": \"planned\"");
    outcome.plan = empty;
    expect(ERRAND_RELOAD, false, &outcome, "\"result\": \"unchanged\"");
    expect(ERRAND_RELOAD, true, &outcome, "unchanged, generation 7\n");
    plan_destroy(plan);
    plan_destroy(empty);
}

/* promise R6 */
static void test_refusal_is_told_with_its_places(void)
{
    struct mark mark = { "weir.yaml", 3, 5 };
    struct outcome outcome = { .status = WEIR_EINVALID, .generation = 7 };
    struct report report;

    report_init(&report);
    report_add(&report, &mark, "pools.a.size", "must be 0..65536, got %d", -1);
    outcome.report = &report;
    expect(ERRAND_RELOAD, true, &outcome,
           "weir.yaml:3:5: pools.a.size: must be 0..65536, got -1\n");
    expect(ERRAND_RELOAD, false, &outcome, "\"result\": \"refused\"");
    expect(ERRAND_RELOAD, false, &outcome, "\"line\": 3");
    expect(ERRAND_PLAN, false, &outcome, "\"column\": 5");
    report_finish(&report);
    outcome.report = NULL;
    outcome.status = WEIR_ENOMEM;
    expect(ERRAND_RELOAD, true, &outcome, "error: out of memory\n");
}

static void *supervise(void *context)
{
    struct errands *errands = context;
    struct outcome outcome = { .generation = 1 };

    for (uint32_t done = 0; done < MANY;) {
        struct errand *taken = errands_take(errands, ERRAND_RELOAD);

        for (struct errand *errand = taken; errand; errand = errand->next)
            done++;
        errands_complete(errands, taken, &outcome);
    }
    return NULL;
}

static void test_each_errand_comes_back_once_from_another_thread(void)
{
    struct errands errands;
    uint32_t numbers[MANY] = { 0 };
    uint32_t back = 0;
    pthread_t thread;

    errands_init(&errands, NULL, NULL);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, supervise, &errands), 0);
    for (uint32_t i = 0; i < MANY || back < MANY;) {
        struct errand *errand;

        if (i < MANY)
            (void)ask(&errands, ERRAND_RELOAD, i % 2, &numbers[i]), i++;
        while ((errand = errands_collect(&errands))) {
            ++*(uint32_t *)errand->context;
            back++;
            errand_destroy(errand);
        }
    }
    pthread_join(thread, NULL);
    for (uint32_t i = 0; i < MANY; i++)
        CU_ASSERT_EQUAL(numbers[i], 1);
    errands_finish(&errands);
}

static void test_name_too_long_makes_no_errand(void)
{
    char name[PATH_MAX + 1];

    memset(name, 'a', sizeof name);
    name[PATH_MAX] = '\0';
    CU_ASSERT_PTR_NULL(errand_create(ERRAND_PLAN, name, NULL));
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "by kind", test_errands_are_taken_by_kind_in_order },
        { "plan", test_plan_is_told_with_its_steps },
        { "refusal", test_refusal_is_told_with_its_places },
        { "threads", test_each_errand_comes_back_once_from_another_thread },
        { "too long", test_name_too_long_makes_no_errand },
        CU_TEST_INFO_NULL,
    };

    return suite_run("errand", tests);
}
