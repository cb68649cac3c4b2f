/* SPDX-License-Identifier: MIT */
/*
 * Goal: a trial holds everything for the calls of `check` in another process: the plugin's copy,
 * the behaviour, the values of its args; it counts each call, and its cost grows evenly with their
 * number. Shows promise B10.
 *
 * Method: the test writes trials as a host does, and carries them out with test plugins whose
 * checks return; also truncated at every byte: then complete calls are made, and no byte after the
 * end is read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/plugin/probe.h"
#include "host/plugin/trial.h"
#include "suite.h"

static const struct loaded sample = { .file = "sample.so", .copy = TEST_PLUGINS "/sample.so" };
static const struct loaded rash = { .file = "rash.so", .copy = TEST_PLUGINS "/rash.so" };

static const struct option_text none[1];

/* One call, of sample.pass or rash.well. */
static void add(struct trial *trial, struct trial_behaviour *behaviour, const char *name,
                const char *text)
{
    struct option_value value = { .name = name,
                                  .shape = OPTION_SCALAR,
                                  .scalar = { .text = text } };
    struct catalogue_check check = { .values = &value, .count = 1 };

    trial_add(trial, behaviour, &check);
}

/* `count` calls of each of two behaviours; owned. */
static int write_trial(uint32_t count, const char *keep)
{
    struct trial_behaviour pass = { &sample, "pass", UINT32_MAX };
    struct trial_behaviour well = { &rash, "well", UINT32_MAX };
    struct trial trial;
    int descriptor;

    CU_ASSERT_EQUAL_FATAL(trial_begin(&trial), WEIR_OK);
    for (uint32_t i = 0; i < count; i++) {
        add(&trial, &pass, "token", "a secret");
        add(&trial, &well, "keep", keep);
    }
    descriptor = trial_end(&trial);
    CU_ASSERT_FATAL(descriptor >= 0);
    return descriptor;
}

static off_t size_of(int descriptor)
{
    struct stat status;

    CU_ASSERT_EQUAL_FATAL(fstat(descriptor, &status), 0);
    return status.st_size;
}

static struct problem problem;

static void expect_steps(int descriptor, uint32_t begun, uint32_t returned)
{
    uint32_t steps[2];

    CU_ASSERT_EQUAL_FATAL(pread(descriptor, steps, sizeof steps, 0), (ssize_t)sizeof steps);
    CU_ASSERT_EQUAL(steps[0], begun);
    CU_ASSERT_EQUAL(steps[1], returned);
}

/* promise B10 */
static void test_calls_are_made_and_counted(void)
{
    int descriptor = write_trial(3, "7"); /* a mistake, which a trial ignores */

    expect_steps(descriptor, 0, 0);
    CU_ASSERT_EQUAL(trial_carry_out(descriptor, &problem), WEIR_OK);
    expect_steps(descriptor, 6, 6);
    close(descriptor);
}

static void test_values_arrive(void)
{
    int descriptor = write_trial(1, "70"); /* the option has at most 9 */

    CU_ASSERT_EQUAL(trial_carry_out(descriptor, &problem), WEIR_EINVALID);
    expect_steps(descriptor, 1, 1);
    close(descriptor);
}

/* A list fits no option of rash.well, and a map none. */
static void test_shapes_arrive(void)
{
    static const enum option_shape shapes[] = { OPTION_LIST, OPTION_MAP, OPTION_NONE };
    const struct option_text items[] = { { .text = "1" }, { .text = "2" } };

    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        struct trial_behaviour well = { &rash, "well", UINT32_MAX };
        struct option_value value = { .name = "keep",
                                      .shape = shapes[i],
                                      .scalar = { .text = "" } };
        struct catalogue_check check = { .values = &value, .count = 1 };
        struct trial trial;
        int descriptor;

        value.items = shapes[i] == OPTION_NONE ? NULL : items;
        value.keys = shapes[i] == OPTION_MAP ? items : NULL;
        value.count = value.items ? 2 : 0;
        CU_ASSERT_EQUAL_FATAL(trial_begin(&trial), WEIR_OK);
        trial_add(&trial, &well, &check);
        descriptor = trial_end(&trial);
        CU_ASSERT_FATAL(descriptor >= 0);
        CU_ASSERT_EQUAL(trial_carry_out(descriptor, &problem), WEIR_EINVALID);
        expect_steps(descriptor, 0, 0);
        close(descriptor);
    }
}

static void test_empty_list_stays_one(void)
{
    struct trial_behaviour well = { &rash, "well", UINT32_MAX };
    struct option_value value = {
        .name = "keep", .shape = OPTION_LIST, .scalar = { .text = "" }, .items = none
    };
    struct catalogue_check check = { .values = &value, .count = 1 };
    struct catalogue_check no_args = { .count = 0 };
    struct trial trial;
    int descriptor;

    CU_ASSERT_EQUAL_FATAL(trial_begin(&trial), WEIR_OK);
    trial_add(&trial, &well, &no_args);
    trial_add(&trial, &well, &check);
    descriptor = trial_end(&trial);
    CU_ASSERT_FATAL(descriptor >= 0);
    CU_ASSERT_EQUAL(trial_carry_out(descriptor, &problem), WEIR_EINVALID);
    expect_steps(descriptor, 1, 1); /* the one without args was right */
    close(descriptor);
}

static void test_part_of_a_trial_is_reported_as_one(void)
{
    int whole = write_trial(2, "1");
    off_t size = size_of(whole);
    uint32_t right = 0;

    close(whole);
    for (off_t cut = size; cut >= 0; cut--) {
        int descriptor = write_trial(2, "1");
        int status;

        CU_ASSERT_EQUAL_FATAL(ftruncate(descriptor, cut), 0);
        status = trial_carry_out(descriptor, &problem);
        CU_ASSERT(status == WEIR_OK || status == WEIR_EINVALID);
        right += status == WEIR_OK;
        close(descriptor);
    }
    CU_ASSERT_EQUAL(right, 5); /* after each of the four calls, and before the first */
}

/* The plugin is named once. */
static void test_more_calls_take_evenly_more(void)
{
    int few = write_trial(1000, "1");
    int many = write_trial(4000, "1");

    CU_ASSERT(size_of(many) <= size_of(few) * 4);
    CU_ASSERT(size_of(few) < 1000 * 2 * 80);
    CU_ASSERT_EQUAL(trial_carry_out(many, &problem), WEIR_OK);
    expect_steps(many, 8000, 8000);
    close(few);
    close(many);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "calls", test_calls_are_made_and_counted },
        { "values", test_values_arrive },
        { "shapes", test_shapes_arrive },
        { "empty list", test_empty_list_stays_one },
        { "part", test_part_of_a_trial_is_reported_as_one },
        { "more", test_more_calls_take_evenly_more },
        CU_TEST_INFO_NULL,
    };

    return suite_run("trials of checks", tests);
}
