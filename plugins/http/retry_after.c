/* SPDX-License-Identifier: MIT */
#include "retry_after.h"

#include <curl/curl.h>
#include <string.h>

#define NAME "retry-after:"
#define NAME_SIZE (sizeof NAME - 1)
#define DATE_SIZE_MAX 64u /* the longest form has 33 bytes */

static uint64_t read_seconds(const char *digits, size_t size)
{
    uint64_t seconds = 0;

    for (size_t i = 0; i < size && seconds < RETRY_AFTER_MAX; i++)
        seconds = seconds * 10 + (uint64_t)(digits[i] - '0');
    return seconds < RETRY_AFTER_MAX ? seconds : RETRY_AFTER_MAX;
}

/* All three forms of a date begin with the name of a day. */
static uint64_t read_date(const char *value, size_t size, time_t now)
{
    char text[DATE_SIZE_MAX];
    time_t date;

    if (size >= sizeof text || !memchr("MTWFS", value[0], 5))
        return 0;
    memcpy(text, value, size);
    text[size] = '\0';
    date = curl_getdate(text, NULL);
    if (date <= now)
        return 0;
    return (uint64_t)(date - now) < RETRY_AFTER_MAX ? (uint64_t)(date - now) : RETRY_AFTER_MAX;
}

static uint64_t read_value(const char *value, size_t size, time_t now)
{
    size_t digits = 0;

    while (size > 0 && (value[0] == ' ' || value[0] == '\t'))
        value++, size--;
    while (size > 0 && (value[size - 1] == ' ' || value[size - 1] == '\t'))
        size--;
    while (digits < size && value[digits] >= '0' && value[digits] <= '9')
        digits++;
    if (size == 0)
        return 0;
    return digits == size ? read_seconds(value, size) : read_date(value, size, now);
}

uint64_t retry_after_read(const char *lines, size_t size, time_t now)
{
    uint64_t longest = 0;

    while (size > 0) {
        const char *stop = memchr(lines, '\n', size);
        size_t length = stop ? (size_t)(stop - lines) : size;

        if (length > NAME_SIZE && memcmp(lines, NAME, NAME_SIZE) == 0) {
            uint64_t seconds = read_value(lines + NAME_SIZE, length - NAME_SIZE, now);

            longest = seconds > longest ? seconds : longest;
        }
        size -= stop ? length + 1 : length;
        lines += stop ? length + 1 : length;
    }
    return longest;
}
