/* SPDX-License-Identifier: MIT */
/*
 * Goal:   no bytes harm the reader of a file of dead letters; what a host has written is read again
 *         as it was, whatever is in the payload; damage to one record hides that record alone.
 * Method: an input that begins as such a file does is read as one, also with its checksums put
 *         right. Any other input is the texts and the payload of a record, which is written between
 *         two others; then the file is cut, or one of its bytes changed, as the input says.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "host/dead/dead_payload.h"
#include "host/dead/dead_record.h"
#include "trial.h"

#define FRAME_SIZE 52u
#define COUNTED_AT 26u
#define TEXTS 6u
#define TIME_US 1800000000000000u

static const char first_line[] = DEAD_FILE_FIRST_LINE;
static const struct dead_id id = { 7, 9 };

#define FIRST_SIZE (sizeof first_line - 1)
#define BEGINNING (sizeof "weir dead letters" - 1)

/* --- what is equal ---------------------------------------------------------------------------- */

static void compare_texts(const struct dead_record *read, const struct dead_record *written)
{
    trial_must(
        strcmp(read->path, written->path) == 0 && strcmp(read->to, written->to) == 0 &&
            strcmp(read->from, written->from) == 0 && strcmp(read->reason, written->reason) == 0 &&
            strcmp(read->detail, written->detail) == 0 && strcmp(read->tag, written->tag) == 0,
        "a text has changed");
}

static void compare(const struct dead_entry *entry, const struct dead_record *written)
{
    const struct dead_record *read = &entry->record;

    compare_texts(read, written);
    trial_must(read->from_pid == written->from_pid && read->key == written->key &&
                   read->attempt == written->attempt && read->lane == written->lane &&
                   read->kind == written->kind,
               "a number has changed");
    if (!written->payload && written->size > 0)
        trial_must(!entry->has_payload && read->size == 0, "a payload came from nowhere");
    else
        trial_must(
            entry->has_payload && read->size == written->size &&
                (read->size == 0 || memcmp(read->payload, written->payload, read->size) == 0),
            "the payload has changed");
}

/* --- any bytes as a file ---------------------------------------------------------------------- */

/* A record that was read can be written, and is read again as the same. */
static void write_again(const struct dead_entry *entry)
{
    struct dead_record record = entry->record;
    struct dead_text text = { .bytes = NULL };
    struct dead_reader reader;
    struct dead_entry again;

    if (!entry->has_payload)
        record.payload = NULL;
    if (!entry->has_payload && record.size == 0)
        record.size = 1;
    trial_must(dead_text_append(&text, first_line, FIRST_SIZE) == 0 &&
                   dead_record_write(&text, &record, &entry->id, TIME_US) == 0,
               "a record cannot be written again");
    trial_write(text.bytes, text.size);
    trial_must(dead_reader_open(&reader, trial_path()) == 0 &&
                   dead_reader_next(&reader, &again) == 1 && reader.end == text.size,
               "a record that was written again is not read");
    compare(&again, &record);
    trial_must(memcmp(&again.id, &entry->id, sizeof again.id) == 0, "the id has changed");
    dead_reader_finish(&reader);
    free(text.bytes);
}

/* Texts of a header may need three times their size when they are written. */
static bool can_be_written(const struct dead_entry *entry)
{
    const struct dead_record *record = &entry->record;

    return strlen(record->path) + strlen(record->to) + strlen(record->from) +
               strlen(record->reason) + strlen(record->detail) + strlen(record->tag) <
           20000;
}

/* As `weir dead -v` shows it: no byte of it controls a terminal, and its length is bounded. */
static void show(const struct dead_entry *entry)
{
    const struct dead_payload payload = { .tag = entry->record.tag,
                                          .bytes = entry->record.payload,
                                          .size = entry->record.size,
                                          .is_kept = entry->has_payload };
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);

    trial_must(stream, "memory is out");
    dead_payload_print(stream, &payload);
    trial_must(fclose(stream) == 0 && size > 0, "nothing is shown");
    for (size_t i = 0; i < size; i++)
        trial_must(text[i] == '\n' || ((unsigned char)text[i] >= ' ' && text[i] != 0x7f),
                   "a control character is shown");
    trial_must(size < 8 * DEAD_PAYLOAD_SHOWN + 4 * (payload.size + strlen(payload.tag)) + 1024,
               "too much is shown");
    free(text);
}

static void read_bytes(const uint8_t *data, size_t size)
{
    struct dead_reader reader;
    struct dead_entry entry;
    uint64_t end = 0, number = 0;
    int error, found;

    trial_write(data, size);
    error = dead_reader_open(&reader, trial_path());
    trial_must(error == 0 || error == EILSEQ, "a file is refused for another reason");
    while (error == 0 && (found = dead_reader_next(&reader, &entry)) != 0) {
        trial_must(found == 1 && entry.number == ++number, "records are not counted");
        trial_must(entry.offset >= end && entry.offset >= FIRST_SIZE && reader.end <= size &&
                       entry.offset + FRAME_SIZE < reader.end,
                   "a record is not where it is said to be");
        trial_must(memcmp(data + entry.offset, "letter ", 7) == 0, "a record has no frame");
        trial_must(reader.skipped <= entry.offset, "too many bytes are skipped");
        end = reader.end;
        show(&entry);
        if (can_be_written(&entry))
            write_again(&entry);
    }
    dead_reader_finish(&reader);
}

static bool read_number(const char *digits, size_t count, uint64_t *out)
{
    char text[20] = "", *end;

    memcpy(text, digits, count);
    *out = strtoull(text, &end, 16);
    return end == text + count;
}

/* Gives each frame whose sizes fit the checksum of its bytes: the fuzzer cannot guess it. */
static void put_right(char *bytes, size_t size)
{
    char *at = bytes, digits[20];
    uint64_t header, payload;

    while ((at = memmem(at, size - (size_t)(at - bytes), "letter ", 7))) {
        const size_t left = size - (size_t)(at - bytes);

        if (left >= FRAME_SIZE && read_number(at + 26, 8, &header) &&
            read_number(at + 35, 16, &payload) && header < left && payload < left &&
            FRAME_SIZE + header + payload + 1 <= left) {
            (void)snprintf(digits, sizeof digits, "%016llx",
                           (unsigned long long)weir_key(at + COUNTED_AT, FRAME_SIZE - COUNTED_AT +
                                                                             header + payload + 1));
            memcpy(at + 9, digits, 16);
        }
        at += 7;
    }
}

static void read_with_checksums(const uint8_t *data, size_t size)
{
    char *copy = trial_copy(data, size);

    put_right(copy, size);
    read_bytes((const uint8_t *)copy, size);
    free(copy);
}

/* --- a record between two others -------------------------------------------------------------- */

/* A record made of an input, and how the file is damaged. */
struct given {
    struct dead_record record;
    char *texts; /* owned */
    uint64_t damage;
};

static const struct dead_record neighbour = { .path = "pools/a",
                                              .to = "pools",
                                              .from = "sources/s",
                                              .reason = "rejected",
                                              .detail = "letter % \n",
                                              .tag = "a/1",
                                              .payload = "letter by letter ",
                                              .size = 17,
                                              .key = 5,
                                              .kind = WEIR_MESSAGE,
                                              .attempt = 1 };

/* The first eight bytes are numbers, then six texts that end with NUL, then the payload. */
static void take_apart(const uint8_t *data, size_t size, struct given *out)
{
    const char **texts[TEXTS] = { &out->record.path,   &out->record.to,     &out->record.from,
                                  &out->record.reason, &out->record.detail, &out->record.tag };
    const char *at = (const char *)data + 8, *end = (const char *)data + size;

    *out = (struct given){ .texts = calloc(size + 1, 1) };
    trial_must(out->texts, "memory is out");
    memcpy(&out->damage, data, 8);
    memcpy(out->texts, at, size - 8);
    for (size_t i = 0; i < TEXTS; i++) {
        *texts[i] = out->texts + (at - ((const char *)data + 8));
        at += at < end ? strnlen(at, (size_t)(end - at)) : 0;
        at += at < end;
    }
    out->record.payload = data[0] & 1 ? NULL : at;
    out->record.size = (size_t)(end - at);
    out->record.kind = data[1];
    out->record.lane = data[2];
    out->record.attempt = (uint16_t)(data[3] << 8 | data[4]);
    out->record.key = out->damage;
    out->record.from_pid = data[5];
}

/* Counts the records, and compares those that have a neighbour's tag, or are the given one. */
static void expect(const struct dead_text *text, const struct dead_record *given, uint64_t before,
                   uint64_t between, uint64_t after)
{
    struct dead_reader reader;
    struct dead_entry entry;
    uint64_t count = 0;

    trial_write(text->bytes, text->size);
    trial_must(dead_reader_open(&reader, trial_path()) == 0, "the file is refused");
    while (dead_reader_next(&reader, &entry) == 1) {
        const bool is_between = count == before && between == 1;

        compare(&entry, is_between ? given : &neighbour);
        count++;
    }
    trial_must(count == before + between + after, "records are missing, or too many");
    dead_reader_finish(&reader);
}

static void write_and_damage(const struct given *given)
{
    struct dead_text text = { .bytes = NULL };
    size_t begin, end, place;

    (void)dead_text_append(&text, first_line, FIRST_SIZE);
    trial_must(dead_record_write(&text, &neighbour, &id, TIME_US) == 0, "no record");
    begin = text.size;
    trial_must(dead_record_write(&text, &given->record, &id, TIME_US) == 0, "no record");
    end = text.size;
    trial_must(dead_record_size(text.bytes + begin) == end - begin, "the size is another");
    expect(&text, &given->record, 1, 1, 0);
    trial_must(dead_record_write(&text, &neighbour, &id, TIME_US) == 0, "no record");
    expect(&text, &given->record, 1, 1, 1);

    place = begin + (size_t)(given->damage % (end - begin));
    text.bytes[place] = (char)(text.bytes[place] ^ (int)(given->damage >> 56 | 1));
    expect(&text, &given->record, 1, place == begin + DEAD_RECORD_STATE, 1);
    text.bytes[place] = (char)(text.bytes[place] ^ (int)(given->damage >> 56 | 1));
    text.size = place;
    expect(&text, &given->record, 1, 0, 0);
    free(text.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct given given;

    if (size >= BEGINNING && memcmp(data, first_line, BEGINNING) == 0) {
        read_bytes(data, size);
        read_with_checksums(data, size);
        return 0;
    }
    if (size < 8)
        return 0;
    take_apart(data, size, &given);
    write_and_damage(&given);
    free(given.texts);
    return 0;
}
