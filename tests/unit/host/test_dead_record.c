/* SPDX-License-Identifier: MIT */
/*
 * Goal: a record of the file of dead letters is read as it was written; an incomplete record at the
 * end is cut off, and a damaged one in the middle is passed over. No payload and no text is taken
 * for a record, and none makes the reader slow. Files of version 1 are read.
 *
 * Method: records of any texts and payloads, which contain whole records themselves, in a scratch
 * file, which is cut at each byte, or changed at each byte. Shows promise L9.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/dead/dead_output.h"
#include "host/dead/dead_record.h"
#include "unit/host/suite.h"
#include "unit/host/workspace.h"

#define TIME_US UINT64_C(1795502400123456) /* 2026-11-24T06:40:00.123456Z */

static const struct dead_record plain = {
    .path = "images/fast",
    .to = "images",
    .from = "lines",
    .reason = "rejected",
    .detail = "50% of\nit: \x7f",
    .tag = "files.line/1",
    .from_pid = UINT64_MAX,
    .key = 17,
    .attempt = 3,
    .lane = WEIR_NORMAL,
    .payload = "letter - \n\0x",
    .size = 12,
};

static const struct dead_id id = { 0xfeedu, 42 };

static struct dead_text make(const struct dead_record *records, size_t count)
{
    struct dead_text text = { .bytes = NULL };

    for (size_t i = 0; i < count; i++)
        CU_ASSERT_EQUAL(dead_record_write(&text, &records[i], &id, TIME_US), 0);
    return text;
}

/* Opens a file of these bytes. */
static int open_bytes(struct dead_reader *reader, const char *bytes, size_t size)
{
    const int descriptor = memfd_create("dead", MFD_CLOEXEC);
    char path[64];
    int error;

    CU_ASSERT_FATAL(descriptor >= 0);
    CU_ASSERT_EQUAL(write(descriptor, bytes, size), (ssize_t)size);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    error = dead_reader_open(reader, path);
    (void)close(descriptor);
    return error;
}

/* A file of records, with its first line. */
static struct dead_text file_of(const struct dead_record *records, size_t count)
{
    struct dead_text text = make(records, count);
    const size_t first = strlen(DEAD_FILE_FIRST_LINE);
    char *whole = malloc(first + text.size);

    CU_ASSERT_PTR_NOT_NULL_FATAL(whole);
    memcpy(whole, DEAD_FILE_FIRST_LINE, first);
    memcpy(whole + first, text.bytes, text.size);
    free(text.bytes);
    return (struct dead_text){ whole, first + text.size, 0 };
}

/* The same file as version 1: its payloads need no quotes. */
static void make_older(struct dead_text *file)
{
    file->bytes[strlen(DEAD_FILE_FIRST_LINE) - 2] = '1';
}

static uint64_t count_in(const char *bytes, size_t size, struct dead_reader *out)
{
    struct dead_entry entry;
    uint64_t count = 0;

    CU_ASSERT_EQUAL(open_bytes(out, bytes, size), 0);
    while (dead_reader_next(out, &entry) > 0)
        count++;
    return count;
}

static void check_plain(const struct dead_entry *entry)
{
    const struct dead_record *record = &entry->record;

    CU_ASSERT_STRING_EQUAL(record->path, plain.path);
    CU_ASSERT_STRING_EQUAL(record->to, plain.to);
    CU_ASSERT_STRING_EQUAL(record->from, plain.from);
    CU_ASSERT_STRING_EQUAL(record->reason, plain.reason);
    CU_ASSERT_STRING_EQUAL(record->detail, plain.detail);
    CU_ASSERT_STRING_EQUAL(record->tag, plain.tag);
    CU_ASSERT_EQUAL(record->from_pid, plain.from_pid);
    CU_ASSERT_EQUAL(record->key, plain.key);
    CU_ASSERT_EQUAL(record->attempt, plain.attempt);
    CU_ASSERT_EQUAL(record->lane, plain.lane);
    CU_ASSERT_EQUAL(record->kind, plain.kind);
    CU_ASSERT_EQUAL_FATAL(record->size, plain.size);
    CU_ASSERT_EQUAL(memcmp(record->payload, plain.payload, plain.size), 0);
    CU_ASSERT_EQUAL(entry->id.run, id.run);
    CU_ASSERT_EQUAL(entry->id.number, id.number);
    CU_ASSERT_TRUE(entry->has_payload);
    CU_ASSERT_FALSE(entry->was_replayed);
}

static void test_record_is_read_as_it_was_written(void)
{
    const struct dead_record empty = {
        .path = "", .to = "", .from = "", .reason = "", .detail = "", .tag = ""
    };
    struct dead_record records[] = { plain, empty, plain };
    struct dead_text text;
    struct dead_reader reader;
    struct dead_entry entry;

    records[2].payload = NULL;
    text = file_of(records, 3);
    CU_ASSERT_EQUAL(open_bytes(&reader, text.bytes, text.size), 0);
    CU_ASSERT_EQUAL(dead_reader_next(&reader, &entry), 1);
    check_plain(&entry);
    CU_ASSERT_EQUAL(strlen(entry.time), strlen("2026-11-24T06:40:00.123456Z"));
    CU_ASSERT_EQUAL(dead_reader_next(&reader, &entry), 1);
    CU_ASSERT_EQUAL(entry.number, 2);
    CU_ASSERT_STRING_EQUAL(entry.record.path, "");
    CU_ASSERT_EQUAL(entry.record.size, 0);
    CU_ASSERT_EQUAL(dead_reader_next(&reader, &entry), 1);
    CU_ASSERT_FALSE(entry.has_payload);
    CU_ASSERT_EQUAL(dead_reader_next(&reader, &entry), 0);
    CU_ASSERT_EQUAL(reader.end, text.size);
    dead_reader_finish(&reader);
    free(text.bytes);
}

/* promise L9 */
static void test_file_that_is_cut_anywhere_has_the_records_before(void)
{
    const struct dead_record records[] = { plain, plain };
    struct dead_text text = file_of(records, 2);
    const size_t first = strlen(DEAD_FILE_FIRST_LINE), one = (text.size - first) / 2;

    for (size_t size = 0; size <= text.size; size++) {
        const uint64_t whole = size < first ? 0 : (size - first) / one;
        struct dead_reader reader;

        CU_ASSERT_EQUAL(count_in(text.bytes, size, &reader), whole);
        CU_ASSERT_EQUAL(reader.end, size < first ? 0 : first + whole * one);
        CU_ASSERT_EQUAL(reader.skipped, 0);
        dead_reader_finish(&reader);
    }
    free(text.bytes);
}

/* promise L9 */
static void test_damaged_record_is_passed_over(void)
{
    const struct dead_record records[] = { plain, plain, plain };
    struct dead_text text = file_of(records, 3);
    const size_t first = strlen(DEAD_FILE_FIRST_LINE), one = (text.size - first) / 3;

    for (size_t at = first + one; at < first + 2 * one; at++) {
        struct dead_reader reader;

        text.bytes[at] = (char)(text.bytes[at] ^ 0x55);
        /* The state is outside the checksum, since it changes. */
        CU_ASSERT_EQUAL(count_in(text.bytes, text.size, &reader),
                        at == first + one + DEAD_RECORD_STATE ? 3 : 2);
        CU_ASSERT_EQUAL(reader.end, text.size);
        dead_reader_finish(&reader);
        text.bytes[at] = (char)(text.bytes[at] ^ 0x55);
    }
    free(text.bytes);
}

/* --- payloads that look like records ---------------------------------------------------------- */

/* A record whose payload is `payload`, which is freed. */
static struct dead_text wrap(struct dead_text payload)
{
    struct dead_record record = plain;
    struct dead_text text;

    record.payload = payload.bytes;
    record.size = payload.size;
    text = file_of(&record, 1);
    free(payload.bytes);
    return text;
}

/* What a stranger sends who hopes for damage: whole records, and a file of them. */
static struct dead_text forged(void)
{
    struct dead_record record = plain;

    record.path = "forged";
    return wrap(wrap(make(&record, 1)));
}

/* promise L9 */
static void test_payload_is_no_record_wherever_the_file_is_cut_or_damaged(void)
{
    struct dead_text text = forged();
    struct dead_reader reader;

    for (size_t size = strlen(DEAD_FILE_FIRST_LINE); size < text.size; size++) {
        CU_ASSERT_EQUAL(count_in(text.bytes, size, &reader), 0);
        dead_reader_finish(&reader);
    }
    for (size_t at = strlen(DEAD_FILE_FIRST_LINE); at < text.size; at++) {
        text.bytes[at] = (char)(text.bytes[at] ^ 0x55);
        CU_ASSERT_TRUE(count_in(text.bytes, text.size, &reader) <=
                       (at == strlen(DEAD_FILE_FIRST_LINE) + DEAD_RECORD_STATE));
        dead_reader_finish(&reader);
        text.bytes[at] = (char)(text.bytes[at] ^ 0x55);
    }
    free(text.bytes);
}

/* promise L9 */
static void test_any_text_and_payload_is_read_as_it_was_written(void)
{
    static const char *const texts[] = {
        "letter ",
        "let>ter ",
        "letletter letter ",
        "let>>>",
        "le",
        "letter - \nletter - ",
        "ter let",
        "let>>>>ter >ter lletter letterletter ",
        "\nletter",
        "",
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct dead_record record = plain;
        struct dead_text file;
        struct dead_reader reader;
        struct dead_entry entry;

        record.detail = record.tag = record.path = texts[i];
        record.payload = texts[i];
        record.size = strlen(texts[i]);
        file = file_of(&record, 1);
        CU_ASSERT_PTR_NULL(memmem(file.bytes + strlen(DEAD_FILE_FIRST_LINE) + 1,
                                  file.size - strlen(DEAD_FILE_FIRST_LINE) - 1, "letter ", 7));
        CU_ASSERT_EQUAL(open_bytes(&reader, file.bytes, file.size), 0);
        CU_ASSERT_EQUAL_FATAL(dead_reader_next(&reader, &entry), 1);
        CU_ASSERT_STRING_EQUAL(entry.record.path, texts[i]);
        CU_ASSERT_STRING_EQUAL(entry.record.detail, texts[i]);
        CU_ASSERT_EQUAL_FATAL(entry.record.size, record.size);
        CU_ASSERT_EQUAL(memcmp(entry.record.payload, texts[i], record.size), 0);
        dead_reader_finish(&reader);
        free(file.bytes);
    }
}

/* Frames, each of which says that its record reaches to the end of the file. */
static struct dead_text frames_to_the_end(size_t count)
{
    const size_t first = strlen(DEAD_FILE_FIRST_LINE), size = first + 52 * count;
    char *bytes = malloc(size + 1);

    CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
    memcpy(bytes, DEAD_FILE_FIRST_LINE, first);
    for (size_t i = 0; i < count; i++)
        (void)snprintf(bytes + first + 52 * i, 53, "letter - %016x %08x %016zx\n", 0, 0,
                       i + 1 < count ? 52 * (count - i - 1) - 1 : 0);
    return (struct dead_text){ bytes, size, 0 };
}

/* promise L9: a quadratic reader takes some minutes for each of these files, and the test ends. */
static void test_frames_do_not_make_the_reader_slow(void)
{
    struct dead_text text = frames_to_the_end(200000);
    struct dead_reader reader;

    CU_ASSERT_EQUAL(count_in(text.bytes, text.size, &reader), 0);
    dead_reader_finish(&reader);
    make_older(&text);
    CU_ASSERT_EQUAL(count_in(text.bytes, text.size, &reader), 0);
    dead_reader_finish(&reader);
    text.bytes[strlen(DEAD_FILE_FIRST_LINE) - 2] = DEAD_FILE_FIRST_LINE[18];
    text = wrap(text);
    CU_ASSERT_EQUAL(count_in(text.bytes, text.size, &reader), 1);
    dead_reader_finish(&reader);
    CU_ASSERT_EQUAL(count_in(text.bytes, text.size - 1, &reader), 0);
    dead_reader_finish(&reader);
    free(text.bytes);
}

/* --- other files ------------------------------------------------------------------------------ */

/* promise L9: in version 1 the sizes of a frame lead to the next one. */
static void test_version_1_is_read_up_to_a_damaged_frame(void)
{
    const struct dead_record records[] = { plain, plain, plain };
    struct dead_text text = file_of(records, 3);
    const size_t first = strlen(DEAD_FILE_FIRST_LINE), one = (text.size - first) / 3;
    struct dead_reader reader;

    make_older(&text);
    CU_ASSERT_EQUAL(count_in(text.bytes, text.size, &reader), 3);
    CU_ASSERT_EQUAL(reader.end, text.size);
    dead_reader_finish(&reader);
    text.bytes[first + 2 * one - 5] ^= 1; /* in the second payload */
    CU_ASSERT_EQUAL(count_in(text.bytes, text.size, &reader), 2);
    dead_reader_finish(&reader);
    text.bytes[first + one + 1] ^= 1; /* in the second frame */
    CU_ASSERT_EQUAL(count_in(text.bytes, text.size, &reader), 1);
    CU_ASSERT_EQUAL(reader.end, first + one);
    dead_reader_finish(&reader);
    free(text.bytes);
}

static void test_fifo_is_refused_at_once(void)
{
    struct dead_reader reader;
    struct workspace work;
    char path[512];

    workspace_init(&work);
    (void)workspace_path(&work, "fifo", path);
    CU_ASSERT_EQUAL(mkfifo(path, 0600), 0);
    CU_ASSERT_EQUAL(dead_reader_open(&reader, path), EILSEQ);
    dead_reader_finish(&reader);
    workspace_finish(&work);
}

static void test_other_file_is_refused(void)
{
    static const char *const others[] = { "version: 1\n", "weir dead letters 3\n", "x" };
    struct dead_reader reader;

    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        CU_ASSERT_EQUAL(open_bytes(&reader, others[i], strlen(others[i])), EILSEQ);
        dead_reader_finish(&reader);
    }
}

/* --- a file on the disk --------------------------------------------------------------------- */

static struct dead_output *open_output(const char *path)
{
    struct dead_output *output = NULL;

    CU_ASSERT_EQUAL_FATAL(dead_output_open(path, &output), 0);
    return output;
}

/* Root may give files away; every other user only has files of its own here. */
static void test_file_of_another_user_is_refused(void)
{
    const uid_t other = geteuid() == 0 ? 12345 : geteuid();
    struct dead_output *output = NULL;
    struct workspace work;
    char path[512];

    workspace_init(&work);
    (void)workspace_path(&work, "dead", path);
    dead_output_close(open_output(path));
    CU_ASSERT_EQUAL_FATAL(chown(path, other, (gid_t)-1), 0);
    CU_ASSERT_EQUAL(dead_output_open(path, &output), geteuid() == 0 ? EPERM : 0);
    dead_output_close(output);
    CU_ASSERT_EQUAL_FATAL(chown(path, geteuid(), (gid_t)-1), 0);
    dead_output_close(open_output(path));
    workspace_finish(&work);
}

/* promise L9 */
static void test_incomplete_end_is_cut_off_and_the_next_record_follows(void)
{
    struct dead_text text = make(&plain, 1);
    struct workspace work;
    struct dead_output *output, *second = NULL;
    char path[512];

    workspace_init(&work);
    (void)workspace_path(&work, "dead", path);
    output = open_output(path);
    CU_ASSERT_EQUAL(dead_output_open(path, &second), EBUSY);
    CU_ASSERT_EQUAL(dead_output_append(output, text.bytes, text.size, 1), 0);
    CU_ASSERT_EQUAL(pwrite(output->descriptor, text.bytes, text.size - 3, (off_t)output->size),
                    (ssize_t)text.size - 3);
    dead_output_close(output);
    output = open_output(path);
    CU_ASSERT_EQUAL(output->records, 1);
    CU_ASSERT_EQUAL(output->cut, text.size - 3);
    CU_ASSERT_EQUAL(dead_output_append(output, text.bytes, text.size, 1), 0);
    CU_ASSERT_TRUE(dead_output_has_its_path(output));
    dead_output_close(output);
    output = open_output(path);
    CU_ASSERT_EQUAL(output->records, 2);
    CU_ASSERT_EQUAL(output->cut, 0);
    CU_ASSERT_EQUAL(unlink(path), 0);
    CU_ASSERT_FALSE(dead_output_has_its_path(output));
    dead_output_close(output);
    workspace_finish(&work);
    free(text.bytes);
}

static void write_file(const char *path, const char *bytes, size_t size)
{
    FILE *stream = fopen(path, "we");

    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    CU_ASSERT_EQUAL(fwrite(bytes, 1, size, stream), size);
    CU_ASSERT_EQUAL(fclose(stream), 0);
}

/* promise L9 */
static void test_file_of_version_1_is_kept_beside_the_new_one(void)
{
    struct dead_text text = file_of(&plain, 1);
    struct workspace work;
    struct dead_output *output = NULL;
    struct dead_reader reader;
    struct dead_entry entry;
    char path[512], older[512];

    workspace_init(&work);
    (void)workspace_path(&work, "dead" DEAD_FILE_OLDER, older);
    make_older(&text);
    write_file(workspace_path(&work, "dead", path), text.bytes, text.size - 1);
    output = open_output(path);
    CU_ASSERT_TRUE(output->is_older);
    CU_ASSERT_EQUAL(output->records, 0);
    CU_ASSERT_TRUE(dead_output_has_its_path(output));
    dead_output_close(output);
    output = open_output(path);
    CU_ASSERT_FALSE(output->is_older);
    dead_output_close(output);
    write_file(path, text.bytes, strlen(DEAD_FILE_FIRST_LINE)); /* no record: it begins again */
    output = open_output(path);
    CU_ASSERT_FALSE(output->is_older);
    dead_output_close(output);
    write_file(path, text.bytes, text.size);
    CU_ASSERT_EQUAL(dead_output_open(path, &output), EEXIST);
    CU_ASSERT_EQUAL(unlink(older), 0);
    dead_output_close(open_output(path));
    CU_ASSERT_EQUAL(dead_reader_open(&reader, older), 0);
    CU_ASSERT_EQUAL_FATAL(dead_reader_next(&reader, &entry), 1);
    CU_ASSERT_STRING_EQUAL(entry.record.path, plain.path);
    dead_reader_finish(&reader);
    workspace_finish(&work);
    free(text.bytes);
}

/* --- takes ------------------------------------------------------------------------------------ */

static struct dead_entry read_one(const struct dead_record *record, bool is_older)
{
    struct dead_text file = file_of(record, 1);
    struct dead_reader reader;
    struct dead_entry entry;

    if (is_older)
        make_older(&file);
    CU_ASSERT_EQUAL(open_bytes(&reader, file.bytes, file.size), 0);
    CU_ASSERT_EQUAL(dead_reader_next(&reader, &entry), 1);
    dead_reader_finish(&reader);
    free(file.bytes);
    return entry;
}

/* promise L4 */
static void test_take_of_version_1_is_known(void)
{
    static const char holder[] = "\1\0\0\0\3\0\0\0\2\0\0\0\0\0\0\0app";
    struct dead_record take = plain;

    take.tag = "";
    take.kind = WEIR_REQUEST;
    take.payload = holder;
    take.size = sizeof holder;
    CU_ASSERT_TRUE(read_one(&take, true).is_take);
    CU_ASSERT_FALSE(read_one(&take, false).is_take);
    take.size = 0;
    CU_ASSERT_TRUE(read_one(&take, true).is_take);
    CU_ASSERT_FALSE(read_one(&take, false).is_take);
    take.tag = "a tag";
    CU_ASSERT_FALSE(read_one(&take, false).is_take);
    take.tag = "";
    take.size = sizeof holder - 1;
    CU_ASSERT_FALSE(read_one(&take, false).is_take);
    take.size = sizeof holder;
    take.kind = WEIR_MESSAGE;
    CU_ASSERT_FALSE(read_one(&take, false).is_take);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "written and read", test_record_is_read_as_it_was_written },
        { "cut", test_file_that_is_cut_anywhere_has_the_records_before },
        { "damaged", test_damaged_record_is_passed_over },
        { "payloads like records", test_payload_is_no_record_wherever_the_file_is_cut_or_damaged },
        { "quotes", test_any_text_and_payload_is_read_as_it_was_written },
        { "frames", test_frames_do_not_make_the_reader_slow },
        { "version 1", test_version_1_is_read_up_to_a_damaged_frame },
        { "a FIFO", test_fifo_is_refused_at_once },
        { "another file", test_other_file_is_refused },
        { "of another user", test_file_of_another_user_is_refused },
        { "on the disk", test_incomplete_end_is_cut_off_and_the_next_record_follows },
        { "version 1 on the disk", test_file_of_version_1_is_kept_beside_the_new_one },
        { "takes", test_take_of_version_1_is_known },
        CU_TEST_INFO_NULL,
    };

    return suite_run("host dead record", tests);
}
