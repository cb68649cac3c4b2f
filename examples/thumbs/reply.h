/* SPDX-License-Identifier: MIT */
/*
 * reply.h - the behaviour thumbs.reply: answers a request of HTTP with the thumbnail of the picture
 * in its body.
 */
#ifndef REPLY_H
#define REPLY_H

#include <weir/plugin.h>

struct reply_settings {
    uint32_t edge;
    uint64_t most;
};

struct reply {
    const struct reply_settings *settings; /* borrowed until close */
    const struct weir_tag *request_tag;
    const struct weir_tag *response_tag;
    uint64_t done;
};

int reply_open(struct weir_self *self, const void *settings, void *memory);
int reply_handle(struct weir_self *self, void *memory, const struct weir_message *message);

extern const struct weir_option reply_options[];

#endif
