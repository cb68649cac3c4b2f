/* SPDX-License-Identifier: MIT */
/*
 * Goal: the pages, as tables and as JSON, show replies and notices that came too late.
 *
 * Method: a runtime whose counters the test sets, and the pages of a host without other parts.
 */
#include <sys/resource.h>
#include <unistd.h>

#include "host/pages/overview.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/pages/metrics.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"

struct fixture {
    struct rig rig;
    struct settings settings;
    struct shared_settings shared;
    struct assembly assembly;
    struct supervisor supervisor;
    struct overview overview;
};

static uint64_t date_us(void)
{
    return 0;
}

static void begin(struct fixture *f, uint64_t replies, uint64_t notices)
{
    *f = (struct fixture){ .shared = { .settings = &f->settings } };
    rig_init(&f->rig, 1, 0);
    assembly_init(&f->assembly, f->rig.runtime);
    f->assembly.shared = &f->shared;
    f->overview = (struct overview){ .assembly = &f->assembly,
                                     .supervisor = &f->supervisor,
                                     .file = "weir.yaml",
                                     .version = "1",
                                     .clock = clock_monotonic(),
                                     .date_us = date_us };
    atomic_store(&f->rig.runtime->late_replies, replies);
    atomic_store(&f->rig.runtime->late_notices, notices);
}

static void finish(struct fixture *f)
{
    lock_finish(&f->assembly.lock);
    rig_finish(&f->rig);
}

enum page { PAGE_PEOPLE, PAGE_JSON, PAGE_METRICS };

static bool page_has(struct fixture *f, enum page page, const char *part)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    bool has;

    if (page == PAGE_METRICS)
        metrics_write(&f->overview, stream);
    else
        overview_status(&f->overview, page == PAGE_PEOPLE, stream);
    (void)fclose(stream);
    has = strstr(text, part) != NULL;
    if (!has)
        fprintf(stderr, "no `%s` in:\n%s\n", part, text);
    free(text);
    return has;
}

/* promise C6 */
static void test_late_replies_are_reported(void)
{
    struct fixture f;

    begin(&f, 7, 3);
    CU_ASSERT_TRUE(page_has(&f, PAGE_PEOPLE, "\nlate: 7 replies, 3 notices to origins\n"));
    CU_ASSERT_TRUE(page_has(&f, PAGE_JSON, "\"late_replies\": 7,"));
    CU_ASSERT_TRUE(page_has(&f, PAGE_JSON, "\"late_notices\": 3,"));
    CU_ASSERT_TRUE(page_has(&f, PAGE_METRICS, "\nweir_late_replies_total 7\n"));
    CU_ASSERT_TRUE(page_has(&f, PAGE_METRICS, "\nweir_late_notices_total 3\n"));
    finish(&f);
}

static void test_without_any_people_see_no_line_and_programs_a_zero(void)
{
    struct fixture f;
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);

    begin(&f, 0, 0);
    overview_status(&f.overview, true, stream);
    (void)fclose(stream);
    CU_ASSERT_PTR_NULL(strstr(text, "late"));
    free(text);
    CU_ASSERT_TRUE(page_has(&f, PAGE_JSON, "\"late_replies\": 0,"));
    CU_ASSERT_TRUE(page_has(&f, PAGE_METRICS, "\nweir_late_replies_total 0\n"));
    finish(&f);
}

/* promise B119: 0 would be a figure. */
static void test_descriptors_that_cannot_be_counted_have_no_figure(void)
{
    const int next = dup(STDERR_FILENO);
    struct rlimit limit, none;
    struct fixture f;

    begin(&f, 0, 0);
    CU_ASSERT_EQUAL(getrlimit(RLIMIT_NOFILE, &limit), 0);
    CU_ASSERT_TRUE_FATAL(next >= 0 && close(next) == 0);
    none = (struct rlimit){ .rlim_cur = (rlim_t)next, .rlim_max = limit.rlim_max };
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &none), 0);
    CU_ASSERT_FALSE(page_has(&f, PAGE_METRICS, "\nprocess_open_fds "));
    CU_ASSERT_TRUE(page_has(&f, PAGE_METRICS, "\nprocess_max_fds "));
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
    CU_ASSERT_TRUE(page_has(&f, PAGE_METRICS, "\nprocess_open_fds "));
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "late", test_late_replies_are_reported },
        { "none", test_without_any_people_see_no_line_and_programs_a_zero },
        { "no descriptor", test_descriptors_that_cannot_be_counted_have_no_figure },
        CU_TEST_INFO_NULL,
    };

    return suite_run("overview", tests);
}
