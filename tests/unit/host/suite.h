/* SPDX-License-Identifier: MIT */
/*
 * suite.h - runs one table of CUnit tests: the last part of every test program.
 */
#ifndef TESTS_UNIT_HOST_SUITE_H
#define TESTS_UNIT_HOST_SUITE_H

#include <CUnit/Basic.h>
#include <CUnit/CUnit.h>

/* Runs the tests, whose table ends with CU_TEST_INFO_NULL; returns the exit code. Borrows. */
static inline int suite_run(const char *name, CU_TestInfo *tests)
{
    CU_SuiteInfo suites[] = {
        { .pName = name, .pTests = tests },
        CU_SUITE_INFO_NULL,
    };
    unsigned failures;

    if (CU_initialize_registry() != CUE_SUCCESS || CU_register_suites(suites) != CUE_SUCCESS)
        return 1;
    CU_basic_set_mode(CU_BRM_VERBOSE);
    CU_basic_run_tests();
    failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return failures != 0;
}

#endif
