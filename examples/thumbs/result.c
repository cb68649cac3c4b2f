/* SPDX-License-Identifier: MIT */
#include "result.h"

#define AGAIN_MS 20u

static int again(struct weir_self *self, const char *why)
{
    weir_retry_after(self, AGAIN_MS);
    weir_reason(self, "%s", why);
    return WEIR_RETRY;
}

/* The payload is zeroed, so both NULs are there. */
static void fill(struct thumbs_result *payload, const struct result *result)
{
    char *texts = (char *)(payload + 1);

    payload->outcome = result->outcome;
    payload->width = result->picture->width;
    payload->height = result->picture->height;
    payload->thumb_width = result->width;
    payload->thumb_height = result->height;
    payload->path_size = result->picture->path_size;
    payload->text_size = (uint32_t)strlen(result->text);
    memcpy(texts, thumbs_picture_path(result->picture), payload->path_size);
    memcpy(texts + payload->path_size + 1, result->text, payload->text_size);
}

int result_emit(struct weir_self *self, const struct weir_tag *tag, uint32_t output,
                const struct result *result)
{
    size_t texts = result->picture->path_size + strlen(result->text) + 2;
    struct weir_message *message = weir_message_new(self, tag,
                                                    sizeof(struct thumbs_result) + texts);
    int status;

    if (!message)
        return again(self, "no memory for the result");
    fill(message->data, result);
    status = weir_emit(self, output, message);
    if (status == 0)
        return WEIR_DONE;
    weir_message_free(self, message);
    return again(self, "no room for the result");
}
