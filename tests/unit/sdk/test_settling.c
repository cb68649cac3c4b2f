/* SPDX-License-Identifier: MIT */
/*
 * Goal: the place of weir/settling.h never passes a message that is not settled, in whatever order
 * the messages end; the file has the old place or the new one.
 *
 * Method: messages that end in orders drawn from a seed, compared with a list; a file in a scratch
 * folder, and processes that have it, too. Shows promises B19, B26
 * and B27.
 */
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <weir/plugin.h>
#include <weir/settling.h>

#include "unit/host/suite.h"
#include "unit/host/workspace.h"

#define COUNT 50u
#define CAPACITY 7u

static bool end(struct weir_settling *settling, uint64_t token, enum weir_result result,
                uint32_t is_stored)
{
    const struct weir_outcome outcome = { .token = token,
                                          .result = result,
                                          .is_stored = is_stored };

    return weir_settling_end(settling, &outcome);
}

/* The place that the ended messages allow: message i ends at 10 * (i + 1). */
static uint64_t wanted(const bool *ended)
{
    uint64_t count = 0;

    while (count < COUNT && ended[count])
        count++;
    return 10 * count;
}

/* A message that is sent and has not ended, by chance. */
static uint64_t draw(unsigned *seed, const struct weir_settling *settling, const bool *ended)
{
    uint64_t token;

    do
        token = settling->first + (unsigned)rand_r(seed) % (settling->next - settling->first);
    while (ended[token]);
    return token;
}

static void end_in_any_order(unsigned seed)
{
    bool ended[COUNT] = { false };
    struct weir_settling settling;

    CU_ASSERT_EQUAL_FATAL(weir_settling_init(&settling, CAPACITY, 0), 0);
    while (settling.next < COUNT || !weir_settling_is_idle(&settling)) {
        const uint64_t before = settling.place;

        while (settling.next < COUNT && weir_settling_has_room(&settling))
            (void)weir_settling_add(&settling, 10 * (settling.next + 1));
        CU_ASSERT_TRUE(settling.next - settling.first <= CAPACITY);
        const uint64_t token = draw(&seed, &settling, ended);

        ended[token] = true;
        CU_ASSERT_EQUAL(end(&settling, token, WEIR_OUTCOME_DONE, 0), wanted(ended) != before);
        CU_ASSERT_EQUAL(settling.place, wanted(ended));
    }
    weir_settling_finish(&settling);
}

/* promise B19 */
static void test_place_stays_before_the_first_message_that_is_open(void)
{
    for (unsigned seed = 1; seed <= 200; seed++)
        end_in_any_order(seed);
}

/* promise B19 */
static void test_retry_and_a_lost_dead_letter_leave_the_message_open(void)
{
    struct weir_settling settling;

    CU_ASSERT_EQUAL_FATAL(weir_settling_init(&settling, 2, 5), 0);
    CU_ASSERT_EQUAL(weir_settling_add(&settling, 6), 0);
    CU_ASSERT_EQUAL(weir_settling_add(&settling, 7), 1);
    CU_ASSERT_FALSE(weir_settling_has_room(&settling));
    weir_settling_undo(&settling);
    CU_ASSERT_EQUAL(weir_settling_add(&settling, 8), 1);
    CU_ASSERT_FALSE(end(&settling, 1, WEIR_OUTCOME_DEAD, 1));
    CU_ASSERT_FALSE(end(&settling, 0, WEIR_OUTCOME_RETRY, 0));
    CU_ASSERT_FALSE(end(&settling, 0, WEIR_OUTCOME_DEAD, 0));
    CU_ASSERT_EQUAL(settling.place, 5);
    CU_ASSERT_TRUE(end(&settling, 0, WEIR_OUTCOME_DONE, 0));
    CU_ASSERT_EQUAL(settling.place, 8);
    CU_ASSERT_TRUE(weir_settling_is_idle(&settling));
    weir_settling_finish(&settling);
    weir_settling_finish(&settling);
    CU_ASSERT_EQUAL(weir_settling_init(&settling, 0, 0), WEIR_EINVALID);
}

/* A file that was damaged, or is another one, never becomes a place. */
static void test_only_a_number_and_a_line_end_are_a_place(void)
{
    static const char *const texts[] = {
        "",
        "12",
        "\n",
        " 5\n",
        "\n5\n",
        "+5\n",
        "-1\n",
        "5 \n",
        "5\n6\n",
        "0x5\n",
        "1e3\n",
        "5\r\n",
        "5\n\n",
        "five\n",
        "5\n...",
        "\t5\n",
        "- 1\n",
        "05\n",
        "00000000000000000000000000000000\n",
        "18446744073709551616\n",
        "99999999999999999999\n",
        "100000000000000000000\n",
    };
    struct workspace work;
    char path[256];

    workspace_init(&work);
    (void)workspace_path(&work, "place", path);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        FILE *stream = fopen(path, "w");
        uint64_t place = 1;

        CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
        (void)fputs(texts[i], stream);
        (void)fclose(stream);
        CU_ASSERT_EQUAL(weir_settling_load(path, &place), EINVAL);
        CU_ASSERT_EQUAL(place, 0);
    }
    workspace_finish(&work);
}

static void test_place_is_loaded_as_it_was_saved(void)
{
    struct workspace work;
    char path[256];
    uint64_t place = 1;
    FILE *stream;

    workspace_init(&work);
    (void)workspace_path(&work, "place", path);
    CU_ASSERT_EQUAL(weir_settling_load(path, &place), 0);
    CU_ASSERT_EQUAL(place, 0);
    CU_ASSERT_EQUAL(weir_settling_save(path, UINT64_MAX), 0);
    CU_ASSERT_EQUAL(weir_settling_load(path, &place), 0);
    CU_ASSERT_EQUAL(place, UINT64_MAX);
    stream = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    (void)fputs("12", stream); /* half a file: a place that was cut is no place */
    (void)fclose(stream);
    CU_ASSERT_EQUAL(weir_settling_load(path, &place), EINVAL);
    CU_ASSERT_EQUAL(unlink(path), 0);
    CU_ASSERT_EQUAL(mkdir(path, 0700), 0); /* the rename fails: nothing is left behind but .new */
    CU_ASSERT_NOT_EQUAL(weir_settling_save(path, 1), 0);
    CU_ASSERT_EQUAL(rmdir(path), 0);
    CU_ASSERT_EQUAL(weir_settling_save("/no/such/folder/place", 1), ENOENT);
    workspace_finish(&work);
}

static int make_link(const char *path, const char *victim)
{
    return symlink(victim, path);
}

static int make_fifo(const char *path, const char *victim)
{
    (void)victim;
    return mkfifo(path, 0600);
}

static int make_folder(const char *path, const char *victim)
{
    (void)victim;
    return mkdir(path, 0700);
}

static void write_place(const char *path, uint64_t place)
{
    CU_ASSERT_EQUAL(weir_settling_save(path, place), 0);
}

/* What is no regular file is never opened, followed or replaced. A link that has the name of the
 * new file goes. */
static void test_only_regular_files_are_used(void)
{
    static const struct row {
        int (*make)(const char *path, const char *victim);
        int error;  /* where the place should be */
        int beside; /* where the new file should be */
    } rows[] = {
        { make_link, ELOOP, 0 },
        { make_fifo, ENOTSUP, ENOTSUP },
        { make_folder, EISDIR, EISDIR },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char victim[256], path[256], beside[256];
        struct workspace work;
        struct stat before, after;
        uint64_t place;

        workspace_init(&work);
        (void)workspace_path(&work, "victim", victim);
        (void)workspace_path(&work, "place", path);
        (void)workspace_path(&work, "place.new", beside);
        write_place(victim, 7);
        CU_ASSERT_EQUAL_FATAL(rows[i].make(path, victim), 0);
        CU_ASSERT_EQUAL(lstat(path, &before), 0);
        CU_ASSERT_EQUAL(weir_settling_check(path), rows[i].error);
        CU_ASSERT_EQUAL(weir_settling_load(path, &place), rows[i].error);
        CU_ASSERT_EQUAL(weir_settling_save(path, 8), rows[i].error);
        CU_ASSERT_EQUAL(lstat(path, &after), 0);
        CU_ASSERT_EQUAL(after.st_ino, before.st_ino);
        CU_ASSERT_EQUAL(remove(path), 0);
        CU_ASSERT_EQUAL_FATAL(rows[i].make(beside, victim), 0);
        CU_ASSERT_EQUAL(weir_settling_save(path, 8), rows[i].beside);
        CU_ASSERT_EQUAL(weir_settling_load(victim, &place), 0);
        CU_ASSERT_EQUAL(place, 7);
        workspace_finish(&work);
    }
}

/* Root may give files away; every other user only has files of its own here. */
static void test_file_of_another_user_is_refused(void)
{
    const int refused = geteuid() == 0 ? EPERM : 0;
    const uid_t other = geteuid() == 0 ? 12345 : geteuid();
    struct workspace work;
    char path[256];
    uint64_t place;

    workspace_init(&work);
    (void)workspace_path(&work, "place", path);
    CU_ASSERT_EQUAL(weir_settling_save(path, 7), 0);
    CU_ASSERT_EQUAL_FATAL(chown(path, other, (gid_t)-1), 0);
    CU_ASSERT_EQUAL(weir_settling_check(path), refused);
    CU_ASSERT_EQUAL(weir_settling_load(path, &place), refused);
    CU_ASSERT_EQUAL(weir_settling_save(path, 8), refused);
    CU_ASSERT_EQUAL_FATAL(chown(path, geteuid(), (gid_t)-1), 0);
    CU_ASSERT_EQUAL(weir_settling_save(path, 8), 0);
    CU_ASSERT_EQUAL(weir_settling_load(path, &place), 0);
    CU_ASSERT_EQUAL(place, 8);
    workspace_finish(&work);
}

/* Locks the position in another process, which then waits to be killed; an errno when it cannot. */
static int lock_elsewhere(const char *path, pid_t *out_child)
{
    int ready[2], lock, error = -1;

    CU_ASSERT_EQUAL_FATAL(pipe(ready), 0);
    *out_child = fork();
    CU_ASSERT_TRUE_FATAL(*out_child >= 0);
    if (*out_child == 0) {
        error = weir_settling_lock(path, &lock);
        if (write(ready[1], &error, sizeof error) < 0)
            _exit(1);
        for (;;)
            (void)pause();
    }
    CU_ASSERT_EQUAL(read(ready[0], &error, sizeof error), (ssize_t)sizeof error);
    (void)close(ready[0]);
    (void)close(ready[1]);
    return error;
}

static void end_child(pid_t child)
{
    CU_ASSERT_EQUAL(kill(child, SIGKILL), 0);
    CU_ASSERT_EQUAL(waitpid(child, NULL, 0), child);
}

/* promise B26 */
static void test_position_has_one_source_of_all_hosts(void)
{
    char path[256], respelt[256];
    struct workspace work;
    int lock, second;
    pid_t child;

    workspace_init(&work);
    (void)workspace_path(&work, "place", path);
    (void)workspace_path(&work, "./place", respelt);
    CU_ASSERT_EQUAL(lock_elsewhere(path, &child), 0);
    CU_ASSERT_EQUAL(weir_settling_lock(respelt, &lock), EBUSY);
    CU_ASSERT_EQUAL(lock, -1);
    end_child(child); /* the lock ends with its process */
    CU_ASSERT_EQUAL(weir_settling_lock(path, &lock), 0);
    CU_ASSERT_EQUAL(weir_settling_lock(respelt, &second), EBUSY);
    write_place(path, 1); /* another inode */
    CU_ASSERT_EQUAL(lock_elsewhere(path, &child), EBUSY);
    end_child(child);
    child = fork(); /* one that has not called exec yet */
    CU_ASSERT_TRUE_FATAL(child >= 0);
    while (child == 0)
        (void)pause();
    weir_settling_unlock(lock);
    CU_ASSERT_EQUAL(weir_settling_lock(respelt, &second), 0);
    end_child(child);
    weir_settling_unlock(second);
    weir_settling_unlock(-1);
    workspace_finish(&work);
}

static void test_lock_is_a_regular_file_of_this_user(void)
{
    char path[256], beside[256], victim[256];
    struct workspace work;
    int lock;

    workspace_init(&work);
    (void)workspace_path(&work, "place", path);
    (void)workspace_path(&work, "place.lock", beside);
    (void)workspace_path(&work, "victim", victim);
    CU_ASSERT_EQUAL_FATAL(make_link(beside, victim), 0);
    CU_ASSERT_EQUAL(weir_settling_lock(path, &lock), ELOOP);
    CU_ASSERT_NOT_EQUAL(access(victim, F_OK), 0);
    CU_ASSERT_EQUAL(remove(beside), 0);
    CU_ASSERT_EQUAL_FATAL(make_fifo(beside, victim), 0);
    CU_ASSERT_EQUAL(weir_settling_lock(path, &lock), ENOTSUP);
    CU_ASSERT_EQUAL(remove(beside), 0);
    CU_ASSERT_EQUAL_FATAL(make_folder(beside, victim), 0);
    CU_ASSERT_EQUAL(weir_settling_lock(path, &lock), EISDIR);
    CU_ASSERT_EQUAL(remove(beside), 0);
    CU_ASSERT_EQUAL(weir_settling_lock(path, &lock), 0);
    weir_settling_unlock(lock);
    if (geteuid() == 0) {
        CU_ASSERT_EQUAL_FATAL(chown(beside, 12345, (gid_t)-1), 0);
        CU_ASSERT_EQUAL(weir_settling_lock(path, &lock), EPERM);
        CU_ASSERT_EQUAL(lock, -1);
    }
    workspace_finish(&work);
}

/* As on a full disk. */
static void test_save_that_fails_changes_nothing(void)
{
    const struct rlimit none = { .rlim_cur = 0, .rlim_max = RLIM_INFINITY };
    char path[256], beside[256];
    struct workspace work;
    struct rlimit before;
    uint64_t place = 0;

    workspace_init(&work);
    (void)workspace_path(&work, "place", path);
    (void)workspace_path(&work, "place.new", beside);
    write_place(path, 7);
    CU_ASSERT_PTR_NOT_EQUAL_FATAL(signal(SIGXFSZ, SIG_IGN), SIG_ERR);
    CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_FSIZE, &before), 0);
    CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_FSIZE, &none), 0);
    CU_ASSERT_EQUAL(weir_settling_save(path, 8), EFBIG);
    CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_FSIZE, &before), 0);
    CU_ASSERT_EQUAL(weir_settling_load(path, &place), 0);
    CU_ASSERT_EQUAL(place, 7);
    CU_ASSERT_NOT_EQUAL(access(beside, F_OK), 0);
    workspace_finish(&work);
}

/* --- a place in a file ------------------------------------------------------------------------ */

#define BIG (3 * (size_t)WEIR_FINGERPRINT_MAX)

/* A log of `size` bytes, read to its end, and its position. */
struct logged {
    struct workspace work;
    char path[256], other[256], place[256];
    int descriptor;
    uint64_t size;
    struct weir_file_identity identity;
};

/* Writes a banner, and numbers from `first` on up to `size` bytes; returns the descriptor. */
static int write_log(const char *path, uint64_t first, size_t size)
{
    int descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    CU_ASSERT_TRUE_FATAL(descriptor >= 0);
    CU_ASSERT_TRUE_FATAL(dprintf(descriptor, "the same banner in each log, for some bytes\n") > 0);
    while ((size_t)lseek(descriptor, 0, SEEK_CUR) < size)
        CU_ASSERT_TRUE_FATAL(dprintf(descriptor, "%020llu\n", (unsigned long long)first++) > 0);
    CU_ASSERT_EQUAL(ftruncate(descriptor, (off_t)size), 0);
    return descriptor;
}

static void begin_log(struct logged *log, size_t size)
{
    uint64_t place = 1;

    workspace_init(&log->work);
    (void)workspace_path(&log->work, "log", log->path);
    (void)workspace_path(&log->work, "other", log->other);
    (void)workspace_path(&log->work, "place", log->place);
    log->descriptor = write_log(log->path, 0, size);
    log->size = size;
    CU_ASSERT_EQUAL(weir_settling_load_file(log->place, log->descriptor, &place, &log->identity),
                    0);
    CU_ASSERT_EQUAL(place, 0);
    CU_ASSERT_EQUAL(weir_settling_save_file(log->place, log->descriptor, size, &log->identity), 0);
}

static void end_log(struct logged *log)
{
    (void)close(log->descriptor);
    workspace_finish(&log->work);
}

/* It grows, and gets another name. */
static void grow(struct logged *log)
{
    CU_ASSERT_EQUAL(lseek(log->descriptor, 0, SEEK_END), (off_t)log->size);
    CU_ASSERT_TRUE(dprintf(log->descriptor, "more\n") > 0);
    CU_ASSERT_EQUAL(rename(log->path, log->other), 0);
}

static void shrink(struct logged *log)
{
    CU_ASSERT_EQUAL(ftruncate(log->descriptor, (off_t)log->size - 1), 0);
}

/* Its inode stays, and its size; only the last bytes are others. */
static void write_again(struct logged *log)
{
    CU_ASSERT_EQUAL(close(write_log(log->path, 7, log->size)), 0);
}

static void replace(struct logged *log)
{
    (void)close(log->descriptor);
    log->descriptor = write_log(log->other, 0, log->size); /* a copy: the same bytes */
}

static void keep(struct logged *log)
{
    (void)log;
}

/* promise B27 */
static void test_place_is_that_of_one_file(void)
{
    static const struct row {
        void (*change)(struct logged *log);
        int error;
    } rows[] = {
        { keep, 0 }, { grow, 0 }, { shrink, ESTALE }, { replace, ESTALE }, { write_again, ESTALE },
    };
    static const size_t sizes[] = { 100, 256, 300, WEIR_FINGERPRINT_MAX, BIG };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
            struct weir_file_identity identity;
            struct logged log;
            uint64_t place = 1;

            begin_log(&log, sizes[k]);
            rows[i].change(&log);
            CU_ASSERT_EQUAL(weir_settling_load_file(log.place, log.descriptor, &place, &identity),
                            rows[i].error);
            CU_ASSERT_EQUAL(place, rows[i].error == 0 ? log.size : 0);
            end_log(&log);
        }
    }
}

/* promise B27: bytes of another content are never the mark of the old place. */
static void test_place_in_a_file_that_was_written_again_is_not_saved(void)
{
    struct weir_file_identity identity;
    struct logged log;
    uint64_t place = 0;

    begin_log(&log, 300);
    CU_ASSERT_EQUAL(close(write_log(log.path, 7, 600)), 0);
    CU_ASSERT_EQUAL(weir_settling_save_file(log.place, log.descriptor, 400, &log.identity), ESTALE);
    CU_ASSERT_EQUAL(close(write_log(log.path, 0, 300)), 0); /* the position is as before */
    CU_ASSERT_EQUAL(weir_settling_load_file(log.place, log.descriptor, &place, &identity), 0);
    CU_ASSERT_EQUAL(place, 300);
    CU_ASSERT_EQUAL(weir_settling_save_file(log.place, log.descriptor, 301, &identity), ESTALE);
    CU_ASSERT_EQUAL(weir_settling_save(log.place, 5), 0); /* another kind of position */
    CU_ASSERT_EQUAL(weir_settling_load_file(log.place, log.descriptor, &place, &identity), EINVAL);
    CU_ASSERT_EQUAL(place, 0);
    end_log(&log);
}

/* As a place alone: nothing but what was saved is read. */
static void test_other_texts_are_no_place_in_a_file(void)
{
    static const char *const forms[] = { " %s", "+%s", "%s5\n", "%s\n", "0x%s", "\n%s", "1 %s" };
    char saved[256], text[300];
    struct weir_file_identity identity;
    struct logged log;
    uint64_t place;
    FILE *stream;

    begin_log(&log, 300);
    stream = fopen(log.place, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    CU_ASSERT_PTR_NOT_NULL_FATAL(fgets(saved, sizeof saved, stream));
    CU_ASSERT_EQUAL(fclose(stream), 0);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        size_t mark = strcspn(forms[i], "%");

        (void)snprintf(text, sizeof text, "%.*s%s%s", (int)mark, forms[i], saved,
                       forms[i] + mark + 2);
        stream = fopen(log.place, "w");
        CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
        CU_ASSERT_TRUE(fputs(text, stream) >= 0);
        CU_ASSERT_EQUAL(fclose(stream), 0);
        CU_ASSERT_EQUAL(weir_settling_load_file(log.place, log.descriptor, &place, &identity),
                        EINVAL);
        CU_ASSERT_EQUAL(place, 0);
    }
    end_log(&log);
}

/* A file that cannot be read has not changed. */
static void test_file_that_cannot_be_read_has_not_changed(void)
{
    struct logged log;
    int writable;

    begin_log(&log, 300);
    writable = open(log.path, O_WRONLY | O_CLOEXEC);
    CU_ASSERT_TRUE(writable >= 0);
    CU_ASSERT_EQUAL(weir_file_identity_compare(writable, &log.identity), -1);
    CU_ASSERT_EQUAL(errno, EBADF);
    (void)close(writable);
    end_log(&log);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "any order", test_place_stays_before_the_first_message_that_is_open },
        { "open", test_retry_and_a_lost_dead_letter_leave_the_message_open },
        { "the file", test_place_is_loaded_as_it_was_saved },
        { "other bytes", test_only_a_number_and_a_line_end_are_a_place },
        { "regular files", test_only_regular_files_are_used },
        { "file of another user", test_file_of_another_user_is_refused },
        { "one source of all hosts", test_position_has_one_source_of_all_hosts },
        { "the lock", test_lock_is_a_regular_file_of_this_user },
        { "a save that fails", test_save_that_fails_changes_nothing },
        { "a place in a file", test_place_is_that_of_one_file },
        { "a file written again", test_place_in_a_file_that_was_written_again_is_not_saved },
        { "other texts", test_other_texts_are_no_place_in_a_file },
        { "a file that cannot be read", test_file_that_cannot_be_read_has_not_changed },
        CU_TEST_INFO_NULL,
    };

    return suite_run("sdk settling", tests);
}
