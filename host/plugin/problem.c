/* SPDX-License-Identifier: MIT */
#include "host/plugin/problem.h"

#include <stdio.h>
#include <string.h>

#include <weir/printable.h>

int problem_set(struct problem *problem, int status, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(problem->text, sizeof problem->text, format, arguments);
    va_end(arguments);
    weir_printable_replace(problem->text, strlen(problem->text));
    return status;
}
