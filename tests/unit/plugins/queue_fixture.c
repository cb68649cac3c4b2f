/* SPDX-License-Identifier: MIT */
#include "queue_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../host/suite.h"
#include "../support/wait_limit.h"

#define ASK "--ask"

extern char **environ;

/* --- the clock -------------------------------------------------------------------------------- */

/* Found before that of libc. */
__attribute__((visibility("default"))) int clock_gettime(clockid_t clock_id, struct timespec *tp);

static _Atomic int64_t step_s;

int clock_gettime(clockid_t clock_id, struct timespec *tp)
{
    int status = (int)syscall(SYS_clock_gettime, clock_id, tp);

    if (status == 0 && clock_id == CLOCK_REALTIME)
        tp->tv_sec += (time_t)atomic_load(&step_s);
    return status;
}

void fixture_step_clock(int64_t seconds)
{
    (void)atomic_fetch_add(&step_s, seconds);
}

int64_t fixture_now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static uint64_t steady_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* --- descriptors ------------------------------------------------------------------------------ */

__attribute__((visibility("default"))) int socket(int domain, int type, int protocol);

static _Atomic uint32_t sockets_to_fail;

int socket(int domain, int type, int protocol)
{
    uint32_t left = atomic_load(&sockets_to_fail);

    while (left > 0 && !atomic_compare_exchange_weak(&sockets_to_fail, &left, left - 1))
        ;
    if (left == 0)
        return (int)syscall(SYS_socket, domain, type, protocol);
    errno = EMFILE;
    return -1;
}

void fixture_fail_sockets(uint32_t count)
{
    atomic_store(&sockets_to_fail, count);
}

/* --- locks ------------------------------------------------------------------------------------ */

__attribute__((visibility("default"))) int fcntl(int descriptor, int command, ...);

static _Atomic bool unlocks_fail_first;

/* The types of the last parameter fit into a pointer. */
int fcntl(int descriptor, int command, ...)
{
    static _Atomic uint32_t unlocks;
    va_list more;
    void *last;

    va_start(more, command);
    last = va_arg(more, void *);
    va_end(more);
    if (command == F_OFD_SETLK && ((const struct flock *)last)->l_type == F_UNLCK &&
        atomic_load(&unlocks_fail_first) && atomic_fetch_add(&unlocks, 1) % 2 == 0) {
        errno = ENOLCK;
        return -1;
    }
    return (int)syscall(SYS_fcntl, descriptor, command, last);
}

void fixture_fail_unlocks_first(bool fail)
{
    atomic_store(&unlocks_fail_first, fail);
}

uint32_t fixture_sockets_to_fail(void)
{
    return atomic_load(&sockets_to_fail);
}

/* --- life ------------------------------------------------------------------------------------- */

void fixture_init(struct fixture *f)
{
    *f = (struct fixture){ .began_ms = steady_ms() };
    lost_writes_begin();
    scratch_init(&f->scratch);
    (void)snprintf(f->path, sizeof f->path, "%s", scratch_path(&f->scratch, "jobs"));
}

static void close_kit(struct weir_kit **kit)
{
    CU_ASSERT_EQUAL(weir_kit_destroy(*kit), 0);
    *kit = NULL;
}

void fixture_close_put(struct fixture *f)
{
    close_kit(&f->put);
}

void fixture_close_take(struct fixture *f)
{
    close_kit(&f->take);
}

void fixture_finish(struct fixture *f)
{
    lost_writes_fail(0, 0);
    fixture_fail_sockets(0);
    fixture_close_put(f);
    fixture_close_take(f);
    atomic_store(&step_s, 0);
    scratch_finish(&f->scratch);
}

static const char *args(struct fixture *f, const char *more)
{
    (void)snprintf(f->args, sizeof f->args, "file: '%s'\nqueue: q\n%s", f->path, more);
    return f->args;
}

static struct weir_kit *open_kit(struct fixture *f, const char *behaviour, const char *more)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, behaviour);

    CU_ASSERT_PTR_NOT_NULL_FATAL(kit);
    CU_ASSERT_EQUAL_FATAL(weir_kit_open_args(kit, args(f, more)), 0);
    return kit;
}

void fixture_reconfigure_put(struct fixture *f, const char *more)
{
    CU_ASSERT_EQUAL(weir_kit_reconfigure_args(f->put, args(f, more)), 0);
}

void fixture_open_put(struct fixture *f, const char *more)
{
    f->put = open_kit(f, "put", more);
}

void fixture_open_take(struct fixture *f, const char *more)
{
    f->take = open_kit(f, "take", more);
}

/* --- running ---------------------------------------------------------------------------------- */

void fixture_begin_wait(struct fixture *f)
{
    f->began_ms = steady_ms();
}

void fixture_turn(struct fixture *f)
{
    if (steady_ms() - f->began_ms > wait_limit_ms())
        CU_FAIL_FATAL("what the test waits for does not come");
    if (f->put) {
        (void)weir_kit_poll(f->put);
        weir_kit_advance(f->put, 1);
    }
    if (f->take) {
        (void)weir_kit_poll(f->take);
        weir_kit_advance(f->take, 1);
        (void)weir_kit_produce(f->take, 100);
    }
    (void)poll(NULL, 0, 1); /* the thread of the hub may have this processor */
}

int fixture_put(struct fixture *f, const char *text)
{
    return weir_kit_handle(f->put, NULL, text, strlen(text));
}

void fixture_wait_stored(struct fixture *f, size_t count)
{
    f->began_ms = steady_ms();
    while (weir_kit_settled_count(f->put, WEIR_DONE) < count)
        fixture_turn(f);
    CU_ASSERT_EQUAL(weir_kit_settled_count(f->put, WEIR_DONE), count);
}

const struct weir_message *fixture_wait_taken(struct fixture *f, size_t count)
{
    f->began_ms = steady_ms();
    while (!weir_kit_emitted(f->take, 0, count - 1))
        fixture_turn(f);
    return weir_kit_emitted(f->take, 0, count - 1);
}

void fixture_expect_taken(struct fixture *f, size_t index, const char *text)
{
    const struct weir_message *message = fixture_wait_taken(f, index + 1);

    CU_ASSERT_EQUAL(message->size, strlen(text));
    CU_ASSERT_EQUAL(memcmp(message->data, text, strlen(text)), 0);
}

void fixture_tell(struct fixture *f, size_t index, const struct weir_outcome *outcome)
{
    struct weir_outcome full = *outcome;

    full.token = weir_kit_sent(f->take, index)->token;
    full.attempt = weir_kit_emitted(f->take, 0, index)->attempt;
    CU_ASSERT_EQUAL(weir_kit_tell(f->take, &full), 0);
}

void fixture_tell_done(struct fixture *f, size_t index)
{
    struct weir_outcome done = { .result = WEIR_OUTCOME_DONE };

    fixture_tell(f, index, &done);
}

/* --- looking at the file ---------------------------------------------------------------------- */

static int print_row(void *context, int count, char **values, char **names)
{
    (void)context;
    (void)names;
    for (int i = 0; i < count; i++)
        (void)printf("%s ", values[i] ? values[i] : "-");
    return 0;
}

/* As the command sqlite3 does: the last one that closes a file writes its WAL into it, and removes
 * the WAL. */
bool fixture_is_asked(int argc, char **argv)
{
    sqlite3 *file = NULL;

    if (argc != 4 || strcmp(argv[1], ASK) != 0)
        return false;
    if (sqlite3_open(argv[2], &file) != SQLITE_OK ||
        sqlite3_busy_timeout(file, 10000) != SQLITE_OK ||
        sqlite3_exec(file, argv[3], print_row, NULL, NULL) != SQLITE_OK)
        (void)printf("%s", sqlite3_errmsg(file));
    (void)sqlite3_close(file);
    return true;
}

static void read_all(int descriptor, char *text, size_t size)
{
    size_t length = 0;
    ssize_t got;

    while (length < size - 1 && (got = read(descriptor, text + length, size - 1 - length)) > 0)
        length += (size_t)got;
    while (length > 0 && text[length - 1] == ' ')
        length--;
    text[length] = '\0';
}

static const char *ask(struct fixture *f, char *path, const char *sql)
{
    char *argv[] = { (char *)"queue", (char *)ASK, path, (char *)(uintptr_t)sql, NULL };
    posix_spawn_file_actions_t actions;
    int ends[2], status = -1;
    pid_t child = -1;

    CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    CU_ASSERT_EQUAL(posix_spawn_file_actions_init(&actions), 0);
    CU_ASSERT_EQUAL(posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO), 0);
    CU_ASSERT_EQUAL(posix_spawn_file_actions_addclose(&actions, ends[0]), 0);
    CU_ASSERT_EQUAL_FATAL(posix_spawn(&child, "/proc/self/exe", &actions, NULL, argv, environ), 0);
    (void)close(ends[1]);
    read_all(ends[0], f->answer, sizeof f->answer);
    (void)close(ends[0]);
    CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
    CU_ASSERT_EQUAL(status, 0);
    (void)posix_spawn_file_actions_destroy(&actions);
    return f->answer;
}

const char *fixture_ask(struct fixture *f, const char *sql)
{
    return ask(f, f->path, sql);
}

const char *fixture_ask_disk(struct fixture *f, const char *sql)
{
    char path[600], log[600], copy[512];

    (void)snprintf(path, sizeof path, "%s-shm", scratch_path(&f->scratch, "disk"));
    (void)unlink(path);
    (void)snprintf(log, sizeof log, "%s-wal", f->path);
    (void)snprintf(path, sizeof path, "%s-wal", scratch_path(&f->scratch, "disk"));
    lost_writes_save(log, path);
    (void)snprintf(copy, sizeof copy, "%s", scratch_path(&f->scratch, "disk"));
    lost_writes_save(f->path, copy);
    return ask(f, copy, sql);
}

void fixture_wait_answer(struct fixture *f, const char *sql, const char *answer)
{
    f->began_ms = steady_ms();
    while (strcmp(fixture_ask(f, sql), answer) != 0)
        fixture_turn(f);
}
