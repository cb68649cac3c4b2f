/* SPDX-License-Identifier: MIT */
#include "message/peek.h"

#include <sys/uio.h>
#include <unistd.h>

#include "message/cache.h"
#include "message/join.h"
#include "message/message.h"

bool peek_bytes(void *to, const void *from, size_t size)
{
    struct iovec local = { to, size }, remote = { (void *)(uintptr_t)from, size };

    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)size;
}

/* Byte by byte, since the page behind the end of the text may be missing. */
static void peek_text(char *to, const char *from, size_t size)
{
    size_t used = 0;

    while (used < size - 1 && peek_bytes(to + used, from + used, 1) && to[used] != '\0')
        used++;
    to[used] = '\0';
}

/* See message_set_label. */
static void peek_own_label(const struct message *message, char *out)
{
    const char *end = (const char *)message + MESSAGE_HEADER_SIZE +
                      cache_room(message, MESSAGE_HEADER_SIZE) - 1;
    unsigned char size;

    if (peek_bytes(&size, end, sizeof size) && size == MESSAGE_IDENTIFIED)
        end -= MESSAGE_IDENTITY_ROOM;
    if (peek_bytes(&size, end, sizeof size))
        peek_text(out, end - size, MESSAGE_LABEL_MAX);
}

bool message_peek(const struct message *message, const struct weir_tag *tag,
                  struct message_peek *out)
{
    struct message copy;

    out->label[0] = '\0';
    if (!peek_bytes(&copy, message, sizeof copy) || copy.public.tag != tag)
        return false;
    out->attempt = copy.public.attempt;
    if (copy.public.reserved & MESSAGE_LABELLED)
        peek_own_label(message, out->label);
    else if (copy.public.reserved & MESSAGE_JOINED)
        peek_text(out->label, join_label(&copy), MESSAGE_LABEL_MAX);
    return true;
}
