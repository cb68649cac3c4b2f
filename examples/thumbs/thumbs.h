/* SPDX-License-Identifier: MIT */
/*
 * thumbs.h - the messages of the behaviours of `thumbs`.
 */
#ifndef THUMBS_H
#define THUMBS_H

#include <string.h>

#include <weir/message.h>

/* A picture to scale. Its path follows, with a NUL. */
#define THUMBS_PICTURE_TAG "thumbs.picture/1"

struct thumbs_picture {
    uint32_t width; /* pixels; 0 = not looked at yet, or drawn in any size */
    uint32_t height;
    uint32_t path_size; /* without NUL */
    uint32_t reserved;
};

enum thumbs_outcome {
    THUMBS_DONE = 0,
    THUMBS_FAILED = 1,
};

/* The result for a picture. Its path and a text follow, each with a NUL. */
#define THUMBS_RESULT_TAG "thumbs.result/1"

struct thumbs_result {
    uint32_t outcome; /* enum thumbs_outcome */
    uint32_t width;   /* pixels of the picture; 0 = as above */
    uint32_t height;
    uint32_t thumb_width;
    uint32_t thumb_height;
    uint32_t path_size;
    uint32_t text_size; /* of the thumbnail's path, or of the reason */
    uint32_t reserved;
};

/* The payload of a message tagged THUMBS_PICTURE_TAG; NULL when its sizes do
 * not fit. Borrowed. */
static inline const struct thumbs_picture *thumbs_picture_get(const struct weir_message *message)
{
    const struct thumbs_picture *picture = (const struct thumbs_picture *)message->data;

    if (message->size < sizeof *picture)
        return NULL;
    return message->size == sizeof *picture + (size_t)picture->path_size + 1 ? picture : NULL;
}

/* Ends with NUL. Borrowed from the message. */
static inline const char *thumbs_picture_path(const struct thumbs_picture *picture)
{
    return (const char *)(picture + 1);
}

/* The payload of a message tagged THUMBS_RESULT_TAG; NULL when its sizes do not
 * fit. Borrowed. */
static inline const struct thumbs_result *thumbs_result_get(const struct weir_message *message)
{
    const struct thumbs_result *result = (const struct thumbs_result *)message->data;

    if (message->size < sizeof *result)
        return NULL;
    if (message->size != sizeof *result + (size_t)result->path_size + result->text_size + 2)
        return NULL;
    return result;
}

static inline const char *thumbs_result_path(const struct thumbs_result *result)
{
    return (const char *)(result + 1);
}

static inline const char *thumbs_result_text(const struct thumbs_result *result)
{
    return thumbs_result_path(result) + result->path_size + 1;
}

#endif
