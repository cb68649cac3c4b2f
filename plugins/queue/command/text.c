/* SPDX-License-Identifier: MIT */
#include "text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include <weir/printable.h>

#define NO_CHARACTER "\\ufffd" /* in place of a byte that is no UTF-8 */

void text_time(int64_t ms, char out[TEXT_TIME_SIZE])
{
    time_t seconds = (time_t)(ms / 1000);
    struct tm parts;
    char date[24];

    if (ms < 0 || !gmtime_r(&seconds, &parts) ||
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &parts) == 0) {
        (void)snprintf(out, TEXT_TIME_SIZE, "-");
        return;
    }
    (void)snprintf(out, TEXT_TIME_SIZE, "%s.%03dZ", date, (int)(ms % 1000));
}

static void print(FILE *out, const char *bytes, size_t size, bool keeps_lines)
{
    while (size > 0) {
        size_t length = keeps_lines && *bytes == '\n' ? 1 : weir_printable(bytes, size);

        if (length > 0)
            (void)fwrite(bytes, 1, length, out);
        else
            (void)fprintf(out, "\\x%02x", (unsigned char)*bytes);
        length = length > 0 ? length : 1;
        bytes += length;
        size -= length;
    }
}

void text_print(FILE *out, const char *text)
{
    if (!text || !text[0])
        (void)fputc('-', out);
    else
        print(out, text, strlen(text), false);
}

void text_print_lines(FILE *out, const char *bytes, size_t size)
{
    print(out, bytes, size, true);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void print_string(FILE *out, const char *bytes, size_t size)
{
    (void)fputc('"', out);
    while (size > 0) {
        size_t length = weir_printable_length_((const unsigned char *)bytes, size);

        if (length == 0)
            (void)fputs(NO_CHARACTER, out);
        else if (*bytes == '"' || *bytes == '\\')
            (void)fprintf(out, "\\%c", *bytes);
        else if (weir_printable(bytes, size) == 0) /* also line ends of Unicode; none needs two */
            (void)fprintf(out, "\\u%04x",
                          weir_printable_decode_((const unsigned char *)bytes, length));
        else
            (void)fwrite(bytes, 1, length, out);
        length = length > 0 ? length : 1;
        bytes += length;
        size -= length;
    }
    (void)fputc('"', out);
}

static void print_name(FILE *out, const char *name)
{
    (void)fprintf(out, ", \"%s\": ", name);
}

void text_json_string(FILE *out, const char *value)
{
    print_string(out, value, strlen(value));
}

void text_json(FILE *out, const char *name, const char *value)
{
    print_name(out, name);
    if (value)
        print_string(out, value, strlen(value));
    else
        (void)fputs("null", out);
}

void text_json_number(FILE *out, const char *name, int64_t value)
{
    print_name(out, name);
    (void)fprintf(out, "%" PRId64, value);
}

static bool is_utf8(const char *bytes, size_t size)
{
    while (size > 0) {
        size_t length = weir_printable_length_((const unsigned char *)bytes, size);

        if (length == 0)
            return false;
        bytes += length;
        size -= length;
    }
    return true;
}

static void print_base64(FILE *out, const char *text, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *bytes = (const unsigned char *)text;

    (void)fputc('"', out);
    for (size_t i = 0; i < size; i += 3) {
        size_t left = size - i;
        uint32_t group = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                         (left > 2 ? bytes[i + 2] : 0);

        (void)fputc(digits[group >> 18], out);
        (void)fputc(digits[group >> 12 & 63], out);
        (void)fputc(left > 1 ? digits[group >> 6 & 63] : '=', out);
        (void)fputc(left > 2 ? digits[group & 63] : '=', out);
    }
    (void)fputc('"', out);
}

void text_json_payload(FILE *out, const char *bytes, size_t size)
{
    if (is_utf8(bytes, size)) {
        print_name(out, "payload");
        print_string(out, bytes, size);
    } else {
        print_name(out, "payload_base64");
        print_base64(out, bytes, size);
    }
}
