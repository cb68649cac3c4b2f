/* SPDX-License-Identifier: MIT */
/*
 * Goal: pictures are sorted by their headers, thumbnails fit and are never enlarged, other files
 * are reported and never waited for, and no picture is lost when there is no memory or no room.
 * Method: pictures made in a folder of the build; <weir/testkit.h> stands in for the host.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CUnit/Basic.h>
#include <CUnit/CUnit.h>
#include <vips/vips.h>

#include <weir/testkit.h>

#include "scale.h"
#include "sort.h"
#include "thumbs.h"

extern const struct weir_plugin weir_plugin_v1;

enum { SMALL, LARGE, ANY, REFUSED };
enum { DONE, FAILED };

static const struct sort_settings by_size = { .large = 10000, .most = 1000000 };
static const struct scale_settings to_sixteen = { .into = ".", .edge = 16 };

/* --- pictures
 * ---------------------------------------------------------------------------------
 */

/* Each returns 0 on success: assertions are not allowed before the tests begin. */
static int make_picture(const char *path, int width, int height)
{
    VipsImage *image;
    int failed = vips_black(&image, width, height, NULL);

    if (failed)
        return failed;
    failed = vips_image_write_to_file(image, path, NULL);
    g_object_unref(image);
    return failed;
}

static int make_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    return !file || fputs(text, file) < 0 || fclose(file) != 0;
}

static int make_cut(const char *path, off_t size)
{
    return make_picture(path, 400, 100) || truncate(path, size) != 0;
}

/* In the folder of the build; replaces the files of an earlier run. */
static int make_files(void)
{
    if ((mkdir("pictures", 0700) != 0 && errno != EEXIST) || chdir("pictures") != 0)
        return 1;
    if ((mkfifo("fifo.png", 0600) != 0 || mkdir("folder.png", 0700) != 0) && errno != EEXIST)
        return 1;
    return make_picture("1x1.png", 1, 1) || make_picture("99x100.png", 99, 100) ||
           make_picture("1001x1000.png", 1001, 1000) || make_picture("400x100.jpg", 400, 100) ||
           make_picture("page.png", 20, 40) || rename("page.png", "[page=7].png") != 0 ||
           make_file("text.png", "no picture at all") || make_file("empty.png", "") ||
           make_file("drawing.svg", "<svg xmlns='http://www.w3.org/2000/svg' "
                                    "width='9000' height='9000'/>") ||
           make_cut("no end.jpg", 900) || make_cut("no header.jpg", 60);
}

/* --- help
 * -------------------------------------------------------------------------------------
 */

static int give(struct weir_kit *kit, const char *path)
{
    size_t size = strlen(path), payload = sizeof(struct thumbs_picture) + size + 1;
    struct thumbs_picture *picture = calloc(1, payload);
    int verdict;

    picture->path_size = (uint32_t)size;
    memcpy(picture + 1, path, size);
    verdict = weir_kit_handle(kit, THUMBS_PICTURE_TAG, picture, payload);
    free(picture);
    return verdict;
}

static const struct thumbs_result *result_at(struct weir_kit *kit, uint32_t output)
{
    const struct weir_message *message = weir_kit_emitted(kit, output, 0);

    CU_ASSERT_PTR_NOT_NULL_FATAL(message);
    CU_ASSERT_PTR_NOT_NULL_FATAL(thumbs_result_get(message));
    return thumbs_result_get(message);
}

static struct weir_kit *open_kit(const char *behaviour, const void *settings)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, behaviour);

    CU_ASSERT_PTR_NOT_NULL_FATAL(kit);
    CU_ASSERT_EQUAL_FATAL(weir_kit_open(kit, settings), 0);
    return kit;
}

static void expect_sorted(const char *path, uint32_t output)
{
    struct weir_kit *kit = open_kit("sort", &by_size);

    CU_ASSERT_EQUAL(give(kit, path), WEIR_DONE);
    CU_ASSERT_EQUAL(weir_kit_sent_count(kit), 1);
    CU_ASSERT_EQUAL(weir_kit_sent(kit, 0)->output, output);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void expect_failed(const char *behaviour, const void *settings, const char *path,
                          uint32_t output, const char *why)
{
    struct weir_kit *kit = open_kit(behaviour, settings);

    CU_ASSERT_EQUAL(give(kit, path), WEIR_DONE);
    CU_ASSERT_EQUAL(result_at(kit, output)->outcome, THUMBS_FAILED);
    CU_ASSERT_STRING_EQUAL(thumbs_result_path(result_at(kit, output)), path);
    CU_ASSERT_STRING_EQUAL(thumbs_result_text(result_at(kit, output)), why);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void expect_thumb(const char *path, uint32_t width, uint32_t height, const char *name)
{
    struct weir_kit *kit = open_kit("scale", &to_sixteen);
    VipsImage *image;

    CU_ASSERT_EQUAL(give(kit, path), WEIR_DONE);
    CU_ASSERT_STRING_EQUAL(thumbs_result_text(result_at(kit, DONE)), name);
    CU_ASSERT_EQUAL(result_at(kit, DONE)->thumb_width, width);
    CU_ASSERT_EQUAL(result_at(kit, DONE)->thumb_height, height);
    image = vips_image_new_from_file(name, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(image);
    CU_ASSERT_EQUAL((uint32_t)vips_image_get_width(image), width);
    CU_ASSERT_EQUAL((uint32_t)vips_image_get_height(image), height);
    g_object_unref(image);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

/* --- tests
 * ------------------------------------------------------------------------------------
 */

static void test_pictures_are_sorted(void)
{
    expect_sorted("1x1.png", SMALL);
    expect_sorted("99x100.png", SMALL);
    expect_sorted("400x100.jpg", LARGE);
    expect_sorted("[page=7].png", SMALL);
    expect_sorted("drawing.svg", ANY);
}

static void test_no_picture_is_reported(void)
{
    expect_failed("sort", &by_size, "1001x1000.png", REFUSED, "more pixels than allowed");
    expect_failed("sort", &by_size, "text.png", REFUSED, "not a picture");
    expect_failed("sort", &by_size, "empty.png", REFUSED, "not a picture");
    expect_failed("sort", &by_size, "fifo.png", REFUSED, "not a file");
    expect_failed("sort", &by_size, "folder.png", REFUSED, "not a file");
    expect_failed("sort", &by_size, "none.png", REFUSED, "there is no such file");
}

static void test_thumbnails_fit(void)
{
    expect_thumb("400x100.jpg", 16, 4, "./400x100.jpg.png");
    expect_thumb("./99x100.png", 16, 16, "./.%2F99x100.png.png");
    expect_thumb("1x1.png", 1, 1, "./1x1.png.png");
    expect_thumb("drawing.svg", 16, 16, "./drawing.svg.png");
}

static void test_failed_thumbnail_is_reported(void)
{
    const struct scale_settings nowhere = { .into = "none", .edge = 16 };
    char far[256] = "";

    for (size_t i = 0; i < 200; i += 2)
        memcpy(far + i, "./", 2);
    memcpy(far + 200, "1x1.png", sizeof "1x1.png");

    expect_failed("scale", &to_sixteen, "no header.jpg", FAILED, "not a picture");
    expect_failed("scale", &to_sixteen, "fifo.png", FAILED, "not a file");
    expect_failed("scale", &nowhere, "99x100.png", FAILED, "it cannot be written");
    expect_failed("scale", &to_sixteen, far, FAILED, "its name would be too long");
    CU_ASSERT_EQUAL(access("none", F_OK), -1);
}

/* After every failed allocation the picture comes again, and no result was sent twice or in
 * part. */
static void test_shortage_gives_again(void)
{
    struct weir_kit *sort = open_kit("sort", &by_size);
    struct weir_kit *scale = open_kit("scale", &to_sixteen);

    weir_kit_fail_allocation(sort, 1);
    CU_ASSERT_EQUAL(give(sort, "1x1.png"), WEIR_RETRY);
    weir_kit_fail_allocation(scale, 1);
    CU_ASSERT_EQUAL(give(scale, "1x1.png"), WEIR_RETRY);
    weir_kit_limit(sort, 0, WEIR_EFULL);
    CU_ASSERT_EQUAL(give(sort, "1x1.png"), WEIR_RETRY);
    CU_ASSERT_EQUAL(give(sort, "text.png"), WEIR_RETRY);
    weir_kit_limit(scale, 0, WEIR_EFULL);
    CU_ASSERT_EQUAL(give(scale, "1x1.png"), WEIR_RETRY);
    CU_ASSERT_EQUAL(weir_kit_sent_count(sort) + weir_kit_sent_count(scale), 0);
    CU_ASSERT_EQUAL(weir_kit_destroy(sort), 0);
    CU_ASSERT_EQUAL(weir_kit_destroy(scale), 0);
}

static void test_bad_bounds_are_refused(void)
{
    const struct sort_settings settings = { .large = 2, .most = 1 };
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "sort");

    CU_ASSERT_STRING_EQUAL(weir_kit_check(kit, &by_size), "");
    CU_ASSERT_STRING_EQUAL(weir_kit_check(kit, &settings),
                           "large: must not be more than `most`, 1\n");
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "pictures_are_sorted", test_pictures_are_sorted },
        { "no_picture_is_reported", test_no_picture_is_reported },
        { "thumbnails_fit", test_thumbnails_fit },
        { "failed_thumbnail_is_reported", test_failed_thumbnail_is_reported },
        { "shortage_gives_again", test_shortage_gives_again },
        { "bad_bounds_are_refused", test_bad_bounds_are_refused },
        CU_TEST_INFO_NULL,
    };
    CU_SuiteInfo suites[] = {
        { .pName = "thumbs", .pInitFunc = make_files, .pTests = tests },
        CU_SUITE_INFO_NULL,
    };
    unsigned failures;

    if (CU_initialize_registry() != CUE_SUCCESS || CU_register_suites(suites) != CUE_SUCCESS)
        return 1;
    CU_basic_run_tests();
    failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return failures != 0;
}
