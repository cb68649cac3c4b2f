/* SPDX-License-Identifier: MIT */
#include "unit/support/steps.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "unit/support/wrapped.h"

static _Thread_local uint64_t steps;

uint64_t steps_taken(void)
{
    return steps;
}

int __real_vsnprintf(char *text, size_t size, const char *format, va_list arguments);
int __wrap_vsnprintf(char *text, size_t size, const char *format, va_list arguments);
int __wrap_snprintf(char *text, size_t size, const char *format, ...);

void *__wrap_malloc(size_t size)
{
    steps++;
    return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    steps++;
    return __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    steps++;
    return __real_realloc(memory, size);
}

int __wrap_vsnprintf(char *text, size_t size, const char *format, va_list arguments)
{
    steps++;
    return __real_vsnprintf(text, size, format, arguments);
}

int __wrap_snprintf(char *text, size_t size, const char *format, ...)
{
    va_list arguments;
    int length;

    steps++;
    va_start(arguments, format);
    length = __real_vsnprintf(text, size, format, arguments);
    va_end(arguments);
    return length;
}
