/* SPDX-License-Identifier: MIT */
/*
 * Goal:   a command of exec.run gets what its options say, and nothing else of the host. Shows
 *         promises B13 and B53.
 * Method: real commands, which print what they have, run by the worker in the test kit.
 */
#include <dirent.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weir/testkit.h>

#include "../../../plugins/exec/exec.h"
#include "../host/suite.h"
#include "exec_command.h"
#include "exec_wait.h"

extern const struct weir_plugin weir_plugin_v1;

static void test_variables_describe_the_message(void)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "run");

    weir_kit_place(kit, 3, 0);
    CU_ASSERT_EQUAL_FATAL(
        weir_kit_open_args(kit,
                           "shell: true\n"
                           "command: ['echo $A $WEIR_INDEX $WEIR_ATTEMPT $WEIR_TAG \"$HOME\"']\n"
                           "environment: {A: own, HOME: here}"),
        0);
    give(kit, "");
    expect_output(kit, 0, "own 3 1 text/1 here\n");
    finish(kit);
}

static void test_without_inherit_a_command_has_its_own_variables_only(void)
{
    struct weir_kit *kit = worker("command: [env]\ninherit: false\nenvironment: {A: 'b c'}");

    give(kit, "");
    expect_output(kit, 0, "A=b c\nWEIR_INDEX=0\nWEIR_ATTEMPT=1\nWEIR_KEY=0\nWEIR_TAG=text/1\n");
    finish(kit);
}

/* What the variables of the host come to, with this line of the arguments. */
static void expect_inherited(const char *line, const char *text)
{
    char args[512];
    struct weir_kit *kit;

    (void)snprintf(args, sizeof args,
                   "shell: true\ncommand: ['env | grep -E \"^(MINE|OTHER|LIST|CRED|NOTIFY|WATCHDOG|"
                   "FDSTORE|MAINPID|MEMORY_PRES|JOURNAL|SYSTEMD_EX)\" | sort']\n%s",
                   line);
    kit = worker(args);
    give(kit, "");
    if (text[0])
        expect_output(kit, 0, text);
    else
        CU_ASSERT_PTR_NULL(weir_kit_emitted(kit, 0, 0));
    finish(kit);
}

static const char *const of_the_manager[] = { "LISTEN_FDS",
                                              "LISTEN_PID",
                                              "LISTEN_FDNAMES",
                                              "LISTEN_PIDFDID",
                                              "NOTIFY_SOCKET",
                                              "WATCHDOG_USEC",
                                              "WATCHDOG_PID",
                                              "FDSTORE",
                                              "CREDENTIALS_DIRECTORY",
                                              "MAINPID",
                                              "JOURNAL_STREAM",
                                              "SYSTEMD_EXEC_PID",
                                              "MEMORY_PRESSURE_WATCH",
                                              "MEMORY_PRESSURE_WRITE",
                                              NULL };

static void test_variables_for_the_host_reach_no_command(void)
{
    char line[128];

    (void)setenv("MINE", "1", 1);
    (void)setenv("OTHER", "2", 1);
    for (size_t i = 0; of_the_manager[i]; i++)
        (void)setenv(of_the_manager[i], "1", 1);
    expect_inherited("", "MINE=1\nOTHER=2\n");
    expect_inherited("inherit: true", "MINE=1\nOTHER=2\n");
    expect_inherited("inherit: [OTHER, PATH, MISSING]", "OTHER=2\n");
    expect_inherited("inherit: [MIN, PATH]", "");
    expect_inherited("inherit: [PATH]\nenvironment: {LISTEN_FDS: '3'}", "LISTEN_FDS=3\n");
    expect_inherited("environment: {MINE: '3'}", "MINE=3\nOTHER=2\n");
    for (size_t i = 0; of_the_manager[i]; i++) {
        struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "run");

        (void)snprintf(line, sizeof line, "command: [env]\ninherit: [%s]", of_the_manager[i]);
        CU_ASSERT_EQUAL(weir_kit_open_args(kit, line), WEIR_EINVALID);
        (void)weir_kit_destroy(kit);
        (void)unsetenv(of_the_manager[i]);
    }
    (void)unsetenv("MINE");
    (void)unsetenv("OTHER");
}

static void test_command_has_three_descriptors_and_no_others(void)
{
    int open_here = open("/dev/null", O_RDONLY); /* without O_CLOEXEC */
    struct weir_kit *kit = worker("command: [ls, /proc/self/fd]");

    give(kit, "");
    expect_output(kit, 0, "0\n1\n2\n3\n"); /* 3 is the folder itself */
    (void)close(open_here);
    finish(kit);
}

static void test_command_has_default_signals(void)
{
    struct weir_kit *kit = worker("command: [grep, -E, '^Sig(Blk|Ign)', /proc/self/status]");
    sigset_t term;

    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    CU_ASSERT_EQUAL_FATAL(sigprocmask(SIG_BLOCK, &term, NULL), 0);
    CU_ASSERT_NOT_EQUAL_FATAL(signal(SIGHUP, SIG_IGN), SIG_ERR);
    give(kit, "");
    (void)signal(SIGHUP, SIG_DFL);
    (void)sigprocmask(SIG_UNBLOCK, &term, NULL);
    expect_output(kit, 0, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
    finish(kit);
}

static void test_directory_is_where_a_command_runs(void)
{
    struct weir_kit *kit = worker("command: [pwd]\ndirectory: /");

    give(kit, "");
    expect_output(kit, 0, "/\n");
    finish(kit);
}

static void test_limits_are_those_of_the_command(void)
{
    struct weir_kit *kit = worker(
        "command: [grep, -E, '^Max (cpu|file size|open|address)', /proc/self/limits]\n"
        "cpu: 1500ms\nfile_size: 4096\nfiles: 20\nmemory: 1GiB");
    const struct weir_message *message;
    char text[1024] = "";

    give(kit, "");
    message = weir_kit_emitted(kit, 0, 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(message);
    CU_ASSERT_TRUE_FATAL(message->size < sizeof text);
    memcpy(text, message->data, message->size);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "Max cpu time              2                    3 "));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "Max file size             4096                 4096 "));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "Max open files            20                   20 "));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "Max address space         1073741824 "));
    finish(kit);
}

static size_t count_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    size_t count = 0;

    CU_ASSERT_PTR_NOT_NULL_FATAL(folder);
    while (readdir(folder))
        count++;
    (void)closedir(folder);
    return count;
}

/* A large pool that is idle leaves the descriptors of the host to others. */
static void test_worker_without_a_command_has_no_descriptor(void)
{
    size_t before = count_descriptors();
    struct weir_kit *kit = worker("command: [cat]");

    CU_ASSERT_EQUAL(count_descriptors(), before);
    give(kit, "x");
    CU_ASSERT_EQUAL(count_descriptors(), before);
    finish(kit);
}

#define USER "nobody"

static void expect_as_user(const char *args, const char *text)
{
    struct weir_kit *kit = worker(args);

    give(kit, "x");
    expect_output(kit, 0, text);
    finish(kit);
}

static void expect_user_refused(const char *name, const char *reason)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "run");

    CU_ASSERT_EQUAL(weir_kit_open_format(kit, "command: [id]\nuser: %s", name), WEIR_EINVALID);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), reason);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

/* promise B53; only root can become another user; the refusal of others is tried by anybody. */
static void test_user_is_that_of_the_command(void)
{
    const struct passwd *user = getpwnam(USER);
    bool is_root = geteuid() == 0;
    char text[256];

    CU_ASSERT_PTR_NOT_NULL_FATAL(user);
    if (is_root) {
        (void)snprintf(text, sizeof text, "%u %u %u %s " USER " " USER "\n", user->pw_uid,
                       user->pw_gid, user->pw_gid, user->pw_dir);
        expect_as_user("shell: true\nuser: " USER "\ncommand: "
                       "['echo $(id -u) $(id -g) $(id -G) $HOME $USER $LOGNAME']",
                       text);
        (void)snprintf(text, sizeof text, "%u 50 /x xx\n", user->pw_uid);
        expect_as_user("shell: true\nuser: 65534\nfiles: 50\nenvironment: {HOME: /x}\ninput: "
                       "payload\ncommand: ['echo $(id -u) $(ulimit -n) $HOME $1$(cat)', '{}']",
                       text);
        expect_as_user("user: " USER "\ncommand: [grep, -E, '^(CapEff|CapAmb|Groups):', "
                       "/proc/self/status]",
                       "Groups:\t65534 \nCapEff:\t0000000000000000\nCapAmb:\t0000000000000000\n");
        expect_user_refused("nobody-knows", "user nobody-knows: is unknown");
        expect_user_refused("4123456", "user 4123456: is unknown");
        CU_ASSERT_EQUAL_FATAL(seteuid(user->pw_uid), 0);
    }
    expect_user_refused(USER, "");
    if (is_root)
        CU_ASSERT_EQUAL_FATAL(seteuid(0), 0);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "variables", test_variables_describe_the_message },
        { "inherit: false", test_without_inherit_a_command_has_its_own_variables_only },
        { "inherit", test_variables_for_the_host_reach_no_command },
        { "descriptors", test_command_has_three_descriptors_and_no_others },
        { "signals", test_command_has_default_signals },
        { "directory", test_directory_is_where_a_command_runs },
        { "idle", test_worker_without_a_command_has_no_descriptor },
        { "user", test_user_is_that_of_the_command },
        { "limits", test_limits_are_those_of_the_command },
        CU_TEST_INFO_NULL,
    };

    return suite_run("exec_inherit", tests);
}
