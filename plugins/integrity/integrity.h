/* SPDX-License-Identifier: MIT */
/*
 * integrity.h - the message of the plugin `integrity`: the result for one file.
 *
 * For plugins that receive it. Inline only: there is nothing to link. The layout is frozen; a
 * changed one gets another tag.
 */
#ifndef INTEGRITY_H
#define INTEGRITY_H

#include <weir/message.h>

#define INTEGRITY_RESULT_TAG "integrity.result/1"

/* Numbers of the outputs, too: output N carries the results with verdict N. */
enum integrity_verdict {
    INTEGRITY_OK = 0,         /* it has the checksum of the list */
    INTEGRITY_CHANGED = 1,    /* it has another one */
    INTEGRITY_MISSING = 2,    /* there is no such file */
    INTEGRITY_UNREADABLE = 3, /* the file exists, but could not be read to its end */
};
#define INTEGRITY_VERDICTS 4u

/* The payload begins with this; the package, a NUL, the path and a NUL follow. */
struct integrity_result {
    uint32_t verdict;      /* enum integrity_verdict */
    int32_t error;         /* errno of missing and unreadable; 0: it is not a regular file */
    uint64_t bytes;        /* read and summed */
    uint32_t package_size; /* bytes, without its NUL */
    uint32_t path_size;    /* bytes, without its NUL */
};

/* The payload of a message tagged INTEGRITY_RESULT_TAG; NULL when it is none, as files_line_get.
 * Borrowed. */
static inline const struct integrity_result *integrity_result_get(
    const struct weir_message *message)
{
    const struct integrity_result *result = (const struct integrity_result *)message->data;
    const char *package;

    if (message->size < sizeof *result || result->verdict >= INTEGRITY_VERDICTS)
        return NULL;
    if (message->size !=
        sizeof *result + (size_t)result->package_size + (size_t)result->path_size + 2)
        return NULL;
    package = (const char *)(result + 1);
    if (package[result->package_size] || package[message->size - sizeof *result - 1])
        return NULL;
    return result;
}

/* The package that owns the file; ends with NUL. Borrowed from the message. */
static inline const char *integrity_result_package(const struct integrity_result *result)
{
    return (const char *)(result + 1);
}

/* The file, relative to the root; ends with NUL. Borrowed from the message. */
static inline const char *integrity_result_path(const struct integrity_result *result)
{
    return integrity_result_package(result) + result->package_size + 1;
}

/* The word for a verdict. Static. */
static inline const char *integrity_verdict_name(uint32_t verdict)
{
    static const char *const names[INTEGRITY_VERDICTS] = { "ok", "changed", "missing",
                                                           "unreadable" };

    return verdict < INTEGRITY_VERDICTS ? names[verdict] : "?";
}

#endif
