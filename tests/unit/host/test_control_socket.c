/*
 * Goal: the socket is there with its mode and nobody else's is taken away: a stale one is
 * replaced, one that is listened at and a file that is no socket are not.
 *
 * Method: sockets in a directory of the test's own.
 */
#include "host/control/control_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "unit/host/suite.h"

struct fixture {
    char directory[32];
    char path[64];
    struct report report;
    struct control_socket socket;
};

static void begin(struct fixture *f)
{
    memcpy(f->directory, "/tmp/weir-test-XXXXXX", 22);
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(f->directory));
    (void)snprintf(f->path, sizeof f->path, "%s/control", f->directory);
    report_init(&f->report);
}

static void finish(struct fixture *f)
{
    report_finish(&f->report);
    (void)unlink(f->path);
    CU_ASSERT_EQUAL(rmdir(f->directory), 0);
}

static int listen_there(struct fixture *f, struct control_socket *out)
{
    return control_socket_listen(f->path, NULL, &f->report, out);
}

/* promise C7 */
static void test_mode_is_0660_whatever_the_umask(void)
{
    static const mode_t masks[] = { 0000, 0022, 0077 };
    struct fixture f;
    struct stat information;

    begin(&f);
    for (size_t i = 0; i < sizeof masks / sizeof masks[0]; i++) {
        mode_t before = umask(masks[i]);

        CU_ASSERT_EQUAL(listen_there(&f, &f.socket), 0);
        (void)umask(before);
        CU_ASSERT_EQUAL(lstat(f.path, &information), 0);
        CU_ASSERT_EQUAL(information.st_mode & 07777, 0660);
        control_socket_close(&f.socket);
        CU_ASSERT_NOT_EQUAL(access(f.path, F_OK), 0);
    }
    finish(&f);
}

static void test_who_connects_is_known(void)
{
    struct fixture f;
    int client, server;

    begin(&f);
    CU_ASSERT_EQUAL(listen_there(&f, &f.socket), 0);
    client = control_socket_connect(f.path);
    CU_ASSERT_TRUE(client >= 0);
    server = accept(f.socket.descriptor, NULL, NULL);
    CU_ASSERT_TRUE(server >= 0);
    CU_ASSERT_TRUE(control_socket_is_ours(server));
    close(client);
    close(server);
    control_socket_close(&f.socket);
    CU_ASSERT_EQUAL(control_socket_connect(f.path), -ENOENT);
    finish(&f);
}

/* promise C8 */
static void test_stale_socket_is_replaced(void)
{
    struct fixture f;

    begin(&f);
    CU_ASSERT_EQUAL(listen_there(&f, &f.socket), 0);
    close(f.socket.descriptor); /* as a host that was killed */
    CU_ASSERT_EQUAL(access(f.path, F_OK), 0);
    CU_ASSERT_EQUAL(listen_there(&f, &f.socket), 0);
    CU_ASSERT_EQUAL(report_count(&f.report), 0);
    control_socket_close(&f.socket);
    finish(&f);
}

/* promise C8 */
static void test_socket_in_use_is_left_alone(void)
{
    struct fixture f;
    struct control_socket other;
    int client;

    begin(&f);
    CU_ASSERT_EQUAL(listen_there(&f, &f.socket), 0);
    CU_ASSERT_EQUAL(listen_there(&f, &other), WEIR_EINVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(f.report.errors.entries[0].reason, "another host listens there"));
    client = control_socket_connect(f.path);
    CU_ASSERT_TRUE(client >= 0);
    close(client);
    control_socket_close(&f.socket);
    finish(&f);
}

static void test_file_that_is_no_socket_is_left_alone(void)
{
    struct fixture f;
    int file;

    begin(&f);
    file = open(f.path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    CU_ASSERT_EQUAL(write(file, "mine", 4), 4);
    close(file);
    CU_ASSERT_EQUAL(listen_there(&f, &f.socket), WEIR_EINVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(f.report.errors.entries[0].reason, "no socket"));
    CU_ASSERT_EQUAL(access(f.path, F_OK), 0);
    finish(&f);
}

static void test_successor_of_ours_is_not_removed(void)
{
    struct fixture f;
    struct control_socket other;

    begin(&f);
    CU_ASSERT_EQUAL(listen_there(&f, &f.socket), 0);
    CU_ASSERT_EQUAL(unlink(f.path), 0);
    CU_ASSERT_EQUAL(listen_there(&f, &other), 0);
    control_socket_close(&f.socket);
    CU_ASSERT_EQUAL(access(f.path, F_OK), 0);
    control_socket_close(&other);
    finish(&f);
}

static void test_path_too_long_is_told(void)
{
    struct fixture f;
    char path[CONTROL_SOCKET_PATH_MAX + 1];

    begin(&f);
    memset(path, 'x', sizeof path);
    path[0] = '/';
    path[CONTROL_SOCKET_PATH_MAX] = '\0';
    CU_ASSERT_EQUAL(control_socket_listen(path, NULL, &f.report, &f.socket), WEIR_EINVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(f.report.errors.entries[0].reason, "107 bytes"));
    CU_ASSERT_EQUAL(control_socket_connect(path), -ENAMETOOLONG);
    finish(&f);
}

static void test_directory_that_is_not_there_is_told(void)
{
    struct fixture f;

    begin(&f);
    CU_ASSERT_EQUAL(control_socket_listen("/nonexistent/control", NULL, &f.report, &f.socket),
                    WEIR_EINVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(f.report.errors.entries[0].reason, "No such file"));
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "mode", test_mode_is_0660_whatever_the_umask },
        { "peer", test_who_connects_is_known },
        { "stale", test_stale_socket_is_replaced },
        { "in use", test_socket_in_use_is_left_alone },
        { "no socket", test_file_that_is_no_socket_is_left_alone },
        { "successor", test_successor_of_ours_is_not_removed },
        { "too long", test_path_too_long_is_told },
        { "no directory", test_directory_that_is_not_there_is_told },
        CU_TEST_INFO_NULL,
    };

    return suite_run("control socket", tests);
}
