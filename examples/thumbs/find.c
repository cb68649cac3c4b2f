/* SPDX-License-Identifier: MIT */
#include "find.h"

#include "thumbs.h"

#define OUTPUT_OUT 0u
#define EXIT_INCOMPLETE 1
#define NO_MEMORY_MS 10u

int find_open(struct weir_self *self, const void *settings, void *memory)
{
    const struct find_settings *wanted = settings;
    struct find *state = memory;
    int flags = 0;

    state->tag = weir_tag(self, THUMBS_PICTURE_TAG);
    if (!state->tag)
        return WEIR_ENOMEM;
    for (size_t i = 0; i < wanted->paths.count; i++, flags = GLOB_APPEND) {
        int failed = glob(wanted->paths.items[i], flags, NULL, &state->files);

        if (failed == GLOB_NOMATCH) {
            weir_log(self, WEIR_LOG_WARNING, "no picture matches",
                     weir_str("paths", wanted->paths.items[i]));
            weir_exit_status(self, EXIT_INCOMPLETE);
        } else if (failed) {
            globfree(&state->files);
            return WEIR_ENOMEM;
        }
    }
    return 0;
}

static int emit_path(struct weir_self *self, const struct find *state, const char *path)
{
    size_t size = strlen(path);
    struct weir_message *message = weir_message_new(self, state->tag,
                                                    sizeof(struct thumbs_picture) + size + 1);
    struct thumbs_picture *picture;
    int status;

    if (!message)
        return WEIR_ENOMEM;
    picture = message->data;
    picture->path_size = (uint32_t)size;
    memcpy(picture + 1, path, size);
    status = weir_emit(self, OUTPUT_OUT, message);
    if (status < 0)
        weir_message_free(self, message);
    return status;
}

static void wake_up(struct weir_self *self, void *state, void *context)
{
    (void)self;
    (void)state;
    (void)context;
}

/* Emits as many as there is room for. A path that was refused is tried again. */
int find_produce(struct weir_self *self, void *memory, uint32_t credit)
{
    struct find *state = memory;

    while (state->next < state->files.gl_pathc && credit-- > 0) {
        int status = emit_path(self, state, state->files.gl_pathv[state->next]);

        if (status == WEIR_EFULL)
            return WEIR_MORE;
        if (status < 0)
            return weir_after(self, NO_MEMORY_MS, wake_up, NULL, NULL) == 0 ? WEIR_WAIT : status;
        state->next++;
        weir_progress(self, "pictures", state->next, state->files.gl_pathc);
    }
    return state->next < state->files.gl_pathc ? WEIR_MORE : WEIR_END;
}

void find_close(struct weir_self *self, void *memory, int reason)
{
    struct find *state = memory;

    (void)self;
    (void)reason;
    globfree(&state->files);
}

const struct weir_option find_options[] = {
    WEIR_OPTION_LIST(struct find_settings, paths, .help = "globs of the pictures, in this order",
                     .min = 1, .max = 1000, .required = true),
    { 0 },
};

const struct weir_output find_outputs[] = {
    { .name = "out", .help = "each path, as thumbs.picture/1" },
    { 0 },
};
