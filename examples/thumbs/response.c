/* SPDX-License-Identifier: MIT */
#include "response.h"

#include <stdio.h>
#include <string.h>

#define HEAD_MAX 128u
#define AGAIN_MS 20u

int response_send(struct weir_self *self, const struct weir_message *request,
                  const struct weir_tag *tag, const struct response *response)
{
    char head[HEAD_MAX];
    size_t head_size = (size_t)snprintf(head, sizeof head, "%u\ncontent-type: %s\n\n",
                                        response->status, response->type);
    struct weir_message *reply = weir_message_new(self, tag, head_size + response->size);

    if (!reply) {
        weir_retry_after(self, AGAIN_MS);
        weir_reason(self, "no memory for the reply");
        return WEIR_RETRY;
    }
    memcpy(reply->data, head, head_size);
    if (response->size > 0)
        memcpy((char *)reply->data + head_size, response->body, response->size);
    /* The client may have gone: then the request takes no reply, and needs none. */
    if (weir_reply(self, request, reply) != 0)
        weir_message_free(self, reply);
    return WEIR_DONE;
}

int response_send_text(struct weir_self *self, const struct weir_message *request,
                       const struct weir_tag *tag, unsigned status, const char *text)
{
    char line[HEAD_MAX];
    int size = snprintf(line, sizeof line, "%s\n", text);

    return response_send(
        self, request, tag,
        &(struct response){
            .status = status, .type = "text/plain", .body = line, .size = (size_t)size });
}
