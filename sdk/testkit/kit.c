/* SPDX-License-Identifier: MIT */
#include "kit.h"

#include <stdlib.h>

#define PID_OF_WORKER ((weir_pid)0x100) /* of worker 0; any number but 0 would do */

struct weir_kit *kit_of(struct weir_self *self)
{
    return (struct weir_kit *)(void *)self;
}

weir_pid kit_pid(const struct weir_kit *kit)
{
    return PID_OF_WORKER + kit->index;
}

void *kit_take(size_t size)
{
    void *memory = calloc(1, size);

    if (!memory)
        abort();
    return memory;
}

void kit_problem(struct weir_kit *kit, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    kit_text_format_list(&kit->problems, format, arguments);
    va_end(arguments);
    kit_text_add(&kit->problems, "\n", 1);
    kit->problem_count++;
}

bool kit_allocation_fails(struct weir_kit *kit)
{
    if (kit->fail_in == 0)
        return false;
    if (kit->fail_in > 1) {
        kit->fail_in--;
        return false;
    }
    if (kit->fail_count != UINT32_MAX && --kit->fail_count == 0)
        kit->fail_in = 0;
    return true;
}
