/* SPDX-License-Identifier: MIT */
/*
 * Goal: a place keeps its path whole or is not made at all.
 *
 * Method: paths of the greatest length and one more.
 */
#include "actor/place.h"

#include <string.h>

#include "unit/host/suite.h"

static void test_path_that_fits_is_kept_whole(void)
{
    char path[PLACE_PATH_MAX];
    struct place *place = NULL;

    memset(path, 'p', sizeof path);
    path[PLACE_PATH_MAX - 1] = '\0';
    CU_ASSERT_EQUAL(place_create(path, 3, &place), 0);
    CU_ASSERT_STRING_EQUAL(place->path, path);
    CU_ASSERT_EQUAL(place->index, 3);
    CU_ASSERT_TRUE(list_empty(&place->link));
    place_destroy(place);
    place_destroy(NULL);
}

static void test_path_too_long_makes_no_place(void)
{
    char path[PLACE_PATH_MAX + 1];
    struct place *place = NULL;

    memset(path, 'p', sizeof path);
    path[PLACE_PATH_MAX] = '\0';
    CU_ASSERT_EQUAL(place_create(path, 0, &place), WEIR_EINVALID);
    CU_ASSERT_PTR_NULL(place);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "fits", test_path_that_fits_is_kept_whole },
        { "too long", test_path_too_long_makes_no_place },
        CU_TEST_INFO_NULL,
    };

    return suite_run("place", tests);
}
