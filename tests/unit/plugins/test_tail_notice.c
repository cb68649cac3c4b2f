/* SPDX-License-Identifier: MIT */
/*
 * Goal:   a check of files that rest looks at none of them, and no change is missed: growth, new
 *         files, new folders, renames, removed and replaced links, and what inotify does not see.
 * Method: `checks` of weir inspect counts the checks that looked at all files. Each change is made
 *         after some checks without a change, and must be found by the next one. Shows promise B24.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weir/testkit.h>

#include "../host/suite.h"
#include "tail_fixture.h"

/* Checks that have looked at all files. */
static unsigned long checks(struct fixture *f)
{
    const char *text = strstr(weir_kit_inspect(f->kit, NULL), "checks=");

    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    return strtoul(text + strlen("checks="), NULL, 10);
}

static void rest(struct fixture *f)
{
    unsigned long before;

    for (int i = 0; i < 5; i++)
        fixture_expect(f, "");
    before = checks(f);
    for (int i = 0; i < 5; i++)
        fixture_expect(f, "");
    CU_ASSERT_EQUAL(checks(f), before);
}

static void start(struct fixture *f, const char *glob)
{
    scratch_init(&f->scratch);
    (void)scratch_directory(&f->scratch, "one");
    (void)scratch_directory(&f->scratch, "two");
    CU_ASSERT_EQUAL(symlink("one", scratch_path(&f->scratch, "linked")), 0);
    fixture_append_to(f, "one/a.log", "first\n");
    fixture_append_to(f, "two/b", "other\n");
    fixture_open_with(f, glob, "");
    fixture_expect(f, "first\n");
    rest(f);
}

static void grow(struct fixture *f)
{
    fixture_append_to(f, "one/a.log", "line\n");
}

static void come(struct fixture *f)
{
    fixture_append_to(f, "one/b.log", "line\n");
}

static void move_in(struct fixture *f)
{
    fixture_append_to(f, "two/b", "line\n");
    fixture_move(f, "two/b", "one/b.log");
}

static void new_folder(struct fixture *f)
{
    (void)scratch_directory(&f->scratch, "three");
    fixture_append_to(f, "three/c.log", "line\n");
}

static void replace(struct fixture *f)
{
    fixture_append_to(f, "one/new", "line\n");
    fixture_move(f, "one/new", "one/a.log");
}

static void cut(struct fixture *f)
{
    (void)scratch_write(&f->scratch, "one/a.log", "line\n");
}

static void relink(struct fixture *f)
{
    fixture_append_to(f, "two/c.log", "line\n");
    CU_ASSERT_EQUAL(symlink("two", scratch_path(&f->scratch, "next")), 0);
    fixture_move(f, "next", "linked");
}

static void link_in(struct fixture *f)
{
    fixture_append_to(f, "two/c", "line\n");
    CU_ASSERT_EQUAL(symlink("../two/c", scratch_path(&f->scratch, "one/c.log")), 0);
}

static void test_each_change_is_found_by_the_next_check(void)
{
    static const struct {
        const char *glob;
        void (*change)(struct fixture *);
        const char *lines;
    } rows[] = {
        { "one/*.log", grow, "line\n" },       { "one/a.log", grow, "line\n" },
        { "linked/*.log", grow, "line\n" },    { "on*/*.log", grow, "line\n" },
        { "one/*.log", come, "line\n" },       { "linked/*.log", come, "line\n" },
        { "on*/*.log", come, "line\n" },       { "one/*.log", move_in, "other\nline\n" },
        { "on[a-e]/*.log", come, "line\n" },   { "[ot]*/*.log", new_folder, "line\n" },
        { "one/a.log", replace, "line\n" },    { "one/a.log", cut, "line\n" },
        { "linked/a.log", replace, "line\n" }, { "linked/*.log", relink, "line\n" },
        { "one/*.log", link_in, "line\n" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture f;

        start(&f, rows[i].glob);
        rows[i].change(&f);
        fixture_expect(&f, rows[i].lines);
        for (int look = 0; look < 25; look++) /* the old file is dropped */
            fixture_expect(&f, "");
        rest(&f);
        fixture_finish(&f);
    }
}

/* The folder of the target is another one than that of the link. */
static void test_target_of_a_link_is_noticed(void)
{
    struct fixture f;

    start(&f, "one/*.log");
    link_in(&f);
    fixture_expect(&f, "line\n");
    rest(&f);
    fixture_append_to(&f, "two/c", "more\n");
    fixture_expect(&f, "more\n");
    fixture_finish(&f);
}

/* Many lines between two checks: the queue of the kernel is bounded. */
static void test_too_many_events_lose_nothing(void)
{
    struct fixture f;

    start(&f, "one/*.log");
    for (int i = 0; i < 10000; i++) {
        fixture_append_to(&f, "one/x", "line\n");
        fixture_append_to(&f, "one/y", "line\n");
    }
    fixture_append_to(&f, "one/a.log", "line\n");
    fixture_expect(&f, "line\n");
    fixture_finish(&f);
}

/* A write through a mapping gives no event. */
static void test_change_without_an_event_is_found_within_half_a_minute(void)
{
    struct fixture f;
    char *bytes;
    int file;

    start(&f, "one/*.log");
    file = open(scratch_path(&f.scratch, "one/a.log"), O_RDWR | O_CLOEXEC);
    CU_ASSERT_TRUE_FATAL(file >= 0);
    bytes = mmap(NULL, 6, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    CU_ASSERT_PTR_NOT_EQUAL_FATAL(bytes, MAP_FAILED);
    memcpy(bytes, "FIRST\n", 6);
    CU_ASSERT_EQUAL(munmap(bytes, 6), 0);
    CU_ASSERT_EQUAL(futimens(file, NULL), 0);
    CU_ASSERT_EQUAL(close(file), 0);
    fixture_expect(&f, "");
    weir_kit_advance(f.kit, 30000);
    fixture_expect(&f, "FIRST\n");
    fixture_finish(&f);
}

/* A folder of /proc: changes there give no events. */
static void test_file_system_without_events_is_looked_at_each_time(void)
{
    struct fixture f;
    unsigned long before;

    scratch_init(&f.scratch);
    (void)snprintf(f.args, sizeof f.args, "paths: ['/proc/self/no-*', '%s']\n",
                   scratch_path(&f.scratch, "*.log"));
    fixture_start(&f);
    for (int i = 0; i < 5; i++)
        fixture_expect(&f, "");
    before = checks(&f);
    for (int i = 0; i < 5; i++)
        fixture_expect(&f, "");
    CU_ASSERT_EQUAL(checks(&f), before + 5);
    fixture_append_to(&f, "a.log", "one\n");
    fixture_expect(&f, "one\n");
    fixture_finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "each change", test_each_change_is_found_by_the_next_check },
        { "target", test_target_of_a_link_is_noticed },
        { "many events", test_too_many_events_lose_nothing },
        { "no event", test_change_without_an_event_is_found_within_half_a_minute },
        { "no inotify", test_file_system_without_events_is_looked_at_each_time },
        CU_TEST_INFO_NULL,
    };

    return suite_run("plugin files tail notice", tests);
}
