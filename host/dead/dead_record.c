/* SPDX-License-Identifier: MIT */
#include "host/dead/dead_record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "host/dead/dead_quote.h"

#define FIRST_SIZE (sizeof DEAD_FILE_FIRST_LINE - 1)
#define FRAME DEAD_RECORD_WORD "- %016" PRIx64 " %08" PRIx64 " %016" PRIx64 "\n"
#define FRAME_SIZE 52u
#define FIRST_VERSION_AT (FIRST_SIZE - 2)
#define CHECKSUM_AT 9u
#define COUNTED_AT 26u /* the checksum counts from here */
#define HEADER_AT 26u
#define PAYLOAD_AT 35u
#define HEADER_MAX 65536u
#define TAKE_HOLDER 16u /* bytes before the path in the payload of a take */

/* --- writing -------------------------------------------------------------------------------- */

static bool make_room(struct dead_text *text, size_t size)
{
    size_t capacity = text->capacity ? text->capacity : 4096;
    char *bytes;

    if (size > SIZE_MAX / 4)
        return false;
    while (capacity - text->size < size)
        capacity *= 2;
    if (capacity == text->capacity)
        return true;
    bytes = realloc(text->bytes, capacity);
    if (!bytes)
        return false;
    text->bytes = bytes;
    text->capacity = capacity;
    return true;
}

static void put(struct dead_text *text, const void *bytes, size_t size)
{
    if (size > 0)
        memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
}

int dead_text_append(struct dead_text *text, const void *bytes, size_t size)
{
    if (!make_room(text, size))
        return WEIR_ENOMEM;
    put(text, bytes, size);
    return 0;
}

static void put_escaped(struct dead_text *text, const char *value)
{
    static const char digits[] = "0123456789abcdef";

    for (; *value; value++) {
        const unsigned char byte = (unsigned char)*value;
        const char escaped[] = { '%', digits[byte >> 4], digits[byte & 15] };

        if (byte < ' ' || byte == 0x7f || byte == '%' ||
            strncmp(value, DEAD_RECORD_WORD, strlen(DEAD_RECORD_WORD)) == 0)
            put(text, escaped, sizeof escaped);
        else
            put(text, value, 1);
    }
}

/* Fields without a value are not written. */
static void put_field(struct dead_text *text, const char *name, const char *value)
{
    if (!*value)
        return;
    put(text, name, strlen(name));
    put(text, ": ", 2);
    put_escaped(text, value);
    put(text, "\n", 1);
}

static void put_number(struct dead_text *text, const char *name, uint64_t value)
{
    char digits[24];

    (void)snprintf(digits, sizeof digits, "%" PRIu64, value);
    put_field(text, name, value ? digits : "");
}

static void put_time(struct dead_text *text, uint64_t time_us)
{
    time_t seconds = (time_t)(time_us / 1000000u);
    char date[32], value[48];
    struct tm tm;

    gmtime_r(&seconds, &tm);
    (void)strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &tm);
    (void)snprintf(value, sizeof value, "%s.%06uZ", date, (unsigned)(time_us % 1000000u));
    put_field(text, "time", value);
}

static void put_header(struct dead_text *text, const struct dead_record *record,
                       const struct dead_id *id, uint64_t time_us)
{
    char name[DEAD_ID_TEXT];

    put_time(text, time_us);
    dead_id_format(id, name);
    put_field(text, "id", name);
    put_field(text, "pool", record->path);
    put_field(text, "to", record->to);
    put_field(text, "reason", record->reason);
    put_field(text, "detail", record->detail);
    put_field(text, "tag", record->tag);
    put_field(text, "from", record->from);
    put_number(text, "from_pid", record->from_pid);
    put_number(text, "key", record->key);
    put_number(text, "attempt", record->attempt);
    put_number(text, "lane", record->lane);
    put_number(text, "kind", record->kind);
    if (!record->payload && record->size > 0)
        put_field(text, "payload", "none");
}

/* The most bytes that the header can take. */
static size_t header_bound(const struct dead_record *record)
{
    const char *texts[] = { record->path,   record->to,  record->from, record->reason,
                            record->detail, record->tag, NULL };
    size_t size = 512;

    for (size_t i = 0; texts[i]; i++)
        size += 3 * strlen(texts[i]);
    return size;
}

int dead_record_write(struct dead_text *text, const struct dead_record *record,
                      const struct dead_id *id, uint64_t time_us)
{
    const size_t begin = text->size, bound = header_bound(record);
    const size_t size = record->payload ? record->size : 0;
    const size_t payload = dead_quoted_size(record->payload, size);
    char frame[FRAME_SIZE + 1];
    size_t header;
    uint64_t sum;

    if (bound > HEADER_MAX || payload > SIZE_MAX / 8 ||
        !make_room(text, FRAME_SIZE + bound + payload + 1))
        return WEIR_ENOMEM;
    text->size += FRAME_SIZE;
    put_header(text, record, id, time_us);
    header = text->size - begin - FRAME_SIZE;
    dead_quote(text->bytes + text->size, record->payload, size);
    text->size += payload;
    put(text, "\n", 1);
    (void)snprintf(frame, sizeof frame, FRAME, (uint64_t)0, (uint64_t)header, (uint64_t)payload);
    memcpy(text->bytes + begin, frame, FRAME_SIZE);
    sum = weir_key(text->bytes + begin + COUNTED_AT, text->size - begin - COUNTED_AT);
    (void)snprintf(frame, sizeof frame, FRAME, sum, (uint64_t)header, (uint64_t)payload);
    memcpy(text->bytes + begin, frame, FRAME_SIZE);
    return 0;
}

/* --- reading a record ----------------------------------------------------------------------- */

static bool read_hex(const char *digits, size_t count, uint64_t *out)
{
    *out = 0;
    for (size_t i = 0; i < count; i++) {
        const char *found = digits[i] ? strchr("0123456789abcdef", digits[i]) : NULL;

        if (!found)
            return false;
        *out = *out << 4 | (uint64_t)(found - "0123456789abcdef");
    }
    return true;
}

void dead_id_format(const struct dead_id *id, char text[DEAD_ID_TEXT])
{
    (void)snprintf(text, DEAD_ID_TEXT, "%016" PRIx64 "-%016" PRIx64, id->run, id->number);
}

bool dead_id_parse(const char *text, struct dead_id *out)
{
    struct dead_id id;
    const bool is_one = strlen(text) == DEAD_ID_TEXT - 1 && text[16] == '-' &&
                        read_hex(text, 16, &id.run) && read_hex(text + 17, 16, &id.number);

    if (is_one)
        *out = id;
    return is_one;
}

size_t dead_record_size(const char *bytes)
{
    uint64_t header = 0, payload = 0;

    (void)read_hex(bytes + HEADER_AT, 8, &header);
    (void)read_hex(bytes + PAYLOAD_AT, 16, &payload);
    return (size_t)(FRAME_SIZE + header + payload + 1);
}

static char unescape(const char **at)
{
    char digits[2] = { 0 };
    uint64_t byte;

    if (**at != '%')
        return *(*at)++;
    digits[0] = (*at)[1];
    digits[1] = digits[0] ? (*at)[2] : '\0';
    if (!read_hex(digits, sizeof digits, &byte))
        return *(*at)++;
    *at += 3;
    return (char)byte;
}

static void unescape_all(char *text)
{
    const char *from = text;

    while (*from)
        *text++ = unescape(&from);
    *text = '\0';
}

/* A take is a request without a tag. Its payload is empty, or the holder: its PID, the number of
 * its incarnation, four bytes of padding, its path. */
static bool is_like_a_take(const struct dead_record *record)
{
    const unsigned char *payload = record->payload;
    uint32_t padding;

    if (record->kind != WEIR_REQUEST || record->tag[0])
        return false;
    if (record->size == 0)
        return true;
    if (!payload || record->size <= TAKE_HOLDER || payload[record->size - 1] != '\0')
        return false;
    memcpy(&padding, payload + TAKE_HOLDER - sizeof padding, sizeof padding);
    return padding == 0 &&
           strlen((const char *)payload + TAKE_HOLDER) + 1 == record->size - TAKE_HOLDER;
}

static void set_number(struct dead_entry *entry, const char *name, const char *value)
{
    const uint64_t number = strtoull(value, NULL, 10);

    if (strcmp(name, "from_pid") == 0)
        entry->record.from_pid = number;
    else if (strcmp(name, "key") == 0)
        entry->record.key = number;
    else if (strcmp(name, "attempt") == 0)
        entry->record.attempt = (uint16_t)number;
    else if (strcmp(name, "lane") == 0)
        entry->record.lane = (uint8_t)number;
    else if (strcmp(name, "kind") == 0)
        entry->record.kind = (uint8_t)number;
}

/* Fields that are not known belong to a later version, and are passed over. */
static void set_field(struct dead_entry *entry, const char *name, char *value)
{
    struct {
        const char *name;
        const char **place;
    } texts[] = {
        { "time", &entry->time },
        { "pool", &entry->record.path },
        { "to", &entry->record.to },
        { "from", &entry->record.from },
        { "reason", &entry->record.reason },
        { "detail", &entry->record.detail },
        { "tag", &entry->record.tag },
    };

    unescape_all(value);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(name, texts[i].name) == 0)
            *texts[i].place = value;
    if (strcmp(name, "payload") == 0)
        entry->has_payload = false;
    if (strcmp(name, "sent") == 0)
        entry->is_by_user = true;
    set_number(entry, name, value);
    if (strcmp(name, "id") == 0)
        (void)dead_id_parse(value, &entry->id);
}

static void read_header(struct dead_entry *entry, char *header)
{
    char *rest = header, *line, *value;

    while (rest && (line = strsep(&rest, "\n"))) {
        value = strstr(line, ": ");
        if (!value)
            continue;
        *value = '\0';
        set_field(entry, line, value + 2);
    }
}

/* --- reading the file ----------------------------------------------------------------------- */

/* The version that a whole first line names; 0: none that is known. */
static unsigned version_of(const char first[FIRST_SIZE])
{
    char known[] = DEAD_FILE_FIRST_LINE;

    known[FIRST_VERSION_AT] = '1';
    if (memcmp(first, known, FIRST_SIZE) == 0)
        return 1;
    return memcmp(first, DEAD_FILE_FIRST_LINE, FIRST_SIZE) == 0 ? 2 : 0;
}

static int read_first_line(struct dead_reader *reader)
{
    char first[FIRST_SIZE];
    const size_t got = fread(first, 1, FIRST_SIZE, reader->stream);

    if (ferror(reader->stream))
        return EIO;
    if (got < FIRST_SIZE)
        return memcmp(first, DEAD_FILE_FIRST_LINE, got < FIRST_VERSION_AT ? got : FIRST_VERSION_AT)
                   ? EILSEQ
                   : 0;
    reader->version = version_of(first);
    reader->end = reader->version ? FIRST_SIZE : 0;
    return reader->version ? 0 : EILSEQ;
}

int dead_reader_open(struct dead_reader *reader, const char *path)
{
    const int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct stat about;

    *reader = (struct dead_reader){ .stream = NULL };
    if (descriptor < 0)
        return errno;
    reader->stream = fdopen(descriptor, "rb");
    if (!reader->stream) {
        (void)close(descriptor);
        return ENOMEM;
    }
    if (fstat(descriptor, &about) < 0)
        return errno;
    if (!S_ISREG(about.st_mode))
        return S_ISDIR(about.st_mode) ? EISDIR : EILSEQ;
    reader->size = (uint64_t)about.st_size;
    return read_first_line(reader);
}

void dead_reader_finish(struct dead_reader *reader)
{
    if (reader->stream)
        (void)fclose(reader->stream);
    free(reader->memory);
    *reader = (struct dead_reader){ .stream = NULL };
}

static bool read_at(struct dead_reader *reader, uint64_t offset, char *bytes, size_t size)
{
    return offset + size <= reader->size && fseeko(reader->stream, (off_t)offset, SEEK_SET) == 0 &&
           fread(bytes, 1, size, reader->stream) == size;
}

/* What the first bytes of a record say. */
struct frame {
    char bytes[FRAME_SIZE];
    uint64_t header, payload; /* bytes */
    uint64_t end;             /* of the record */
};

/* False: at `offset` no frame begins whose record ends before `limit`. */
static bool read_frame(struct dead_reader *reader, uint64_t offset, uint64_t limit,
                       struct frame *out)
{
    const char *bytes = out->bytes;

    if (!read_at(reader, offset, out->bytes, FRAME_SIZE) ||
        memcmp(bytes, DEAD_RECORD_WORD, strlen(DEAD_RECORD_WORD)) != 0 ||
        bytes[CHECKSUM_AT - 1] != ' ' || bytes[COUNTED_AT - 1] != ' ' ||
        bytes[FRAME_SIZE - 1] != '\n' || !read_hex(bytes + HEADER_AT, 8, &out->header) ||
        !read_hex(bytes + PAYLOAD_AT, 16, &out->payload) || out->header > HEADER_MAX ||
        out->payload > limit)
        return false;
    out->end = offset + FRAME_SIZE + out->header + out->payload + 1;
    return out->end <= limit;
}

/* The record's bytes from COUNTED_AT on, if their checksum is that of the frame. 1; 0: they are no
 * record; -1: no memory. */
static int read_body(struct dead_reader *reader, uint64_t offset, const struct frame *frame)
{
    const size_t counted = FRAME_SIZE - COUNTED_AT;
    const size_t size = (size_t)(frame->end - offset - FRAME_SIZE);
    char *memory = realloc(reader->memory, size + counted);
    uint64_t sum;

    if (!memory)
        return -1;
    reader->memory = memory;
    memcpy(memory, frame->bytes + COUNTED_AT, counted);
    return read_at(reader, offset + FRAME_SIZE, memory + counted, size) &&
           read_hex(frame->bytes + CHECKSUM_AT, 16, &sum) &&
           weir_key(memory, size + counted) == sum;
}

/* From the frame and the body in `reader->memory`. */
static void read_entry(struct dead_reader *reader, uint64_t offset, const struct frame *frame,
                       struct dead_entry *out)
{
    char *header = reader->memory + FRAME_SIZE - COUNTED_AT, *payload = header + frame->header;

    *out = (struct dead_entry){
        .number = ++reader->number,
        .offset = offset,
        .was_replayed = frame->bytes[DEAD_RECORD_STATE] == 'r',
        .has_payload = true,
        .time = "",
        .record = { .path = "", .to = "", .from = "", .reason = "", .detail = "", .tag = "" },
        .memory = reader->memory
    };
    out->record.payload = payload;
    out->record.size = (size_t)frame->payload;
    if (reader->version > 1)
        out->record.size = dead_unquote(payload, out->record.size);
    if (frame->header > 0) {
        payload[-1] = '\0';
        read_header(out, header);
    }
    out->is_take = reader->version == 1 && !out->is_by_user && is_like_a_take(&out->record);
}

/* The offset of the next word of a frame after `from`; the size of the file: there is none. */
static uint64_t find_frame(struct dead_reader *reader, uint64_t from)
{
    const size_t length = strlen(DEAD_RECORD_WORD);
    size_t same = 0;
    int byte;

    if (fseeko(reader->stream, (off_t)from + 1, SEEK_SET) != 0)
        return reader->size;
    for (uint64_t at = from + 1; at < reader->size && (byte = getc_unlocked(reader->stream)) != EOF;
         at++) {
        same = byte == DEAD_RECORD_WORD[same] ? same + 1 : byte == DEAD_RECORD_WORD[0];
        if (same == length)
            return at + 1 - length;
    }
    return reader->size;
}

/* 1: a record begins at `offset`; 0: none, and `out_next` is where the next one may begin; -1: no
 * memory. Version 1 has payloads with frames in them: only a frame says where the next one is. */
static int read_record(struct dead_reader *reader, uint64_t offset, struct dead_entry *out,
                       uint64_t *out_next)
{
    const bool is_quoted = reader->version > 1;
    const uint64_t limit = is_quoted ? find_frame(reader, offset) : reader->size;
    struct frame frame;
    int found;

    *out_next = limit;
    if (!read_frame(reader, offset, limit, &frame))
        return 0;
    if (!is_quoted)
        *out_next = frame.end;
    found = read_body(reader, offset, &frame);
    if (found > 0) {
        read_entry(reader, offset, &frame, out);
        reader->end = frame.end;
    }
    return found;
}

int dead_reader_next(struct dead_reader *reader, struct dead_entry *out)
{
    const uint64_t begin = reader->end;
    uint64_t next = reader->size;
    int found = 0;

    for (uint64_t offset = begin; begin > 0 && found == 0 && offset < reader->size; offset = next) {
        found = read_record(reader, offset, out, &next);
        if (found > 0)
            reader->skipped += offset - begin;
    }
    return found;
}
