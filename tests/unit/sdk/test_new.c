/* SPDX-License-Identifier: MIT */
/*
 * Goal: `weir new plugin` makes a whole folder or none, and gives the reason.
 * Method: command_main with streams in memory, in a folder of the test's own; templates that lack a
 * file.
 */
#include <sys/stat.h>
#include <sysexits.h>

#include "host/command/command.h"
#include "unit/host/suite.h"
#include "unit/host/workspace.h"

#define FILES_COUNT 6u
#define SAID_SIZE 4096u

/* The output of the last call. */
struct said {
    char out[SAID_SIZE];
    char err[SAID_SIZE];
};

/* The test's own folder, which is the current one until desk_finish. */
struct desk {
    struct workspace workspace;
    char *before; /* owned */
    struct said said;
};

static void desk_init(struct desk *desk)
{
    workspace_init(&desk->workspace);
    desk->before = realpath(".", NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(desk->before);
    CU_ASSERT_EQUAL_FATAL(chdir(desk->workspace.path), 0);
}

static void desk_finish(struct desk *desk)
{
    CU_ASSERT_EQUAL_FATAL(chdir(desk->before), 0);
    free(desk->before);
    workspace_finish(&desk->workspace);
}

/* `weir new WHAT NAME --template TEMPLATES [KIND]`; KIND may be NULL. */
static int call_kind(struct desk *desk, const char *what, const char *name, const char *templates,
                     const char *kind)
{
    char *argv[] = {
        strdup("weir"),
        strdup("new"),
        strdup(what),
        strdup(name),
        strdup("--template"),
        strdup(templates),
        kind ? strdup(kind) : NULL,
        NULL,
    };
    int count = kind ? 7 : 6;
    FILE *out = fmemopen(desk->said.out, SAID_SIZE, "w");
    FILE *err = fmemopen(desk->said.err, SAID_SIZE, "w");
    int code;

    CU_ASSERT_FATAL(out && err);
    /* Nothing at all may have been said, and then nothing is written. */
    desk->said.out[0] = desk->said.err[0] = '\0';
    code = command_main(NULL, count, argv, out, err);
    fclose(out);
    fclose(err);
    for (int i = 0; i < count; i++)
        free(argv[i]);
    return code;
}

static int call(struct desk *desk, const char *what, const char *name, const char *templates)
{
    return call_kind(desk, what, name, templates, NULL);
}

/* The folder has these files, without a mark of the templates, and nothing else. Removes it. */
static void expect_folder_of(const char *plugin)
{
    static const char *const marks[] = { "@NAME@",      "@VERSION@",  "@SUFFIX@",
                                         "@LANGUAGES@", "@PACKAGES@", "@SETTINGS@" };
    const char *const files[FILES_COUNT] = {
        "CMakeLists.txt", plugin, "test_pearls.c", "pearls.yaml", "README.md", ".gitignore",
    };
    char path[64];

    for (size_t i = 0; i < FILES_COUNT; i++) {
        size_t size;
        char *text;

        (void)snprintf(path, sizeof path, "pearls/%s", files[i]);
        text = workspace_read(path, &size);
        CU_ASSERT(size > 0);
        for (size_t mark = 0; mark < sizeof marks / sizeof marks[0]; mark++)
            CU_ASSERT_PTR_NULL(strstr(text, marks[mark]));
        free(text);
        CU_ASSERT_EQUAL(unlink(path), 0);
    }
    CU_ASSERT_EQUAL(rmdir("pearls"), 0);
}

static void expect_folder(void)
{
    expect_folder_of("pearls.c");
}

static void test_good_name_makes_the_folder(void)
{
    struct desk desk;

    desk_init(&desk);
    CU_ASSERT_EQUAL(call(&desk, "plugin", "pearls", TEST_TEMPLATE), EX_OK);
    CU_ASSERT_STRING_EQUAL(desk.said.err, "");
    CU_ASSERT_PTR_NOT_NULL(strstr(desk.said.out, "a plugin with a worker"));
    CU_ASSERT_PTR_NOT_NULL(strstr(desk.said.out, "cd pearls\n"));
    expect_folder();
    desk_finish(&desk);
}

static void test_kind_chooses_the_files(void)
{
    struct desk desk;

    desk_init(&desk);
    CU_ASSERT_EQUAL(call_kind(&desk, "plugin", "pearls", TEST_TEMPLATE, "--source"), EX_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(desk.said.out, "a plugin with a source"));
    expect_folder();
    CU_ASSERT_EQUAL(call_kind(&desk, "plugin", "pearls", TEST_TEMPLATE, "--sink"), EX_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(desk.said.out, "a plugin with a sink"));
    expect_folder();
    CU_ASSERT_EQUAL(call_kind(&desk, "plugin", "pearls", TEST_TEMPLATE, "--cxx"), EX_OK);
    expect_folder_of("pearls.cc");
    desk_finish(&desk);
}

static void test_bad_name_is_refused(void)
{
    static const char *const names[] = {
        "",
        "Pearls",
        "1st",
        "a-b",
        "a/b",
        "..",
        "a b",
        "a.so",
        "_a",
        "perl\xc3\xa9",
        "a_name_of_more_than_32_characters",
    };
    struct desk desk;

    desk_init(&desk);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        CU_ASSERT_EQUAL(call(&desk, "plugin", names[i], TEST_TEMPLATE), EX_USAGE);
        CU_ASSERT_PTR_NOT_NULL(strstr(desk.said.err, "is no name for a plugin"));
        CU_ASSERT_STRING_EQUAL(desk.said.out, "");
    }
    CU_ASSERT_EQUAL(call(&desk, "pool", "pearls", TEST_TEMPLATE), EX_USAGE);
    CU_ASSERT_EQUAL(access("pearls", F_OK), -1);
    desk_finish(&desk);
}

static void test_taken_name_is_refused_with_its_place(void)
{
    struct desk desk;

    desk_init(&desk);
    workspace_write("pearls.so", "", 0);
    CU_ASSERT_EQUAL_FATAL(setenv("WEIR_PLUGIN_PATH", desk.workspace.path, 1), 0);
    CU_ASSERT_EQUAL(call(&desk, "plugin", "pearls", TEST_TEMPLATE), EX_USAGE);
    CU_ASSERT_EQUAL_FATAL(unsetenv("WEIR_PLUGIN_PATH"), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(desk.said.err, "there is a plugin called pearls already: "));
    CU_ASSERT_PTR_NOT_NULL(strstr(desk.said.err, "/pearls.so\n"));
    CU_ASSERT_EQUAL(access("pearls", F_OK), -1);
    desk_finish(&desk);
}

static void test_existing_folder_is_left_alone(void)
{
    struct desk desk;

    desk_init(&desk);
    CU_ASSERT_EQUAL_FATAL(mkdir("pearls", 0700), 0);
    CU_ASSERT_EQUAL(call(&desk, "plugin", "pearls", TEST_TEMPLATE), EX_CANTCREAT);
    CU_ASSERT_STRING_EQUAL(desk.said.err,
                           "weir new: pearls is there already; nothing was changed\n");
    CU_ASSERT_EQUAL(rmdir("pearls"), 0); /* still empty */
    CU_ASSERT_EQUAL(call(&desk, "plugin", "pearls", "/nowhere"), EX_NOINPUT);
    CU_ASSERT_PTR_NOT_NULL(strstr(desk.said.err, "/nowhere: there is no CMakeLists.txt.in"));
    CU_ASSERT_EQUAL(access("pearls", F_OK), -1);
    desk_finish(&desk);
}

static void test_failure_half_way_leaves_nothing(void)
{
    struct desk desk;

    desk_init(&desk);
    workspace_write("CMakeLists.txt.in", "x", 1);
    CU_ASSERT_EQUAL_FATAL(mkdir("worker", 0700), 0);
    workspace_write("worker/plugin.c.in", "x", 1);
    CU_ASSERT_EQUAL(call(&desk, "plugin", "pearls", "."), EX_NOINPUT);
    CU_ASSERT_PTR_NOT_NULL(strstr(desk.said.err, "./worker/test_plugin.c.in: "));
    CU_ASSERT_EQUAL(access("pearls", F_OK), -1);
    CU_ASSERT_STRING_EQUAL(desk.said.out, "");
    CU_ASSERT_EQUAL(unlink("worker/plugin.c.in"), 0);
    CU_ASSERT_EQUAL(rmdir("worker"), 0);
    desk_finish(&desk);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "good_name_makes_the_folder", test_good_name_makes_the_folder },
        { "kind_chooses_the_files", test_kind_chooses_the_files },
        { "bad_name_is_refused", test_bad_name_is_refused },
        { "taken_name_is_refused_with_its_place", test_taken_name_is_refused_with_its_place },
        { "existing_folder_is_left_alone", test_existing_folder_is_left_alone },
        { "failure_half_way_leaves_nothing", test_failure_half_way_leaves_nothing },
        CU_TEST_INFO_NULL,
    };

    return suite_run("sdk: weir new", tests);
}
