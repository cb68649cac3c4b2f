/* SPDX-License-Identifier: MIT */
/*
 * Goal:   files.tail knows a file of its position again by what was read of it, wherever it is and
 *         however its path is spelt; a file that cannot be reached has not changed. Shows promises
 *         B15, B20 and B140.
 * Method: files, links and folders that the test moves while no source runs, or while one does. A
 *         folder that is not mounted is a link that leads to another file system, or does not.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <weir/testkit.h>

#include "../host/suite.h"
#include "tail_fixture.h"

#define CHANGED "file of the position has changed"
#define FINISHED "file of the position is gone; no line was unread when it was saved"
#define UNREACHED "file of the position cannot be reached"

/* Owned by the caller: a path below the scratch directory. */
static char *path_of(struct fixture *f, const char *name)
{
    char *path = strdup(scratch_path(&f->scratch, name));

    CU_ASSERT_PTR_NOT_NULL_FATAL(path);
    return path;
}

static void make_link(struct fixture *f, const char *name, const char *target)
{
    char *path = path_of(f, name);

    (void)unlink(path);
    CU_ASSERT_EQUAL(symlink(target, path), 0);
    free(path);
}

static void settle_all(struct fixture *f)
{
    for (size_t i = 0; i < weir_kit_sent_count(f->kit); i++)
        fixture_done(f, i);
}

/* Ends the source, with everything settled. */
static void stop(struct fixture *f)
{
    settle_all(f);
    CU_ASSERT_EQUAL(weir_kit_destroy(f->kit), 0);
}

/* Starts it with other paths, below the scratch directory unless they begin with '/' or '.'. */
static void start_for(struct fixture *f, const char *glob)
{
    char *path = glob[0] == '/' || glob[0] == '.' ? strdup(glob) : path_of(f, glob);

    (void)snprintf(f->args, sizeof f->args, "paths: ['%s']\nposition: '%s'\n", path,
                   scratch_path(&f->scratch, "position"));
    free(path);
    fixture_start(f);
}

static bool has_warned(struct fixture *f, const char *text)
{
    return weir_kit_has_logged(f->kit, WEIR_LOG_WARNING, text);
}

/* --- links ------------------------------------------------------------------------------------ */

/* As the kubelet does it; `keeps_link`: it leads to the new file, else it is gone. */
static void rotate_target(bool keeps_link)
{
    struct fixture f;

    scratch_init(&f.scratch);
    (void)scratch_directory(&f.scratch, "containers");
    (void)scratch_directory(&f.scratch, "pods");
    make_link(&f, "containers/x.log", "../pods/0.log");
    fixture_append_to(&f, "pods/0.log", "one\n");
    start_for(&f, "containers/*.log");
    fixture_expect(&f, "one\n");
    stop(&f);
    fixture_append_to(&f, "pods/0.log", "two\n");
    fixture_move(&f, "pods/0.log", "pods/0.log.1");
    if (keeps_link)
        fixture_append_to(&f, "pods/0.log", "three\n");
    else
        CU_ASSERT_EQUAL(unlink(scratch_path(&f.scratch, "containers/x.log")), 0);
    fixture_start(&f);
    fixture_expect(&f, keeps_link ? "two\nthree\n" : "two\n");
    CU_ASSERT_FALSE(has_warned(&f, CHANGED));
    fixture_finish(&f);
}

static void test_rotated_target_of_a_link_is_read_to_its_end(void)
{
    rotate_target(true);
    rotate_target(false);
}

/* --- spelling --------------------------------------------------------------------------------- */

/* Starts with one spelling, then with another: no line comes twice, and none is lost. */
static void respell(const char *before, const char *after)
{
    struct fixture f;

    scratch_init(&f.scratch);
    (void)scratch_directory(&f.scratch, "logs");
    make_link(&f, "linked", "logs");
    CU_ASSERT_EQUAL_FATAL(chdir(f.scratch.path), 0);
    fixture_append_to(&f, "logs/a.log", "one\n");
    fixture_append_to(&f, "logs/b.log", "two\n");
    start_for(&f, before);
    fixture_expect(&f, "one\ntwo\n");
    stop(&f);
    fixture_append_to(&f, "logs/a.log", "three\n");
    fixture_append_to(&f, "logs/b.log", "four\n");
    fixture_move(&f, "logs/b.log", "logs/b.log.1"); /* found by its folder */
    start_for(&f, after);
    fixture_expect(&f, "three\nfour\n");
    CU_ASSERT_FALSE(has_warned(&f, CHANGED));
    CU_ASSERT_EQUAL(weir_kit_exit_status(f.kit), 0);
    CU_ASSERT_EQUAL(chdir("/"), 0);
    fixture_finish(&f);
}

static void test_other_spelling_is_the_same_file(void)
{
    static const char *const spellings[] = { "logs/*.log", "./logs/*.log", "linked/*.log",
                                             ".//logs/./*.log" };
    const size_t count = sizeof spellings / sizeof *spellings;

    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++)
            respell(spellings[i], spellings[j]);
    }
}

/* A socket has the inode of the file that is gone, as it may be given again. */
static void test_socket_with_the_inode_is_another_file(void)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    struct fixture f;
    struct stat about;
    char text[512], *path;
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    scratch_init(&f.scratch);
    path = path_of(&f, "socket");
    CU_ASSERT_TRUE_FATAL(strlen(path) < sizeof address.sun_path);
    memcpy(address.sun_path, path, strlen(path));
    CU_ASSERT_EQUAL(bind(descriptor, (struct sockaddr *)&address, sizeof address), 0);
    CU_ASSERT_EQUAL(close(descriptor), 0);
    CU_ASSERT_EQUAL(stat(path, &about), 0);
    free(path);
    path = path_of(&f, "a.log");
    (void)snprintf(text, sizeof text, "weir files 1\n%ju 4 1 4 123 %zu %s\n",
                   (uintmax_t)about.st_ino, strlen(path), path);
    free(path);
    (void)scratch_write(&f.scratch, "position", text);
    fixture_open_with(&f, "a.log", "");
    CU_ASSERT_FALSE(has_warned(&f, UNREACHED));
    CU_ASSERT_TRUE(has_warned(&f, CHANGED));
    fixture_finish(&f);
}

/* --- files that cannot be reached ------------------------------------------------------------- */

/* Root may read everything: then somebody else starts the source. */
static void set_user(uid_t user)
{
    if (getuid() == 0)
        CU_ASSERT_EQUAL(seteuid(user), 0);
}

/* Starts over a file that cannot be reached, then over the same file that can. */
static void expect_no_change(struct fixture *f, void (*hide)(struct fixture *),
                             void (*show)(struct fixture *))
{
    fixture_expect(f, "one\n");
    stop(f);
    hide(f);
    for (int i = 0; i < 2; i++) {
        fixture_start(f);
        fixture_expect(f, "");
        CU_ASSERT_TRUE(has_warned(f, UNREACHED));
        CU_ASSERT_FALSE(has_warned(f, CHANGED));
        CU_ASSERT_EQUAL(weir_kit_exit_status(f->kit), 1);
        if (i == 0)
            stop(f);
    }
    show(f);
    fixture_append_to(f, "logs/a.log", "two\n");
    fixture_expect(f, "two\n"); /* while the source runs */
    stop(f);
    fixture_append_to(f, "logs/a.log", "three\n");
    fixture_start(f);
    fixture_expect(f, "three\n");
    set_user(getuid());
    fixture_finish(f);
}

static void begin_in_folder(struct fixture *f)
{
    const uid_t owner = getuid() == 0 ? 65534 : getuid();

    scratch_init(&f->scratch);
    CU_ASSERT_EQUAL(chown(f->scratch.path, owner, (gid_t)-1), 0);
    (void)scratch_directory(&f->scratch, "logs");
    CU_ASSERT_EQUAL(chown(scratch_path(&f->scratch, "logs"), owner, (gid_t)-1), 0);
    set_user(owner);
    fixture_append_to(f, "logs/a.log", "one\n");
    start_for(f, "logs/*.log");
}

static void forbid_file(struct fixture *f)
{
    CU_ASSERT_EQUAL(chmod(scratch_path(&f->scratch, "logs/a.log"), 0), 0);
}

static void allow_file(struct fixture *f)
{
    CU_ASSERT_EQUAL(chmod(scratch_path(&f->scratch, "logs/a.log"), 0644), 0);
}

static void test_file_that_may_not_be_read_has_not_changed(void)
{
    struct fixture f;

    begin_in_folder(&f);
    expect_no_change(&f, forbid_file, allow_file);
}

static void forbid_folder(struct fixture *f)
{
    fixture_move(f, "logs", "hidden");
    make_link(f, "logs", "logs"); /* ELOOP */
}

static void allow_folder(struct fixture *f)
{
    CU_ASSERT_EQUAL(unlink(scratch_path(&f->scratch, "logs")), 0);
    fixture_move(f, "hidden", "logs");
}

static void test_folder_that_cannot_be_reached_has_not_changed(void)
{
    struct fixture f;

    begin_in_folder(&f);
    expect_no_change(&f, forbid_folder, allow_folder);
}

/* As if the files had been on another file system: the position names another device. */
static void change_device(struct fixture *f)
{
    char *text = scratch_read(&f->scratch, "position"), *rest = NULL, changed[4096];
    size_t size = 0;

    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        bool is_first = size == 0;
        char *numbers = line;
        unsigned long long device = is_first ? 0 : strtoull(line, &numbers, 10) + 1;

        size += (size_t)(is_first ? snprintf(changed, sizeof changed, "%s\n", line)
                                  : snprintf(changed + size, sizeof changed - size, "%llu%s\n",
                                             device, numbers));
    }
    free(text);
    (void)scratch_write(&f->scratch, "position", changed);
}

static void unmount(struct fixture *f)
{
    change_device(f);
    fixture_move(f, "logs", "hidden");
}

static void mount_again(struct fixture *f)
{
    fixture_move(f, "hidden", "logs");
}

static void test_folder_that_is_not_mounted_has_not_changed(void)
{
    struct fixture f;

    begin_in_folder(&f);
    expect_no_change(&f, unmount, mount_again);
}

/* Another mount under the same name: the files of the folder itself. */
static void unmount_and_write(struct fixture *f)
{
    unmount(f);
    (void)scratch_directory(&f->scratch, "logs");
}

static void mount_over(struct fixture *f)
{
    CU_ASSERT_EQUAL(rmdir(scratch_path(&f->scratch, "logs")), 0);
    mount_again(f);
}

static void test_empty_folder_below_the_mount_has_not_changed(void)
{
    struct fixture f;

    begin_in_folder(&f);
    expect_no_change(&f, unmount_and_write, mount_over);
}

/* When one file is there under another number, the machine has numbered its devices again: then the
 * other file is gone. */
static void test_device_with_another_number_is_there(void)
{
    struct fixture f;

    fixture_begin(&f, "*.log", "");
    fixture_append_to(&f, "a.log", "one\n");
    fixture_append_to(&f, "b.log", "two\n");
    fixture_expect(&f, "one\ntwo\n");
    stop(&f);
    change_device(&f);
    CU_ASSERT_EQUAL(unlink(scratch_path(&f.scratch, "a.log")), 0);
    fixture_append_to(&f, "b.log", "three\n");
    fixture_start(&f);
    fixture_expect(&f, "three\n");
    CU_ASSERT_TRUE(has_warned(&f, FINISHED));
    CU_ASSERT_FALSE(has_warned(&f, UNREACHED));
    fixture_finish(&f);
}

/* A name that cannot be looked up while the source runs is no rotation. */
static void test_name_that_cannot_be_reached_for_a_while_is_no_rotation(void)
{
    struct fixture f;

    scratch_init(&f.scratch);
    (void)scratch_directory(&f.scratch, "logs");
    fixture_append_to(&f, "logs/a.log", "one\n");
    start_for(&f, "logs/*.log");
    fixture_expect(&f, "one\n");
    forbid_folder(&f);
    fixture_append_to(&f, "hidden/a.log", "two\n");
    for (int i = 0; i < 30; i++) /* longer than rotate_wait */
        fixture_look(&f);
    fixture_append_to(&f, "hidden/a.log", "three\n");
    allow_folder(&f);
    fixture_expect(&f, "two\nthree\n");
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_inspect(f.kit, NULL), "rotations=0\n"));
    fixture_finish(&f);
}

/* --- content ---------------------------------------------------------------------------------- */

#define BANNER                                                                                     \
    "a banner of the program, which begins each of its files and is longer than the "              \
    "bytes at the start of a file that identified it in positions of format 1. Such "              \
    "a banner has a licence, an address, the names of columns, and so on, and so on, "             \
    "and so on, and so on, and so on.\n"

static void test_other_content_behind_the_same_start_is_read(void)
{
    for (int runs = 0; runs < 2; runs++) {
        struct fixture f;

        fixture_begin(&f, "a.log", "");
        fixture_append_to(&f, "a.log", BANNER "one\ntwo\n");
        fixture_expect(&f, BANNER "one\ntwo\n");
        if (!runs)
            stop(&f);
        (void)scratch_write(&f.scratch, "a.log", BANNER "three\nfour\nfive\n");
        if (!runs)
            fixture_start(&f);
        fixture_expect(&f, BANNER "three\nfour\nfive\n");
        CU_ASSERT_EQUAL(has_warned(&f, CHANGED), !runs);
        fixture_finish(&f);
    }
}

/* More than a position hashes: the bytes before it count, not those at the start. */
static void test_position_deep_in_a_file_is_found_again(void)
{
    struct fixture f;
    char line[1001];

    memset(line, 'x', 1000);
    line[1000] = '\0';
    line[999] = '\n';
    fixture_begin(&f, "a.log", "unsettled: 1000");
    for (int i = 0; i < 200; i++)
        fixture_append_to(&f, "a.log", line);
    fixture_look(&f);
    CU_ASSERT_EQUAL(weir_kit_sent_count(f.kit), 200);
    for (size_t i = 0; i < 150; i++)
        fixture_done(&f, i);
    CU_ASSERT_EQUAL(weir_kit_destroy(f.kit), 0);
    fixture_move(&f, "a.log", "a.log.1");
    fixture_append_to(&f, "a.log", "new\n");
    fixture_start(&f);
    fixture_look(&f);
    CU_ASSERT_EQUAL(weir_kit_sent_count(f.kit), 51);
    CU_ASSERT_EQUAL(fixture_line_at(&f, 0)->number, 151);
    CU_ASSERT_FALSE(has_warned(&f, CHANGED));
    fixture_finish(&f);
}

/* --- files that a rotation removes ----------------------------------------------------------- */

/* Two files are read, of which `settled` lines are done, and then one file rotates out of the other
 * while no source runs. */
static void rotate_out(struct fixture *f, size_t settled)
{
    fixture_begin(f, "x.log*", "");
    fixture_append_to(f, "x.log", "one\n");
    fixture_append_to(f, "x.log.1", "two\n");
    fixture_look(f);
    fixture_expect(f, "one\ntwo\n");
    for (size_t i = 0; i < settled; i++)
        fixture_done(f, i);
    CU_ASSERT_EQUAL(weir_kit_destroy(f->kit), 0);
    fixture_move(f, "x.log", "x.log.1");
    fixture_append_to(f, "x.log", "three\n");
    fixture_start(f);
}

/* promise B140 */
static void test_rotation_removes_what_was_read(void)
{
    struct fixture f;

    rotate_out(&f, 2);
    CU_ASSERT_TRUE(has_warned(&f, FINISHED));
    CU_ASSERT_FALSE(has_warned(&f, CHANGED));
    CU_ASSERT_EQUAL(weir_kit_exit_status(f.kit), 0);
    fixture_expect(&f, "three\n");
    CU_ASSERT_EQUAL(unlink(scratch_path(&f.scratch, "x.log.1")), 0);
    fixture_restart(&f);
    CU_ASSERT_TRUE(has_warned(&f, FINISHED));
    CU_ASSERT_EQUAL(weir_kit_exit_status(f.kit), 0);
    fixture_finish(&f);
}

/* promise B140 */
static void test_lost_bytes_are_counted(void)
{
    struct fixture f;

    rotate_out(&f, 1);
    CU_ASSERT_FALSE(has_warned(&f, FINISHED));
    CU_ASSERT_TRUE(has_warned(&f, CHANGED));
    CU_ASSERT_TRUE(has_warned(&f, "unread_bytes=4"));
    CU_ASSERT_EQUAL(weir_kit_exit_status(f.kit), 1);
    fixture_finish(&f);
}

/* promise B140: what the source has not looked at yet was unread, too. */
static void test_bytes_of_after_the_last_look_are_counted(void)
{
    struct fixture f;

    fixture_begin(&f, "x.log", "");
    fixture_append_to(&f, "x.log", "one\n");
    fixture_expect(&f, "one\n");
    fixture_append_to(&f, "x.log", "two\n");
    stop(&f);
    CU_ASSERT_EQUAL(unlink(scratch_path(&f.scratch, "x.log")), 0);
    fixture_start(&f);
    CU_ASSERT_FALSE(has_warned(&f, FINISHED));
    CU_ASSERT_TRUE(has_warned(&f, "unread_bytes=4"));
    CU_ASSERT_EQUAL(weir_kit_exit_status(f.kit), 1);
    fixture_finish(&f);
}

/* --- positions of before ---------------------------------------------------------------------- */

static void test_position_of_format_2_is_read(void)
{
    struct fixture f;
    struct stat about;
    char text[1024], *path;

    scratch_init(&f.scratch);
    fixture_append_to(&f, "a.log", "one\ntwo\n");
    path = path_of(&f, "a.log");
    CU_ASSERT_EQUAL(stat(path, &about), 0);
    (void)snprintf(text, sizeof text, "weir files 2\n%ju %ju 4 1 4 4 %jx %zu 0 %s \n",
                   (uintmax_t)about.st_dev, (uintmax_t)about.st_ino,
                   (uintmax_t)weir_key("one\n", 4), strlen(path), path);
    free(path);
    (void)scratch_write(&f.scratch, "position", text);
    fixture_open_with(&f, "a.log", "");
    fixture_expect(&f, "two\n");
    stop(&f);
    /* How large the other one was is not known. */
    (void)snprintf(text, sizeof text, "weir files 2\n%ju 1 4 1 4 4 1 %zu 0 %s \n",
                   (uintmax_t)about.st_dev, strlen(scratch_path(&f.scratch, "b.log")),
                   scratch_path(&f.scratch, "b.log"));
    (void)scratch_write(&f.scratch, "position", text);
    fixture_open_with(&f, "*.log", "");
    CU_ASSERT_TRUE(has_warned(&f, "unread_bytes=-1"));
    CU_ASSERT_EQUAL(weir_kit_exit_status(f.kit), 1);
    fixture_finish(&f);
}

/* promise B140: an entry of before format 3 has no size, also when it is saved again. */
static void test_size_that_was_never_known_is_no_size(void)
{
    for (int format = 1; format <= 2; format++) {
        char text[1024], *path, device[32];
        struct fixture f;
        struct stat about;

        scratch_init(&f.scratch);
        CU_ASSERT_EQUAL(stat(f.scratch.path, &about), 0);
        (void)snprintf(device, sizeof device, "%ju ", (uintmax_t)about.st_dev - 1);
        path = path_of(&f, "b.log");
        (void)snprintf(text, sizeof text, "weir files %d\n%s1 0 0 0 %s0 %zu %s%s%s\n", format,
                       format == 1 ? "" : device, format == 1 ? "" : "0 ", strlen(path),
                       format == 1 ? "" : "0 ", path, format == 1 ? "" : " ");
        free(path);
        (void)scratch_write(&f.scratch, "position", text);
        fixture_append_to(&f, "a.log", "one\n");
        fixture_open_with(&f, "*.log", "");
        fixture_expect(&f, "one\n");
        if (format == 2) {
            CU_ASSERT_TRUE(has_warned(&f, UNREACHED));
            stop(&f);
            change_device(&f);
            fixture_start(&f);
        }
        CU_ASSERT_FALSE(has_warned(&f, FINISHED));
        CU_ASSERT_TRUE(has_warned(&f, "unread_bytes=-1"));
        CU_ASSERT_EQUAL(weir_kit_exit_status(f.kit), 1);
        fixture_finish(&f);
    }
}

static void test_position_of_format_1_is_read(void)
{
    struct fixture f;
    struct stat about;
    char text[1024], *path;

    scratch_init(&f.scratch);
    fixture_append_to(&f, "a.log", "one\ntwo\n");
    path = path_of(&f, "a.log");
    CU_ASSERT_EQUAL(stat(path, &about), 0);
    (void)snprintf(text, sizeof text, "weir files 1\n%ju 4 1 8 %jx %zu %s\n",
                   (uintmax_t)about.st_ino, (uintmax_t)weir_key("one\ntwo\n", 8), strlen(path),
                   path);
    free(path);
    (void)scratch_write(&f.scratch, "position", text);
    fixture_open_with(&f, "a.log", "");
    fixture_expect(&f, "two\n");
    CU_ASSERT_EQUAL(fixture_line_at(&f, 0)->number, 2);
    stop(&f);
    fixture_append_to(&f, "a.log", "three\n");
    fixture_start(&f);
    fixture_expect(&f, "three\n");
    fixture_finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "rotated target", test_rotated_target_of_a_link_is_read_to_its_end },
        { "spelling", test_other_spelling_is_the_same_file },
        { "socket", test_socket_with_the_inode_is_another_file },
        { "forbidden file", test_file_that_may_not_be_read_has_not_changed },
        { "unreachable folder", test_folder_that_cannot_be_reached_has_not_changed },
        { "no mount", test_folder_that_is_not_mounted_has_not_changed },
        { "below the mount", test_empty_folder_below_the_mount_has_not_changed },
        { "device number", test_device_with_another_number_is_there },
        { "unreachable name", test_name_that_cannot_be_reached_for_a_while_is_no_rotation },
        { "other content", test_other_content_behind_the_same_start_is_read },
        { "deep position", test_position_deep_in_a_file_is_found_again },
        { "rotated out", test_rotation_removes_what_was_read },
        { "lost bytes", test_lost_bytes_are_counted },
        { "last look", test_bytes_of_after_the_last_look_are_counted },
        { "no size", test_size_that_was_never_known_is_no_size },
        { "format 2", test_position_of_format_2_is_read },
        { "format 1", test_position_of_format_1_is_read },
        CU_TEST_INFO_NULL,
    };

    return suite_run("plugin files tail identity", tests);
}
