/* SPDX-License-Identifier: MIT */
/*
 * Goal: the socket exists with its mode, and never replaces another program's: a stale file is
 * replaced, a socket with a listener and other files are not.
 *
 * Method: sockets in a directory of the test's own.
 */
#include "host/control/control_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

#include "unit/host/suite.h"
#include "unit/support/wait_limit.h"

#define FOREVER_MS 600000 /* never reached */
#define SOMEBODY 65534
#define WAITING_MAX 8192 /* more than wait at any socket */

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
    client = control_socket_connect(f.path, FOREVER_MS);
    CU_ASSERT_TRUE(client >= 0);
    server = accept(f.socket.descriptor, NULL, NULL);
    CU_ASSERT_TRUE(server >= 0);
    CU_ASSERT_TRUE(control_socket_is_ours(server));
    close(client);
    close(server);
    control_socket_close(&f.socket);
    CU_ASSERT_EQUAL(control_socket_connect(f.path, FOREVER_MS), -ENOENT);
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
    client = control_socket_connect(f.path, FOREVER_MS);
    CU_ASSERT_TRUE(client >= 0);
    close(client);
    control_socket_close(&f.socket);
    finish(&f);
}

static atomic_bool interrupted;

static void interrupt(int number)
{
    (void)number;
    atomic_store(&interrupted, true);
}

/* Past the time-out of the test's waits, a system call that blocks returns with EINTR. */
static void begin_interruptible(void)
{
    struct sigaction action = { .sa_handler = interrupt };

    atomic_store(&interrupted, false);
    sigemptyset(&action.sa_mask);
    sigaction(SIGALRM, &action, NULL);
    (void)alarm(wait_limit_ms() / 1000);
}

/* True when the calls have returned by themselves. */
static bool end_interruptible(void)
{
    (void)alarm(0);
    (void)signal(SIGALRM, SIG_DFL);
    return !atomic_load(&interrupted);
}

/* promise T3: every user who may read the folder can lock it. */
static void test_lock_that_somebody_holds_keeps_nobody_out(void)
{
    struct fixture f;
    int lock;

    begin(&f);
    lock = open(f.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CU_ASSERT_EQUAL_FATAL(flock(lock, LOCK_EX), 0);
    begin_interruptible();
    CU_ASSERT_EQUAL(listen_there(&f, &f.socket), 0);
    CU_ASSERT_TRUE(end_interruptible());
    close(lock);
    control_socket_close(&f.socket);
    finish(&f);
}

/* Connects until the backlog is full; returns the number of waiting clients. */
static size_t fill_line(const struct fixture *f, int *clients)
{
    size_t count = 0;

    while (count < WAITING_MAX && (clients[count] = control_socket_connect(f->path, 1)) >= 0)
        count++;
    CU_ASSERT_EQUAL(clients[count], -EAGAIN);
    return count;
}

/* promise T3: a stopped host accepts no connection. */
static void test_host_whose_line_is_full_is_left_alone_at_once(void)
{
    static int clients[WAITING_MAX + 1];
    struct fixture f;
    struct control_socket other;
    size_t count;

    begin(&f);
    CU_ASSERT_EQUAL(listen_there(&f, &f.socket), 0);
    (void)alarm(60);
    count = fill_line(&f, clients);
    CU_ASSERT_EQUAL(listen_there(&f, &other), WEIR_EINVALID);
    (void)alarm(0);
    CU_ASSERT_PTR_NOT_NULL(strstr(f.report.errors.entries[0].reason, "another host listens there"));
    while (count > 0)
        close(clients[--count]);
    control_socket_close(&f.socket);
    finish(&f);
}

/* promise T4; as root the test gives away the folder, and listens as somebody else. */
static void test_host_of_a_stranger_is_known(void)
{
    struct fixture f;
    uid_t stranger = 0;
    int client;

    begin(&f);
    if (geteuid() == 0) {
        CU_ASSERT_EQUAL(chown(f.directory, SOMEBODY, SOMEBODY), 0);
        CU_ASSERT_EQUAL(seteuid(SOMEBODY), 0);
    }
    CU_ASSERT_EQUAL(listen_there(&f, &f.socket), 0);
    if (getuid() == 0)
        CU_ASSERT_EQUAL(seteuid(0), 0);
    client = control_socket_connect(f.path, FOREVER_MS);
    CU_ASSERT_TRUE(client >= 0);
    CU_ASSERT_TRUE(control_socket_is_trusted(client, f.path, &stranger));
    if (geteuid() == 0) {
        CU_ASSERT_EQUAL(chown(f.directory, 0, 0), 0);
        CU_ASSERT_FALSE(control_socket_is_trusted(client, f.path, &stranger));
        CU_ASSERT_EQUAL(stranger, SOMEBODY);
    }
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

static void test_path_too_long_is_reported(void)
{
    struct fixture f;
    char path[CONTROL_SOCKET_PATH_MAX + 1];

    begin(&f);
    memset(path, 'x', sizeof path);
    path[0] = '/';
    path[CONTROL_SOCKET_PATH_MAX] = '\0';
    CU_ASSERT_EQUAL(control_socket_listen(path, NULL, &f.report, &f.socket), WEIR_EINVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(f.report.errors.entries[0].reason, "107 bytes"));
    CU_ASSERT_EQUAL(control_socket_connect(path, FOREVER_MS), -ENAMETOOLONG);
    finish(&f);
}

static void test_directory_that_is_not_there_is_reported(void)
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
        { "lock", test_lock_that_somebody_holds_keeps_nobody_out },
        { "full line", test_host_whose_line_is_full_is_left_alone_at_once },
        { "stranger", test_host_of_a_stranger_is_known },
        { "no socket", test_file_that_is_no_socket_is_left_alone },
        { "successor", test_successor_of_ours_is_not_removed },
        { "too long", test_path_too_long_is_reported },
        { "no directory", test_directory_that_is_not_there_is_reported },
        CU_TEST_INFO_NULL,
    };

    return suite_run("control socket", tests);
}
