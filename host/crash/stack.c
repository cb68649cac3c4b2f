/* SPDX-License-Identifier: MIT */
#include "host/crash/stack.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <stdint.h>
#include <string.h>

#include "host/log/line.h"

#define FRAMES_LOGGED 12
#define NAME_SIZE 192

void stack_prepare(void)
{
    void *frame;

    (void)backtrace(&frame, 1);
}

/* Where the frame is: the instruction that was interrupted, or the call that has not returned. A
 * frame is the address after a call, which may be behind the end of the function. */
static const char *place_of(void *const *frames, int index)
{
    return (const char *)frames[index] - (index > 0);
}

/* `function (plugin.so+0x1234)`, `function`, or `library+0x1234`. */
static void add_frame(struct line *line, const Dl_info *info, const char *place)
{
    const char *file = strrchr(info->dli_fname, '/');

    if (info->dli_sname)
        line_format(line, "%s", info->dli_sname);
    else
        line_format(line, "%s+0x%zx", file ? file + 1 : info->dli_fname,
                    (size_t)(place - (const char *)info->dli_fbase));
}

void stack_describe(const struct stack_names *names, void *const *frames, int count, char *text,
                    size_t size)
{
    bool is_in_plugin = false;
    char name[NAME_SIZE];
    Dl_info own, info;
    struct line line;

    if (!dladdr((const void *)(uintptr_t)stack_describe, &own))
        own.dli_fbase = NULL;
    line_init(&line, text, size);
    for (int i = 0; i < count && i < FRAMES_LOGGED; i++) {
        const char *place = place_of(frames, i);
        bool is_known = dladdr(place, &info) && info.dli_fname;

        if (is_in_plugin && is_known && info.dli_fbase == own.dli_fbase)
            return;
        if (i > 0)
            line_text(&line, " < ");
        if (is_known && names->find &&
            names->find(names->context, info.dli_fbase, place, name, sizeof name)) {
            line_text(&line, name);
            is_in_plugin = true;
        } else if (is_known) {
            add_frame(&line, &info, place);
        } else {
            line_format(&line, "%p", frames[i]);
        }
    }
}
