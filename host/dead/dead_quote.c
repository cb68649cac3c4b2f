/* SPDX-License-Identifier: MIT */
#include "host/dead/dead_quote.h"

#include <string.h>

#define HEAD "let"
#define TAIL "ter "
#define MARK '>'

/* The next place after HEAD where `marks` or more marks and TAIL follow; the end: there is none. */
static const char *find(const char *at, const char *end, size_t marks)
{
    const size_t head = strlen(HEAD), tail = strlen(TAIL);
    const char *after, *rest;

    while (at < end && (at = memmem(at, (size_t)(end - at), HEAD, head))) {
        after = rest = at + head;
        while (rest < end && *rest == MARK)
            rest++;
        if ((size_t)(rest - after) >= marks && (size_t)(end - rest) >= tail &&
            memcmp(rest, TAIL, tail) == 0)
            return after;
        at = rest;
    }
    return end;
}

size_t dead_quoted_size(const char *bytes, size_t size)
{
    const char *at = bytes, *end;
    size_t quoted = size;

    if (size == 0) /* there may be no bytes at all */
        return 0;
    end = bytes + size;
    while ((at = find(at, end, 0)) < end)
        quoted++;
    return quoted;
}

void dead_quote(char *out, const char *bytes, size_t size)
{
    const char *from = bytes, *end, *at;

    if (size == 0)
        return;
    end = bytes + size;
    while ((at = find(from, end, 0)) < end) {
        memcpy(out, from, (size_t)(at - from));
        out += at - from;
        *out++ = MARK;
        from = at;
    }
    memcpy(out, from, (size_t)(end - from));
}

size_t dead_unquote(char *bytes, size_t size)
{
    const char *from = bytes, *end = bytes + size, *at;
    char *out = bytes;

    while ((at = find(from, end, 1)) < end) {
        memmove(out, from, (size_t)(at - from));
        out += at - from;
        from = at + 1;
    }
    memmove(out, from, (size_t)(end - from));
    return (size_t)(out - bytes) + (size_t)(end - from);
}
