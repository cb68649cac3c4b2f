/* SPDX-License-Identifier: MIT */
/*
 * Goal: every command writes its answer to standard output, mistakes to standard error, and ends
 * with the code of sysexits.h.
 * Method: command_main with streams in memory; files of the test's own.
 */
#include <sysexits.h>

#include "host/command/command.h"
#include "suite.h"
#include "workspace.h"

#define ARGUMENTS_MAX 8
#define HELP_COLUMNS_MAX 100

/* The output of the last call. */
struct said {
    char out[16384];
    char err[16384];
};

static void copy_said(char *to, size_t size, char *text)
{
    (void)snprintf(to, size, "%s", text ? text : "");
    free(text);
}

/* Calls `weir` with the arguments, whose list ends with NULL. */
static int call(struct said *said, const char *const *arguments)
{
    char *argv[ARGUMENTS_MAX + 2] = { strdup("weir") };
    char *out_text = NULL, *err_text = NULL;
    size_t out_size, err_size;
    FILE *out = open_memstream(&out_text, &out_size);
    FILE *err = open_memstream(&err_text, &err_size);
    int argc = 1, code;

    CU_ASSERT_FATAL(out && err);
    for (; arguments[argc - 1] && argc <= ARGUMENTS_MAX; argc++)
        argv[argc] = strdup(arguments[argc - 1]);
    code = command_main(NULL, argc, argv, out, err);
    fclose(out);
    fclose(err);
    copy_said(said->out, sizeof said->out, out_text);
    copy_said(said->err, sizeof said->err, err_text);
    for (int i = 0; i < ARGUMENTS_MAX + 1; i++)
        free(argv[i]);
    return code;
}

#define CALL(said, ...) call(said, (const char *const[]){ __VA_ARGS__, NULL })

static void test_help_lists_every_command(void)
{
    struct said said;

    CU_ASSERT_EQUAL(CALL(&said, "--help"), EX_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(said.out, "usage: weir COMMAND"));
    CU_ASSERT_PTR_NOT_NULL(strstr(said.out, "  check FILE"));
    CU_ASSERT_PTR_NOT_NULL(strstr(said.out, "  describe PLUGIN"));
    CU_ASSERT_STRING_EQUAL(said.err, "");
    CU_ASSERT_EQUAL(CALL(&said, "help"), EX_OK);
    CU_ASSERT_EQUAL(CALL(&said, NULL), EX_USAGE);
    CU_ASSERT_STRING_EQUAL(said.out, "");
    CU_ASSERT_PTR_NOT_NULL(strstr(said.err, "usage: weir COMMAND"));
}

static void expect_help(const char *name)
{
    struct said said, again;
    char usage[64];

    CU_ASSERT_EQUAL(CALL(&said, name, "--help"), EX_OK);
    (void)snprintf(usage, sizeof usage, "usage: weir %s", name);
    CU_ASSERT_EQUAL(strncmp(said.out, usage, strlen(usage)), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(said.out, "-h, --help"));
    for (const char *line = said.out; *line; line += strcspn(line, "\n") + 1)
        CU_ASSERT(strcspn(line, "\n") <= HELP_COLUMNS_MAX);
    CU_ASSERT_EQUAL(CALL(&again, "help", name), EX_OK);
    CU_ASSERT_STRING_EQUAL(said.out, again.out);
    CU_ASSERT_EQUAL(CALL(&again, name, "-h"), EX_OK);
    CU_ASSERT_STRING_EQUAL(said.out, again.out);
}

static void test_every_command_has_help_that_fits_a_screen(void)
{
    const struct command *command;
    struct said said;

    for (size_t i = 0; (command = command_at(i)); i++) {
        if (!command->internal)
            expect_help(command->name);
    }
    CU_ASSERT_EQUAL(CALL(&said, "plan", "--help"), EX_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(said.out, "  -f, --from OLD "));
    CU_ASSERT_EQUAL(CALL(&said, "help", "chekc"), EX_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(said.err, "did you mean \"check\"?"));
}

static void test_unknown_command_is_refused_with_a_guess(void)
{
    struct said said;

    CU_ASSERT_EQUAL(CALL(&said, "chekc"), EX_USAGE);
    CU_ASSERT_STRING_EQUAL(said.err,
                           "weir: there is no command \"chekc\"; did you mean \"check\"?\n"
                           "Try `weir --help`.\n");
    CU_ASSERT_EQUAL(CALL(&said, "xylophone"), EX_USAGE);
    CU_ASSERT_PTR_NULL(strstr(said.err, "did you mean"));
}

static void test_wrong_options_are_refused(void)
{
    struct said said;

    CU_ASSERT_EQUAL(CALL(&said, "check", "--frmo", "x"), EX_USAGE);
    CU_ASSERT_STRING_EQUAL(said.err, "weir check: there is no option --frmo\n"
                                     "Try `weir check --help`.\n");
    CU_ASSERT_EQUAL(CALL(&said, "run", "--alow-dead", "x"), EX_USAGE);
    CU_ASSERT_STRING_EQUAL(said.err,
                           "weir run: there is no option --alow-dead; did you mean --allow-dead?\n"
                           "Try `weir run --help`.\n");
    CU_ASSERT_EQUAL(CALL(&said, "check", "-z"), EX_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(said.err, "there is no option -z"));
    CU_ASSERT_EQUAL(CALL(&said, "plan", "new.yaml", "--from"), EX_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(said.err, "--from needs an argument"));
    CU_ASSERT_EQUAL(CALL(&said, "plan", "/nowhere/new.yaml"), EX_NOINPUT);
    CU_ASSERT_PTR_NOT_NULL(strstr(said.err, "/nowhere/new.yaml: cannot be opened: No such file"));
    CU_ASSERT_EQUAL(CALL(&said, "status", "--file", "/nowhere.yaml"), EX_NOINPUT);
    CU_ASSERT_EQUAL(CALL(&said, "scale", "pool", "-1"), EX_USAGE);
    CU_ASSERT_EQUAL(CALL(&said, "scale", "pool"), EX_USAGE);
    CU_ASSERT_EQUAL(CALL(&said, "status", "a", "b"), EX_USAGE);
    CU_ASSERT_EQUAL(CALL(&said, "dead", "--replay"), EX_USAGE);
    CU_ASSERT_EQUAL(CALL(&said, "reload", "x"), EX_USAGE);
    CU_ASSERT_EQUAL(CALL(&said, "pause"), EX_USAGE);
    CU_ASSERT_EQUAL(CALL(&said, "restart"), EX_USAGE);
    CU_ASSERT_EQUAL(CALL(&said, "check"), EX_USAGE);
    CU_ASSERT_EQUAL(CALL(&said, "describe"), EX_USAGE);
    CU_ASSERT_EQUAL(CALL(&said, "describe", "a", "b"), EX_USAGE);
    CU_ASSERT_EQUAL(CALL(&said, "version", "x"), EX_USAGE);
    CU_ASSERT_STRING_EQUAL(said.out, "");
}

static void test_version_names_the_parts(void)
{
    struct said said;

    CU_ASSERT_EQUAL(CALL(&said, "--version"), EX_OK);
    CU_ASSERT_EQUAL(strncmp(said.out, "weir ", 5), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(said.out, "\nSDK 1."));
    CU_ASSERT_PTR_NOT_NULL(strstr(said.out, "\nlibyaml 0."));
    CU_ASSERT_PTR_NOT_NULL(strstr(said.out, "\nlibuv 1."));
    CU_ASSERT_EQUAL(CALL(&said, "version"), EX_OK);
}

static void test_plugins_are_checked_by_file(void)
{
    struct said said;

    CU_ASSERT_EQUAL(CALL(&said, "check", "--plugin", TEST_PLUGINS "/sample.so"), EX_OK);
    CU_ASSERT_STRING_EQUAL(said.out, TEST_PLUGINS "/sample.so: ok (sample 1.0.0, 3 behaviours)\n");
    CU_ASSERT_EQUAL(CALL(&said, "check", "--plugin", TEST_PLUGINS "/no_callback.so",
                         TEST_PLUGINS "/sample.so", TEST_PLUGINS "/too_new.so"),
                    EX_CONFIG);
    CU_ASSERT_PTR_NOT_NULL(strstr(said.err, "/no_callback.so: behaviour idle: "));
    CU_ASSERT_PTR_NOT_NULL(strstr(said.err, "/too_new.so: is built for SDK 1.7"));
    CU_ASSERT_PTR_NOT_NULL(strstr(said.out, "/sample.so: ok"));
    CU_ASSERT_EQUAL(CALL(&said, "check", "--plugin", "/nowhere.so"), EX_NOINPUT);
}

static void test_plugins_are_described_by_name_behaviour_and_file(void)
{
    struct said said;

    CU_ASSERT_EQUAL(CALL(&said, "describe", "-p", TEST_PLUGINS, "sample"), EX_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(said.out, "sample.pass (worker)"));
    CU_ASSERT_PTR_NOT_NULL(strstr(said.out, "sample.list (source"));
    CU_ASSERT_EQUAL(CALL(&said, "describe", "-p", TEST_PLUGINS, "sample.list"), EX_OK);
    CU_ASSERT_PTR_NULL(strstr(said.out, "sample.pass"));
    CU_ASSERT_EQUAL(CALL(&said, "describe", TEST_PLUGINS "/sample.so"), EX_OK);
    CU_ASSERT_EQUAL(CALL(&said, "describe", "-p", TEST_PLUGINS, "sample.lits"), EX_NOINPUT);
    CU_ASSERT_PTR_NOT_NULL(strstr(said.err, "did you mean \"list\"?"));
    CU_ASSERT_EQUAL(CALL(&said, "describe", "-p", TEST_PLUGINS, "simple"), EX_NOINPUT);
    CU_ASSERT_PTR_NOT_NULL(strstr(said.err, "no plugin called simple"));
    CU_ASSERT_EQUAL(CALL(&said, "describe", TEST_PLUGINS "/no_symbol.so"), EX_CONFIG);
}

static const char good[] = "version: 1\n"
                           "host: {plugins: [" TEST_PLUGINS "]}\n"
                           "sources:\n"
                           "  names: {use: sample.list, args: {paths: [a]}, to: work}\n"
                           "pools:\n"
                           "  work: {use: sample.pass, size: 2, outputs: {out: end}}\n"
                           "  end: {use: sample.bare, size: 1}\n";

static const char bad[] = "version: 1\n"
                          "host: {plugins: [" TEST_PLUGINS "]}\n"
                          "pools:\n"
                          "  work: {use: sample.psas, size: 2}\n"
                          "  last: {use: sample.bare, size: -1}\n";

static void test_good_file_is_ok(void)
{
    struct workspace workspace;
    struct said said;
    char file[256], wanted[400];

    workspace_init(&workspace);
    workspace_write(workspace_path(&workspace, "a.yaml", file), good, sizeof good - 1);
    CU_ASSERT_EQUAL(CALL(&said, "check", file), EX_OK);
    CU_ASSERT_STRING_EQUAL(said.err, "");
    (void)snprintf(wanted, sizeof wanted, "%s: ok (2 pools, 1 source, 3 workers)\n", file);
    CU_ASSERT_STRING_EQUAL(said.out, wanted);
    workspace_finish(&workspace);
}

static void test_bad_file_is_reported_all_at_once(void)
{
    struct workspace workspace;
    struct said said;
    char file[256];

    workspace_init(&workspace);
    workspace_write(workspace_path(&workspace, "a.yaml", file), bad, sizeof bad - 1);
    CU_ASSERT_EQUAL(CALL(&said, "check", file), EX_CONFIG);
    CU_ASSERT_STRING_EQUAL(said.out, "");
    CU_ASSERT_PTR_NOT_NULL(strstr(said.err, "a.yaml:4:15: pools.work.use: "));
    CU_ASSERT_PTR_NOT_NULL(strstr(said.err, "did you mean \"pass\"?"));
    CU_ASSERT_PTR_NOT_NULL(strstr(said.err, "a.yaml:5:34: pools.last.size: "));
    CU_ASSERT_EQUAL(CALL(&said, "check", "/nowhere.yaml"), EX_NOINPUT);
    CU_ASSERT_PTR_NOT_NULL(strstr(said.err, "/nowhere.yaml"));
    workspace_finish(&workspace);
}

static void test_plan_shows_what_changes(void)
{
    struct workspace workspace;
    struct said said;
    char from[256], to[256], changed[sizeof good];

    memcpy(changed, good, sizeof good);
    strstr(changed, "size: 2")[6] = '8';
    workspace_init(&workspace);
    workspace_write(workspace_path(&workspace, "from.yaml", from), good, sizeof good - 1);
    workspace_write(workspace_path(&workspace, "to.yaml", to), changed, sizeof changed - 1);
    CU_ASSERT_EQUAL(CALL(&said, "plan", to, "--from", from), EX_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(said.out, "pools.work.size: 2 -> 8"));
    CU_ASSERT_PTR_NULL(strchr(said.out, '\033'));
    CU_ASSERT_EQUAL(CALL(&said, "plan", "--from", from, from), EX_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(said.out, "nothing to do"));
    CU_ASSERT_EQUAL(CALL(&said, "plan", "/nowhere.yaml", "--from", from), EX_NOINPUT);
    workspace_write(to, bad, sizeof bad - 1);
    CU_ASSERT_EQUAL(CALL(&said, "plan", to, "--from", from), EX_CONFIG);
    CU_ASSERT_STRING_EQUAL(said.out, "");
    workspace_finish(&workspace);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "help lists every command", test_help_lists_every_command },
        { "every command has help", test_every_command_has_help_that_fits_a_screen },
        { "unknown command", test_unknown_command_is_refused_with_a_guess },
        { "wrong options", test_wrong_options_are_refused },
        { "version names the parts", test_version_names_the_parts },
        { "plugins are checked", test_plugins_are_checked_by_file },
        { "plugins are described", test_plugins_are_described_by_name_behaviour_and_file },
        { "good file is ok", test_good_file_is_ok },
        { "bad file is reported all at once", test_bad_file_is_reported_all_at_once },
        { "plan shows what changes", test_plan_shows_what_changes },
        CU_TEST_INFO_NULL,
    };

    return suite_run("command", tests);
}
