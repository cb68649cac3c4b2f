/* SPDX-License-Identifier: MIT */
/*
 * Goal: the reply to a picture is its thumbnail; the reply to a bad request names the mistake; the
 * reply to a request for the page is the file, unchanged.
 * Method: pictures made in memory; <weir/testkit.h> stands in for the host and the HTTP server.
 */
#include <stdlib.h>

#include <CUnit/Basic.h>
#include <CUnit/CUnit.h>
#include <vips/vips.h>

#include <weir/messages/http.h>
#include <weir/testkit.h>

#include "page.h"
#include "reply.h"

extern const struct weir_plugin weir_plugin_v1;

static const struct reply_settings to_sixteen = { .edge = 16, .most = 100000 };
static const struct page_settings the_page = { .file = "page.html" };

/* A reply, taken apart. */
struct answer {
    struct http_parts parts;
    const char *type;
    size_t type_size;
};

static struct weir_kit *open_kit(const char *behaviour, const void *settings)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, behaviour);

    CU_ASSERT_PTR_NOT_NULL_FATAL(kit);
    CU_ASSERT_EQUAL_FATAL(weir_kit_open(kit, settings), 0);
    return kit;
}

/* Returns the verdict. */
static int ask(struct weir_kit *kit, const char *line, const void *body, size_t size)
{
    size_t head = strlen(line) + 2;
    char *request = malloc(head + size);
    int verdict;

    memcpy(request, line, head - 2);
    memcpy(request + head - 2, "\n\n", 2);
    if (size > 0)
        memcpy(request + head, body, size);
    verdict = weir_kit_request(kit, HTTP_REQUEST_TAG, request, head + size);
    free(request);
    return verdict;
}

static struct answer the_answer(struct weir_kit *kit, const char *status)
{
    const struct weir_message *reply = weir_kit_replied(kit, 0);
    struct answer answer;

    CU_ASSERT_PTR_NOT_NULL_FATAL(reply);
    CU_ASSERT_STRING_EQUAL(reply->tag->name, HTTP_RESPONSE_TAG);
    CU_ASSERT_TRUE_FATAL(http_parts_read(reply->data, reply->size, &answer.parts));
    CU_ASSERT_EQUAL(answer.parts.line_size, strlen(status));
    CU_ASSERT_EQUAL(memcmp(answer.parts.line, status, strlen(status)), 0);
    answer.type = http_parts_header(&answer.parts, "content-type", &answer.type_size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(answer.type);
    return answer;
}

static void expect_text(const struct answer *answer, const char *type, const char *text)
{
    CU_ASSERT_EQUAL(answer->type_size, strlen(type));
    CU_ASSERT_EQUAL(strncmp(answer->type, type, strlen(type)), 0);
    CU_ASSERT_EQUAL(answer->parts.body_size, strlen(text));
    CU_ASSERT_EQUAL(strncmp(answer->parts.body, text, strlen(text)), 0);
}

static void expect_refused(const void *picture, size_t size, const char *text)
{
    struct weir_kit *kit = open_kit("reply", &to_sixteen);
    struct answer answer;

    CU_ASSERT_EQUAL(ask(kit, "POST /thumb", picture, size), WEIR_DONE);
    answer = the_answer(kit, "422");
    expect_text(&answer, "text/plain", text);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

/* Returns owned: a black picture as a file of this format. */
static void *make_picture(int width, int height, const char *suffix, size_t *out_size)
{
    VipsImage *image;
    void *bytes = NULL;

    CU_ASSERT_EQUAL_FATAL(vips_black(&image, width, height, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(vips_image_write_to_buffer(image, suffix, &bytes, out_size, NULL), 0);
    g_object_unref(image);
    return bytes;
}

static void expect_thumb(int width, int height, const char *suffix, int thumb_width,
                         int thumb_height)
{
    struct weir_kit *kit = open_kit("reply", &to_sixteen);
    size_t size;
    void *picture = make_picture(width, height, suffix, &size);
    struct answer answer;
    VipsImage *thumb;

    CU_ASSERT_EQUAL(ask(kit, "POST /thumb?from=test", picture, size), WEIR_DONE);
    answer = the_answer(kit, "200");
    CU_ASSERT_EQUAL(strncmp(answer.type, "image/png\n", 10), 0);
    thumb = vips_image_new_from_buffer(answer.parts.body, answer.parts.body_size, "", NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(thumb);
    CU_ASSERT_EQUAL(vips_image_get_width(thumb), thumb_width);
    CU_ASSERT_EQUAL(vips_image_get_height(thumb), thumb_height);
    g_object_unref(thumb);
    g_free(picture);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

/* --- tests
 * ------------------------------------------------------------------------------------
 */

static void test_picture_gets_its_thumbnail(void)
{
    expect_thumb(400, 100, ".jpg", 16, 4);
    expect_thumb(99, 100, ".png", 16, 16);
    expect_thumb(3, 2, ".png", 3, 2);
}

static void test_no_picture_is_refused(void)
{
    size_t size;
    void *large = make_picture(1001, 100, ".png", &size);

    expect_refused(large, size, "more pixels than allowed\n");
    expect_refused("no picture", 10, "not a picture\n");
    expect_refused("", 0, "not a picture\n");
    g_free(large);
}

static void test_other_methods_are_refused(void)
{
    struct weir_kit *kit = open_kit("reply", &to_sixteen);
    struct answer answer;

    CU_ASSERT_EQUAL(ask(kit, "GET /thumb", "", 0), WEIR_DONE);
    answer = the_answer(kit, "405");
    expect_text(&answer, "text/plain", "POST a picture\n");
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_other_messages_are_rejected(void)
{
    struct weir_kit *reply = open_kit("reply", &to_sixteen);
    struct weir_kit *page = open_kit("page", &the_page);

    CU_ASSERT_EQUAL(weir_kit_request(reply, "test.other/1", "POST /\n\n", 8), WEIR_REJECT);
    CU_ASSERT_EQUAL(weir_kit_request(reply, HTTP_REQUEST_TAG, "POST /\n", 7), WEIR_REJECT);
    CU_ASSERT_EQUAL(weir_kit_request(page, "test.other/1", "GET /\n\n", 7), WEIR_REJECT);
    CU_ASSERT_EQUAL(weir_kit_destroy(reply), 0);
    CU_ASSERT_EQUAL(weir_kit_destroy(page), 0);
}

static void test_shortage_gives_again(void)
{
    struct weir_kit *kit = open_kit("page", &the_page);

    weir_kit_fail_allocation(kit, 1);
    CU_ASSERT_EQUAL(ask(kit, "GET /", "", 0), WEIR_RETRY);
    CU_ASSERT_PTR_NULL(weir_kit_replied(kit, 0));
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void expect_page(const char *line, const char *status, const char *type, const char *text)
{
    struct weir_kit *kit = open_kit("page", &the_page);
    struct answer answer;

    CU_ASSERT_EQUAL(ask(kit, line, "", 0), WEIR_DONE);
    answer = the_answer(kit, status);
    expect_text(&answer, type, text);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_page_is_at_the_root_alone(void)
{
    expect_page("GET /", "200", "text/html; charset=utf-8", "<p>a page\n");
    expect_page("GET /?a=b", "200", "text/html; charset=utf-8", "<p>a page\n");
    expect_page("HEAD /", "200", "text/html; charset=utf-8", "<p>a page\n");
    expect_page("GET /other", "404", "text/plain", "no such page\n");
    expect_page("POST /", "404", "text/plain", "no such page\n");
    expect_page("GET", "404", "text/plain", "no such page\n");
}

static void test_page_that_cannot_be_read_refuses_the_start(void)
{
    const struct page_settings none = { .file = "none.html" }, large = { .file = "large.html" };
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "page");

    CU_ASSERT_EQUAL(weir_kit_open(kit, &none), WEIR_EINVALID);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), "the page: No such file or directory");
    CU_ASSERT_TRUE(weir_kit_has_logged(kit, WEIR_LOG_ERROR, "none.html"));
    CU_ASSERT_EQUAL(weir_kit_open(kit, &large), WEIR_EINVALID);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), "the page: File too large");
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

/* In the folder of the build. */
static int make_pages(void)
{
    FILE *page = fopen("page.html", "w"), *large = fopen("large.html", "w");

    return !page || !large || fputs("<p>a page\n", page) < 0 || fseek(large, 1 << 20, SEEK_SET) ||
           fputc('.', large) == EOF || fclose(page) != 0 || fclose(large) != 0;
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "picture_gets_its_thumbnail", test_picture_gets_its_thumbnail },
        { "no_picture_is_refused", test_no_picture_is_refused },
        { "other_methods_are_refused", test_other_methods_are_refused },
        { "other_messages_are_rejected", test_other_messages_are_rejected },
        { "shortage_gives_again", test_shortage_gives_again },
        { "page_is_at_the_root_alone", test_page_is_at_the_root_alone },
        { "page_that_cannot_be_read_refuses_the_start",
          test_page_that_cannot_be_read_refuses_the_start },
        CU_TEST_INFO_NULL,
    };
    CU_SuiteInfo suites[] = {
        { .pName = "web", .pInitFunc = make_pages, .pTests = tests },
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
