/* SPDX-License-Identifier: MIT */
#include "kit_text.h"

#include <stdlib.h>
#include <string.h>

void kit_text_add(struct kit_text *text, const char *bytes, size_t size)
{
    char *grown = realloc(text->text, text->size + size + 1);

    if (!grown)
        abort();
    memcpy(grown + text->size, bytes, size);
    text->text = grown;
    text->size += size;
    grown[text->size] = '\0';
}

void kit_text_format_list(struct kit_text *text, const char *format, va_list arguments)
{
    char *made = NULL;
    int size = vasprintf(&made, format, arguments);

    if (size < 0)
        abort();
    kit_text_add(text, made, (size_t)size);
    free(made);
}

void kit_text_format(struct kit_text *text, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    kit_text_format_list(text, format, arguments);
    va_end(arguments);
}

void kit_text_finish(struct kit_text *text)
{
    free(text->text);
    *text = (struct kit_text){ NULL, 0 };
}

const char *kit_text_get(const struct kit_text *text)
{
    return text->text ? text->text : "";
}
