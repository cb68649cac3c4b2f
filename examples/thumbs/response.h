/* SPDX-License-Identifier: MIT */
/*
 * response.h - replies for http.server.
 */
#ifndef RESPONSE_H
#define RESPONSE_H

#include <weir/plugin.h>

struct response {
    unsigned status;  /* of HTTP */
    const char *type; /* of the body, such as "image/png" */
    const void *body; /* borrowed until the call returns */
    size_t size;      /* bytes */
};

/*
 * Replies to the request with an http.response/1. Returns the verdict for the request: WEIR_DONE,
 * or WEIR_RETRY when memory is out.
 */
int response_send(struct weir_self *self, const struct weir_message *request,
                  const struct weir_tag *tag, const struct response *response);

/* The same with a line of text as the body. */
int response_send_text(struct weir_self *self, const struct weir_message *request,
                       const struct weir_tag *tag, unsigned status, const char *text);

#endif
