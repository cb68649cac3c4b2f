/* SPDX-License-Identifier: MIT */
/*
 * Goal: a name has one tag, from any thread, and an invalid name has none.
 *
 * Method: names that share buckets, the bounds of the length, two threads that get the same tag.
 */
#include "message/tag.h"

#include <stdio.h>
#include <string.h>

#include "unit/host/suite.h"

#define NAMES 1000 /* more than there are buckets */

static void test_equal_names_have_one_tag(void)
{
    struct tag_table table;
    char copy[] = "integrity.file/1";
    const struct weir_tag *tag;

    tag_table_init(&table);
    tag = tag_table_get(&table, "integrity.file/1");
    CU_ASSERT_PTR_NOT_NULL_FATAL(tag);
    CU_ASSERT_PTR_EQUAL(tag_table_get(&table, copy), tag);
    CU_ASSERT_PTR_NOT_EQUAL(tag_table_get(&table, "integrity.file/2"), tag);
    copy[0] = 'x'; /* the name was copied */
    CU_ASSERT_STRING_EQUAL(tag->name, "integrity.file/1");
    tag_table_finish(&table);
}

static void test_unfit_name_has_no_tag(void)
{
    struct tag_table table;
    char name[TAG_NAME_MAX + 2];

    tag_table_init(&table);
    memset(name, 'a', sizeof name);
    name[TAG_NAME_MAX + 1] = '\0';
    CU_ASSERT_PTR_NULL(tag_table_get(&table, name));
    CU_ASSERT_PTR_NOT_NULL(tag_table_get(&table, name + 1));
    CU_ASSERT_PTR_NULL(tag_table_get(&table, ""));
    CU_ASSERT_PTR_NULL(tag_table_get(&table, NULL));
    tag_table_finish(&table);
}

struct asker {
    struct tag_table *table;
    const struct weir_tag *tags[NAMES];
};

static void *ask(void *argument)
{
    struct asker *asker = argument;
    char name[16];

    for (int i = 0; i < NAMES; i++) {
        (void)snprintf(name, sizeof name, "tag/%d", i);
        asker->tags[i] = tag_table_get(asker->table, name);
    }
    return NULL;
}

static void test_two_threads_get_the_same_tags(void)
{
    struct tag_table table;
    struct asker askers[2];
    pthread_t thread;

    tag_table_init(&table);
    askers[0].table = askers[1].table = &table;
    CU_ASSERT_EQUAL(pthread_create(&thread, NULL, ask, &askers[0]), 0);
    (void)ask(&askers[1]);
    pthread_join(thread, NULL);
    CU_ASSERT_EQUAL(memcmp(askers[0].tags, askers[1].tags, sizeof askers[0].tags), 0);
    tag_table_finish(&table);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "one tag", test_equal_names_have_one_tag },
        { "unfit names", test_unfit_name_has_no_tag },
        { "two threads", test_two_threads_get_the_same_tags },
        CU_TEST_INFO_NULL,
    };

    return suite_run("tag", tests);
}
