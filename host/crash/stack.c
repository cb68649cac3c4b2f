/* SPDX-License-Identifier: MIT */
#include "host/crash/stack.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <string.h>

#include "host/log/line.h"

#define FRAMES_LOGGED 12
#define NAME_SIZE 128

void stack_prepare(void)
{
    void *frame;

    (void)backtrace(&frame, 1);
}

/* `function` or `library+0x1234`, which addr2line takes. A frame is the address after a call, which
 * may be behind the end of the function. */
static void add_frame(struct line *line, const struct stack_names *names, const void *frame)
{
    char name[NAME_SIZE];
    Dl_info info;
    const char *file;

    if (!dladdr(frame, &info) || !info.dli_fname) {
        line_format(line, "%p", frame);
        return;
    }
    file = strrchr(info.dli_fname, '/');
    file = file ? file + 1 : info.dli_fname;
    if (names->find &&
        names->find(names->context, info.dli_fbase, (const char *)frame - 1, name, sizeof name))
        line_format(line, "%s", name);
    else if (info.dli_sname)
        line_format(line, "%s", info.dli_sname);
    else
        line_format(line, "%s+0x%zx", file,
                    (size_t)((const char *)frame - (const char *)info.dli_fbase));
}

void stack_describe(const struct stack_names *names, void *const *frames, int count, char *text,
                    size_t size)
{
    struct line line;

    line_init(&line, text, size);
    for (int i = 0; i < count && i < FRAMES_LOGGED; i++) {
        if (i > 0)
            line_text(&line, " < ");
        add_frame(&line, names, frames[i]);
    }
}
