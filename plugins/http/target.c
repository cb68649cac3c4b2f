#include "target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_SIZE 24u

enum mark { MARK_NONE, MARK_RAW, MARK_PAYLOAD, MARK_KEY };

static const struct {
    const char *text;
    enum mark mark;
} marks[] = { { "{}", MARK_RAW }, { "{payload}", MARK_PAYLOAD }, { "{key}", MARK_KEY } };

/* Writes into memory of the right size; without memory it only counts. */
struct writing {
    char *to; /* may be NULL */
    size_t size;
};

static enum mark mark_at(const char *text, size_t *out_size)
{
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        *out_size = strlen(marks[i].text);
        if (strncmp(text, marks[i].text, *out_size) == 0)
            return marks[i].mark;
    }
    *out_size = 1;
    return MARK_NONE;
}

bool target_takes_payload(const char *template)
{
    return strstr(template, "{}") || strstr(template, "{payload}");
}

static void put(struct writing *writing, const char *text, size_t size)
{
    if (writing->to && size > 0)
        memcpy(writing->to + writing->size, text, size);
    writing->size += size;
}

static void put_escaped(struct writing *writing, unsigned char byte)
{
    char text[4];

    (void)snprintf(text, sizeof text, "%%%02X", byte);
    put(writing, text, 3);
}

static bool is_plain(unsigned char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || (byte && strchr("-._~", byte));
}

static void put_payload(struct writing *writing, const char *payload, size_t size, bool is_raw)
{
    for (size_t i = 0; i < size; i++) {
        unsigned char byte = (unsigned char)payload[i];

        if (is_raw ? byte != 0 : is_plain(byte))
            put(writing, &payload[i], 1);
        else
            put_escaped(writing, byte);
    }
}

static void fill(struct writing *writing, const char *template, const char *payload, size_t size,
                 uint64_t key)
{
    char number[KEY_SIZE];
    size_t step;
    int digits = snprintf(number, sizeof number, "%llu", (unsigned long long)key);

    for (; *template; template += step) {
        enum mark mark = mark_at(template, &step);

        if (mark == MARK_KEY)
            put(writing, number, (size_t)digits);
        else if (mark == MARK_NONE)
            put(writing, template, 1);
        else
            put_payload(writing, payload, size, mark == MARK_RAW);
    }
}

char *target_create(const char *template, const char *payload, size_t size, uint64_t key)
{
    struct writing writing = { NULL, 0 };

    fill(&writing, template, payload, size, key);
    writing.to = calloc(1, writing.size + 1);
    if (!writing.to)
        return NULL;
    writing.size = 0;
    fill(&writing, template, payload, size, key);
    return writing.to;
}
