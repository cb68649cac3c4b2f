/* SPDX-License-Identifier: MIT */
/*
 * kit_text.h - a text that grows.
 *
 * A zeroed text is empty. The owner of the struct frees it by kit_text_finish. Aborts the program
 * when memory is out. Not synchronised.
 */
#ifndef SDK_TESTKIT_KIT_TEXT_H
#define SDK_TESTKIT_KIT_TEXT_H

#include <weir/host.h>

struct kit_text {
    char *text; /* NULL = empty */
    size_t size;
};

void kit_text_add(struct kit_text *text, const char *bytes, size_t size);
WEIR_PRINTF(2, 3) void kit_text_format(struct kit_text *text, const char *format, ...);
void kit_text_format_list(struct kit_text *text, const char *format, va_list arguments);
/* Empties it. */
void kit_text_finish(struct kit_text *text);
/* Ends with NUL; "" when empty. Borrowed until the text changes. */
const char *kit_text_get(const struct kit_text *text);

#endif
