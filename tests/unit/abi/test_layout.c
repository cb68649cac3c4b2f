/* SPDX-License-Identifier: MIT */
/*
 * Goal: the layout of SDK 1.0 never changes: fields keep their position and size, constants their
 * number; structs grow at their end only, and only those with a size. Shows promise B5.
 * Method: layout.c is compiled with the headers of 1.0 and with today's, and compared row by row.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <CUnit/Basic.h>
#include <CUnit/CUnit.h>

#include "layout.h"

static const struct layout_row *find(const struct layout_row *rows, const char *name)
{
    while (rows->name && strcmp(rows->name, name) != 0)
        rows++;
    return rows->name ? rows : NULL;
}

static bool is_kept(const struct layout_row *then, const struct layout_row *now)
{
    if (then->kind == LAYOUT_GROWS)
        return now->size >= then->size;
    if (then->kind == LAYOUT_SPARE)
        return now->at >= then->at &&
               now->at + (long long)now->size == then->at + (long long)then->size;
    return now->at == then->at && now->size == then->size;
}

static void test_what_1_0_laid_down_is_kept(void)
{
    for (const struct layout_row *then = layout_of_1_0(); then->name; then++) {
        const struct layout_row *now = find(layout_of_today(), then->name);

        CU_ASSERT_PTR_NOT_NULL_FATAL(now);
        if (!is_kept(then, now))
            printf("%s: was %zu bytes at %lld, is %zu at %lld\n", then->name, then->size, then->at,
                   now->size, now->at);
        CU_ASSERT(is_kept(then, now));
    }
}

/* A field that is missing in the list would leave a gap wider than any alignment needs. */
static void test_list_names_every_field_of_1_0(void)
{
    size_t whole = 0, end = 0, structs = 0;

    for (const struct layout_row *row = layout_of_1_0(); row->name; row++) {
        if (row->kind == LAYOUT_FIELD || row->kind == LAYOUT_SPARE) {
            CU_ASSERT((size_t)row->at >= end && (size_t)row->at < end + sizeof(void *));
            end = (size_t)row->at + row->size;
            continue;
        }
        CU_ASSERT(whole >= end && whole < end + sizeof(void *));
        whole = row->size;
        end = 0;
        structs += row->kind != LAYOUT_VALUE;
    }
    CU_ASSERT_EQUAL(structs, 17);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "what 1.0 laid down is kept", test_what_1_0_laid_down_is_kept },
        { "list names every field", test_list_names_every_field_of_1_0 },
        CU_TEST_INFO_NULL,
    };
    CU_SuiteInfo suites[] = { { .pName = "layout", .pTests = tests }, CU_SUITE_INFO_NULL };
    unsigned failures;

    if (CU_initialize_registry() != CUE_SUCCESS || CU_register_suites(suites) != CUE_SUCCESS)
        return 1;
    CU_basic_run_tests();
    failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return failures != 0;
}
