/* SPDX-License-Identifier: MIT */
#include "outbox.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "json_frame.h"

/* Memory that is kept while nothing waits. */
#define KEPT_ROOM ((size_t)64 * 1024)
/* Bytes of a frame without a payload. */
#define SAID_MAX 64u

void outbox_init(struct outbox *outbox)
{
    *outbox = (struct outbox){ .descriptor = -1 };
}

int outbox_open(struct outbox *outbox, bool is_json, int *out_reader)
{
    int ends[2], error;

    outbox_init(outbox);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return errno;
    error = fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0 ? errno : 0;
    if (error != 0) {
        (void)close(ends[0]);
        (void)close(ends[1]);
        return error;
    }
    outbox->descriptor = ends[0];
    outbox->is_json = is_json;
    *out_reader = ends[1];
    return 0;
}

void outbox_close(struct weir_self *self, struct outbox *outbox)
{
    if (outbox->watched)
        (void)weir_unwatch(self, outbox->watch);
    if (outbox->descriptor >= 0) {
        /* The socket may have another descriptor, for the bell. */
        (void)shutdown(outbox->descriptor, SHUT_WR);
        (void)close(outbox->descriptor);
    }
    free(outbox->bytes);
    *outbox = (struct outbox){ .descriptor = -1, .written = outbox->written };
}

/* --- frames ----------------------------------------------------------------------------------- */

/* Room for `size` more bytes. NULL: memory is out. */
static char *make_room(struct outbox *outbox, size_t size)
{
    size_t waiting = outbox_waiting(outbox), room = outbox->room;
    char *bytes = outbox->bytes;

    if (outbox->end + size <= room)
        return bytes + outbox->end;
    if (waiting + size <= room) {
        memmove(bytes, bytes + outbox->begin, waiting);
    } else {
        room = waiting + size + waiting / 2;
        bytes = malloc(room);
        if (!bytes)
            return NULL;
        if (waiting > 0)
            memcpy(bytes, outbox->bytes + outbox->begin, waiting);
        free(outbox->bytes);
        outbox->bytes = bytes;
        outbox->room = room;
    }
    outbox->begin = 0;
    outbox->end = waiting;
    return bytes + waiting;
}

static int add(struct outbox *outbox, const char *bytes, size_t size)
{
    char *to = make_room(outbox, size);

    if (!to)
        return WEIR_ENOMEM;
    memcpy(to, bytes, size);
    outbox->end += size;
    return 0;
}

static int put_json(struct outbox *outbox, const struct weir_message *message, uint64_t id,
                    const char *payload, size_t size)
{
    char *line = json_frame_write(message, id, payload, size, &size);
    int status = line ? add(outbox, line, size) : WEIR_ENOMEM;

    free(line);
    return status;
}

int outbox_put(struct outbox *outbox, const struct weir_message *message, uint64_t id,
               const char *payload, size_t size)
{
    size_t line_size;
    char *to;

    if (outbox->is_json)
        return put_json(outbox, message, id, payload, size);
    to = make_room(outbox, FRAME_LINE_MAX + size);
    if (!to)
        return WEIR_ENOMEM;
    line_size = frame_write(to, FRAME_LINE_MAX, message, id, size);
    if (line_size == 0)
        return WEIR_EINVALID;
    if (size > 0)
        memcpy(to + line_size, payload, size);
    outbox->end += line_size + size;
    return 0;
}

bool outbox_reserve(struct outbox *outbox, size_t size)
{
    if (!make_room(outbox, outbox->reserved + size))
        return false;
    outbox->reserved += size;
    return true;
}

/* Writes the sizes of the payloads to `to`, and a line end. Returns the end. */
static char *write_sizes(char *to, const struct given *rows, uint32_t count, size_t *out_total)
{
    *out_total = 0;
    for (uint32_t i = 0; i < count; i++) {
        to = frame_write_number(to, rows[i].bytes);
        *out_total += rows[i].bytes;
    }
    to[-1] = '\n';
    return to;
}

void outbox_put_head(struct outbox *outbox, const struct given *rows, uint32_t count)
{
    char *to = outbox->bytes + outbox->end, *sizes, *end;
    size_t total, line;

    if (count == 1) {
        outbox->end += frame_write(to, FRAME_LINE_MAX, rows->message, rows->id, rows->bytes);
        return;
    }
    /* The line says how many bytes follow, so the sizes are written first, behind its room. */
    sizes = to + FRAME_LINE_MAX;
    end = write_sizes(sizes, rows, count, &total);
    line = frame_write_many(to, FRAME_LINE_MAX, rows->message, rows->id,
                            (size_t)(end - sizes) + total);
    memmove(to + line, sizes, (size_t)(end - sizes));
    outbox->end += line + (size_t)(end - sizes);
}

void outbox_put_bytes(struct outbox *outbox, const char *bytes, size_t size)
{
    if (size > 0)
        memcpy(outbox->bytes + outbox->end, bytes, size);
    outbox->end += size;
}

int outbox_say(struct outbox *outbox, const char *word, uint64_t id)
{
    char line[SAID_MAX], number[SAID_MAX] = "";

    if (id)
        (void)snprintf(number, sizeof number,
                       outbox->is_json ? ",\"id\":\"%" PRIu64 "\"" : " %" PRIu64, id);
    (void)snprintf(line, sizeof line, outbox->is_json ? "{\"frame\":\"%s\"%s}\n" : "%s 0%s\n", word,
                   number);
    return add(outbox, line, strlen(line));
}

/* --- writing ---------------------------------------------------------------------------------- */

static int watch(struct weir_self *self, struct outbox *outbox, weir_ready *ready)
{
    int status;

    if (outbox->watched)
        return 0;
    status = weir_watch(self, outbox->descriptor, WEIR_WRITABLE, ready, NULL, &outbox->watch);
    outbox->watched = status == 0;
    return status == 0 ? 0 : status == WEIR_ENOMEM ? ENOMEM : ENOTSUP;
}

static void empty(struct outbox *outbox)
{
    outbox->begin = outbox->end = 0;
    if (outbox->room <= KEPT_ROOM)
        return;
    free(outbox->bytes);
    outbox->bytes = NULL;
    outbox->room = 0;
}

int outbox_write(struct weir_self *self, struct outbox *outbox, weir_ready *ready)
{
    while (outbox_waiting(outbox) > 0) {
        ssize_t written = send(outbox->descriptor, outbox->bytes + outbox->begin,
                               outbox_waiting(outbox), MSG_NOSIGNAL);

        if (written >= 0) {
            outbox->begin += (size_t)written;
            outbox->written += (size_t)written;
        } else if (errno == EAGAIN) {
            return watch(self, outbox, ready);
        } else if (errno != EINTR) {
            return errno;
        }
    }
    empty(outbox);
    return 0;
}

void outbox_fired(struct outbox *outbox)
{
    outbox->watched = false;
}
