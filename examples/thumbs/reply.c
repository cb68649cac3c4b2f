/* SPDX-License-Identifier: MIT */
#include "reply.h"

#include <weir/messages/http.h>

#include "picture.h"
#include "response.h"

int reply_open(struct weir_self *self, const void *settings, void *memory)
{
    struct reply *state = memory;

    state->settings = settings;
    state->request_tag = weir_tag(self, HTTP_REQUEST_TAG);
    state->response_tag = weir_tag(self, HTTP_RESPONSE_TAG);
    if (!state->request_tag || !state->response_tag)
        return WEIR_ENOMEM;
    return picture_ready(self);
}

static bool is_post(const struct http_parts *parts)
{
    return parts->line_size > 5 && memcmp(parts->line, "POST ", 5) == 0;
}

/* A picture that cannot be scaled is the client's mistake: it gets an answer, and is no dead
 * letter. */
static int answer(struct weir_self *self, struct reply *state, const struct weir_message *message,
                  const struct http_parts *parts)
{
    const struct reply_settings *settings = state->settings;
    struct picture_thumb thumb;
    const char *why;
    int verdict;

    if (!is_post(parts))
        return response_send_text(self, message, state->response_tag, 405, "POST a picture");
    why = picture_scale_bytes(parts->body, parts->body_size, settings->edge, settings->most,
                              &thumb);
    if (why)
        return response_send_text(self, message, state->response_tag, 422, why);
    verdict = response_send(
        self, message, state->response_tag,
        &(struct response){
            .status = 200, .type = "image/png", .body = thumb.bytes, .size = thumb.size });
    picture_free(&thumb);
    weir_progress(self, "pictures", ++state->done, 0);
    return verdict;
}

int reply_handle(struct weir_self *self, void *memory, const struct weir_message *message)
{
    struct reply *state = memory;
    struct http_parts parts;

    if (message->tag == state->request_tag && http_parts_read(message->data, message->size, &parts))
        return answer(self, state, message, &parts);
    weir_reason(self, "not an " HTTP_REQUEST_TAG);
    return WEIR_REJECT;
}

const struct weir_option reply_options[] = {
    WEIR_OPTION_U32(struct reply_settings, edge,
                    .help = "pixels of the longer edge; smaller pictures stay as they are",
                    .fallback = "128", .min = 1, .max = 4096),
    WEIR_OPTION_U64(struct reply_settings, most, .help = "pixels beyond which a picture is refused",
                    .fallback = "100000000", .min = 1, .max = INT64_MAX),
    { 0 },
};
