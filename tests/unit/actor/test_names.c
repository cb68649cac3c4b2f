/*
 * Goal: a name belongs to one PID at a time and can be taken again after it was given up.
 *
 * Method: a table of names used by one thread; enough names that buckets are shared.
 */
#include "actor/names.h"

#include <stdio.h>
#include <string.h>

#include "unit/host/suite.h"

#include <weir/status.h>

#define COUNT 3000

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
    CU_ASSERT_EQUAL(names_add(&f.names, "verify", 1), 0);
    CU_ASSERT_EQUAL(names_add(&f.names, "verify", 2), WEIR_EEXISTS);
    CU_ASSERT_EQUAL(names_find(&f.names, "verify", &pid), 0);
    CU_ASSERT_EQUAL(pid, 1);
    names_remove(&f.names, "verify", 2, &f.reader); /* not its own */
    CU_ASSERT_EQUAL(names_find(&f.names, "verify", &pid), 0);
    names_remove(&f.names, "verify", 1, &f.reader);
    CU_ASSERT_EQUAL(names_find(&f.names, "verify", &pid), WEIR_EUNKNOWN);
    CU_ASSERT_EQUAL(pid, 1); /* untouched on failure */
    CU_ASSERT_EQUAL(names_add(&f.names, "verify", 2), 0);
    finish(&f);
}

static void test_unfit_name_is_refused(void)
{
    static struct fixture f;
    char name[NAMES_LENGTH_MAX + 2];

    begin(&f);
    memset(name, 'n', sizeof name);
    name[NAMES_LENGTH_MAX + 1] = '\0';
    CU_ASSERT_EQUAL(names_add(&f.names, name, 1), WEIR_EINVALID);
    CU_ASSERT_EQUAL(names_add(&f.names, name + 1, 1), 0);
    CU_ASSERT_EQUAL(names_add(&f.names, "", 1), WEIR_EINVALID);
    CU_ASSERT_EQUAL(names_add(&f.names, NULL, 1), WEIR_EINVALID);
    finish(&f);
}

static void test_removal_by_pid_takes_all_of_its_names(void)
{
    static struct fixture f;
    char name[16];
    weir_pid pid;
    int wrong = 0;

    begin(&f);
    for (int i = 0; i < COUNT; i++) {
        (void)snprintf(name, sizeof name, "name%d", i);
        CU_ASSERT_EQUAL(names_add(&f.names, name, (weir_pid)(i % 3 + 1)), 0);
    }
    names_remove_pid(&f.names, 2, &f.reader);
    for (int i = 0; i < COUNT; i++) {
        int wanted = i % 3 == 1 ? WEIR_EUNKNOWN : 0;

        (void)snprintf(name, sizeof name, "name%d", i);
        wrong += names_find(&f.names, name, &pid) != wanted;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "taken", test_taken_name_is_refused_until_given_up },
        { "unfit", test_unfit_name_is_refused },
        { "by pid", test_removal_by_pid_takes_all_of_its_names },
        CU_TEST_INFO_NULL,
    };

    return suite_run("names", tests);
}
