/* SPDX-License-Identifier: MIT */
/*
 * dead/dead_payload.h - the payload of a dead letter as people read it: its layout, when a bundled
 * plugin has made it, and the start of its text.
 *
 * The layouts are frozen: those of the headers PLUGIN.h that are installed for authors. A payload
 * may come from a file, so it may be anything. Any thread.
 */
#ifndef HOST_DEAD_DEAD_PAYLOAD_H
#define HOST_DEAD_DEAD_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "config/json.h"

#define DEAD_PAYLOAD_SHOWN 2048u /* bytes of one text: a screen */
#define DEAD_PAYLOAD_LINES 40u   /* of one text, for people */

/* A dead letter whose payload is shown. All texts are borrowed. */
struct dead_payload {
    const char *tag; /* "" = none */
    const char *bytes;
    size_t size;
    bool is_kept;
};

/* Prints the tag, the size, what the layout says, and the text, in lines with a margin. */
void dead_payload_print(FILE *stream, const struct dead_payload *payload);
/* Members of an object: `about`, `text`, `text_cut` (bytes that are not shown). */
void dead_payload_json(struct json *json, const struct dead_payload *payload);

/* Writes a text of which control characters, and bytes that are no UTF-8, are escaped as \xHH. */
void dead_payload_escape(FILE *stream, const char *text, size_t size);

#endif
