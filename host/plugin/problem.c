#include "host/plugin/problem.h"

#include <stdio.h>

int problem_set(struct problem *problem, int status, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(problem->text, sizeof problem->text, format, arguments);
    va_end(arguments);
    return status;
}
