/* SPDX-License-Identifier: MIT */
/*
 * json_frame.h - the same frames as in frame.h, each as one line with an object of JSON.
 *
 *     to the child:   {"frame":"message","attempt":1,"key":"0","tag":"text/1","data":"hello"}
 *     of the child:   {"frame":"out","data":"HELLO","key":"8"}    {"frame":"retry","ms":100}
 *
 * `base64` stands in the place of `data` for bytes that are no UTF-8. A key is a text, since many
 * readers of JSON keep 53 bits of a number; of the child it may be a number.
 */
#ifndef JSON_FRAME_H
#define JSON_FRAME_H

#include "frame.h"

/* Reads a line without its end, and changes it: *out_bytes has the bytes of the frame, inside the
 * line. False: it is no frame. */
bool json_frame_read(char *line, size_t size, struct frame *out_frame, const char **out_bytes);

/* The line of a message with this payload, and its end. `id`: 0 = revision 1. Returns owned, for
 * free(); NULL: memory is out. Borrows. */
char *json_frame_write(const struct weir_message *message, uint64_t id, const char *payload,
                       size_t size, size_t *out_size);

#endif
