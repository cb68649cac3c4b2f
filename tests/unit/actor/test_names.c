/* SPDX-License-Identifier: MIT */
/*
 * Goal: a name belongs to one PID at a time, and can be taken again after it was released; an actor
 * can change its name.
 *
 * Method: a table of names used by one thread, or by two; enough names that the table grows.
 */
#include "actor/names.h"

#include <stdio.h>
#include <string.h>

#include "unit/host/suite.h"

#include <weir/status.h>

#define COUNT 3000
#define LOOKS 20000u

struct fixture {
    struct reclaim reclaim;
    struct reader reader;
    struct names names;
};

static void begin(struct fixture *f)
{
    reclaim_init(&f->reclaim);
    CU_ASSERT_EQUAL(reader_init(&f->reader, &f->reclaim), 0);
    reader_online(&f->reader);
    names_init(&f->names);
}

static void finish(struct fixture *f)
{
    while (reader_poll(&f->reader))
        ;
    reader_finish(&f->reader);
    names_finish(&f->names);
    reclaim_finish(&f->reclaim);
}

/* promise A5 */
static void test_taken_name_is_refused_until_given_up(void)
{
    static struct fixture f;
    weir_pid pid = 0;

    begin(&f);
    CU_ASSERT_EQUAL(names_add(&f.names, "verify", 1, &f.reader), 0);
    CU_ASSERT_EQUAL(names_add(&f.names, "verify", 2, &f.reader), WEIR_EEXISTS);
    CU_ASSERT_EQUAL(names_find(&f.names, "verify", &pid), 0);
    CU_ASSERT_EQUAL(pid, 1);
    names_remove(&f.names, "verify", 2, &f.reader); /* not its own */
    CU_ASSERT_EQUAL(names_find(&f.names, "verify", &pid), 0);
    names_remove(&f.names, "verify", 1, &f.reader);
    CU_ASSERT_EQUAL(names_find(&f.names, "verify", &pid), WEIR_EUNKNOWN);
    CU_ASSERT_EQUAL(pid, 1); /* untouched on failure */
    CU_ASSERT_EQUAL(names_add(&f.names, "verify", 2, &f.reader), 0);
    finish(&f);
}

/* promise A5 */
static void test_renaming_changes_all_or_nothing(void)
{
    static struct fixture f;
    weir_pid pid = 0;

    begin(&f);
    CU_ASSERT_EQUAL(names_claim(&f.names, "old", 1, true, &f.reader), 0);
    CU_ASSERT_EQUAL(names_add(&f.names, "taken", 2, &f.reader), 0);
    CU_ASSERT_EQUAL(names_rename(&f.names, "old", "taken", 1, &f.reader), WEIR_EEXISTS);
    CU_ASSERT_EQUAL(names_rename(&f.names, "taken", "new", 1, &f.reader), WEIR_EUNKNOWN);
    CU_ASSERT_EQUAL(names_rename(&f.names, "none", "new", 1, &f.reader), WEIR_EUNKNOWN);
    CU_ASSERT_EQUAL(names_rename(&f.names, "old", "", 1, &f.reader), WEIR_EINVALID);
    CU_ASSERT_EQUAL(names_find(&f.names, "new", &pid), WEIR_EUNKNOWN);
    CU_ASSERT_EQUAL(names_find(&f.names, "old", &pid), 0);
    CU_ASSERT_EQUAL(names_rename(&f.names, "old", "new", 1, &f.reader), 0);
    CU_ASSERT_EQUAL(names_find(&f.names, "old", &pid), WEIR_EUNKNOWN);
    CU_ASSERT_EQUAL(names_rename(&f.names, "new", "newer", 1, &f.reader), 0);
    CU_ASSERT_EQUAL(names_find(&f.names, "newer", &pid), 0);
    CU_ASSERT_EQUAL(pid, 1);
    CU_ASSERT_EQUAL(names_claim(&f.names, "old", 3, true, &f.reader), 0);
    finish(&f);
}

/* Renames there and back until the reader has looked often enough. */
struct moving {
    struct fixture *fixture;
    _Atomic bool enough;
};

static void *move_about(void *context)
{
    struct moving *moving = context;
    struct fixture *f = moving->fixture;
    struct reader reader;
    uint32_t failed = 0;

    CU_ASSERT_EQUAL(reader_init(&reader, &f->reclaim), 0);
    reader_online(&reader);
    while (!atomic_load(&moving->enough)) {
        failed += names_rename(&f->names, "here", "there", 7, &reader) != 0;
        failed += names_rename(&f->names, "there", "here", 7, &reader) != 0;
        (void)reader_poll(&reader);
    }
    CU_ASSERT_EQUAL(failed, 0);
    reader_hand_over(&reader);
    reader_finish(&reader);
    return NULL;
}

/* promise A5: each renaming finds the one before complete, and lookups meet only whole entries. */
static void test_renaming_under_lookups_never_fails(void)
{
    static struct fixture f;
    struct moving moving = { .fixture = &f };
    pthread_t thread;
    weir_pid pid;

    begin(&f);
    CU_ASSERT_EQUAL(names_claim(&f.names, "here", 7, true, &f.reader), 0);
    CU_ASSERT_EQUAL(pthread_create(&thread, NULL, move_about, &moving), 0);
    for (uint32_t found = 0; found < LOOKS;) {
        uint32_t missed = 0;

        while (names_find(&f.names, missed % 2 ? "there" : "here", &pid) != 0)
            missed++;
        CU_ASSERT_EQUAL(pid, 7);
        found++;
        (void)reader_poll(&f.reader);
    }
    atomic_store(&moving.enough, true);
    pthread_join(thread, NULL);
    CU_ASSERT_EQUAL(names_find(&f.names, "here", &pid), 0);
    finish(&f);
}

static void test_unfit_name_is_refused(void)
{
    static struct fixture f;
    char name[NAMES_LENGTH_MAX + 2];

    begin(&f);
    memset(name, 'n', sizeof name);
    name[NAMES_LENGTH_MAX + 1] = '\0';
    CU_ASSERT_EQUAL(names_add(&f.names, name, 1, &f.reader), WEIR_EINVALID);
    CU_ASSERT_EQUAL(names_add(&f.names, name + 1, 1, &f.reader), 0);
    CU_ASSERT_EQUAL(names_add(&f.names, "", 1, &f.reader), WEIR_EINVALID);
    CU_ASSERT_EQUAL(names_add(&f.names, NULL, 1, &f.reader), WEIR_EINVALID);
    finish(&f);
}

static void test_end_of_an_incarnation_takes_all_of_its_claims(void)
{
    static struct fixture f;
    char name[16];
    weir_pid pid;
    int wrong = 0;

    begin(&f);
    for (int i = 0; i < COUNT; i++) {
        (void)snprintf(name, sizeof name, "name%d", i);
        CU_ASSERT_EQUAL(names_claim(&f.names, name, (weir_pid)(i % 3 + 1), true, &f.reader), 0);
    }
    CU_ASSERT_EQUAL(names_add(&f.names, "path", 2, &f.reader), 0);
    names_remove_claims(&f.names, 2, &f.reader);
    for (int i = 0; i < COUNT; i++) {
        int wanted = i % 3 == 1 ? WEIR_EUNKNOWN : 0;

        (void)snprintf(name, sizeof name, "name%d", i);
        wrong += names_find(&f.names, name, &pid) != wanted;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_EQUAL(names_find(&f.names, "path", &pid), 0);
    CU_ASSERT_EQUAL(pid, 2);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "taken", test_taken_name_is_refused_until_given_up },
        { "rename", test_renaming_changes_all_or_nothing },
        { "rename under lookups", test_renaming_under_lookups_never_fails },
        { "unfit", test_unfit_name_is_refused },
        { "claims", test_end_of_an_incarnation_takes_all_of_its_claims },
        CU_TEST_INFO_NULL,
    };

    return suite_run("names", tests);
}
