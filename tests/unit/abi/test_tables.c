/* SPDX-License-Identifier: MIT */
/*
 * Goal: the tables of the host and of the kit have every function of <weir/host.h>.
 * Method: both tables are read as arrays of pointers, from their first function to their end.
 */
#include <stdio.h>
#include <string.h>

#include <weir/testkit.h>

#include <CUnit/Basic.h>
#include <CUnit/CUnit.h>

#include "host_table.h"

#define FIRST offsetof(struct weir_host, tag)

static void expect_complete(const struct weir_host *host)
{
    CU_ASSERT_EQUAL(host->size, sizeof *host);
    CU_ASSERT_EQUAL(host->minor, WEIR_ABI_MINOR);
    for (size_t at = FIRST; at < sizeof *host; at += sizeof(void *)) {
        void *function;

        memcpy(&function, (const char *)host + at, sizeof function);
        if (!function)
            printf("nothing at %zu, which is function %zu of the table\n", at,
                   (at - FIRST) / sizeof(void *) + 1);
        CU_ASSERT_PTR_NOT_NULL(function);
    }
}

static void test_table_of_the_host_is_complete(void)
{
    expect_complete(&host_table);
}

static int open_it(struct weir_self *self, const void *settings, void *state)
{
    (void)settings;
    (void)state;
    expect_complete(self->host);
    return 0;
}

static int handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    (void)self;
    (void)state;
    (void)message;
    return WEIR_DONE;
}

static const struct weir_behaviour behaviours[] = {
    { .name = "look", .open = open_it, .handle = handle },
    { 0 },
};

WEIR_PLUGIN("tables", "1.0.0", behaviours);

static void test_table_of_the_kit_is_complete(void)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "look");

    CU_ASSERT_EQUAL(weir_kit_open_args(kit, ""), 0);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "table of the host", test_table_of_the_host_is_complete },
        { "table of the kit", test_table_of_the_kit_is_complete },
        CU_TEST_INFO_NULL,
    };
    CU_SuiteInfo suites[] = { { .pName = "tables", .pTests = tests }, CU_SUITE_INFO_NULL };
    unsigned failures;

    if (CU_initialize_registry() != CUE_SUCCESS || CU_register_suites(suites) != CUE_SUCCESS)
        return 1;
    CU_basic_run_tests();
    failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return failures != 0;
}
