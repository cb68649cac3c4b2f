/* SPDX-License-Identifier: MIT */
#include "outbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "json_frame.h"

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
    if (outbox->descriptor >= 0)
        (void)close(outbox->descriptor);
    free(outbox->json);
    outbox_init(outbox);
}

static int put_json(struct outbox *outbox, const struct weir_message *message, const char *payload,
                    size_t size)
{
    free(outbox->json);
    outbox->json = json_frame_write(message, payload, size, &size);
    outbox->payload = outbox->json;
    outbox->payload_left = outbox->json ? size : 0;
    return outbox->json ? 0 : WEIR_ENOMEM;
}

int outbox_put(struct outbox *outbox, const struct weir_message *message, const char *payload,
               size_t size)
{
    if (outbox->is_json)
        return put_json(outbox, message, payload, size);
    outbox->line_size = frame_write(outbox->line, sizeof outbox->line, message, size);
    outbox->line_left = outbox->line_size;
    outbox->payload = payload;
    outbox->payload_left = outbox->line_size > 0 ? size : 0;
    return outbox->line_size > 0 ? 0 : WEIR_EINVALID;
}

static ssize_t write_some(struct outbox *outbox)
{
    struct iovec parts[] = {
        { outbox->line + (outbox->line_size - outbox->line_left), outbox->line_left },
        { (char *)(uintptr_t)outbox->payload, outbox->payload_left },
    };
    struct msghdr header = { .msg_iov = parts, .msg_iovlen = outbox->payload_left > 0 ? 2 : 1 };

    return sendmsg(outbox->descriptor, &header, MSG_NOSIGNAL);
}

static void take(struct outbox *outbox, size_t written)
{
    size_t of_line = written < outbox->line_left ? written : outbox->line_left;

    outbox->line_left -= of_line;
    if (written == of_line)
        return;
    outbox->payload += written - of_line;
    outbox->payload_left -= written - of_line;
}

static int watch(struct weir_self *self, struct outbox *outbox, weir_ready *ready)
{
    int status = weir_watch(self, outbox->descriptor, WEIR_WRITABLE, ready, NULL, &outbox->watch);

    outbox->watched = status == 0;
    return status == 0 ? 0 : status == WEIR_ENOMEM ? ENOMEM : ENOTSUP;
}

int outbox_write(struct weir_self *self, struct outbox *outbox, weir_ready *ready)
{
    while (!outbox_is_empty(outbox)) {
        ssize_t written = write_some(outbox);

        if (written >= 0)
            take(outbox, (size_t)written);
        else if (errno == EAGAIN)
            return watch(self, outbox, ready);
        else if (errno != EINTR)
            return errno;
    }
    return 0;
}

void outbox_fired(struct outbox *outbox)
{
    outbox->watched = false;
}

bool outbox_is_empty(const struct outbox *outbox)
{
    return outbox->line_left == 0 && outbox->payload_left == 0;
}
