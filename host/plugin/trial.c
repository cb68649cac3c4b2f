/* SPDX-License-Identifier: MIT */
#include "host/plugin/trial.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/plugin/probe.h"
#include "host/plugin/shared_object.h"

/* --- writing -------------------------------------------------------------------------------- */

static void put_number(struct trial *trial, uint32_t number)
{
    (void)fwrite(&number, sizeof number, 1, trial->stream);
}

/* With its NUL, so that the reader need not copy it. */
static void put_text(struct trial *trial, const char *text)
{
    size_t size = strlen(text) + 1;

    put_number(trial, (uint32_t)size); /* no text is longer than a file */
    (void)fwrite(text, size, 1, trial->stream);
}

static void put_texts(struct trial *trial, const struct option_text *texts, size_t count)
{
    put_number(trial, texts ? (uint32_t)count : UINT32_MAX);
    for (size_t i = 0; texts && i < count; i++)
        put_text(trial, texts[i].text);
}

static void put_value(struct trial *trial, const struct option_value *value)
{
    put_text(trial, value->name);
    put_number(trial, value->shape);
    put_text(trial, value->scalar.text);
    put_texts(trial, value->keys, value->count);
    put_texts(trial, value->items, value->count);
}

int trial_begin(struct trial *trial)
{
    const struct probe_steps none = { 0 };

    *trial = (struct trial){ 0 };
    trial->stream = open_memstream(&trial->bytes, &trial->size);
    if (!trial->stream)
        return WEIR_ENOMEM;
    (void)fwrite(&none, sizeof none, 1, trial->stream);
    return WEIR_OK;
}

void trial_add(struct trial *trial, struct trial_behaviour *behaviour,
               const struct catalogue_check *check)
{
    bool is_new = behaviour->number == UINT32_MAX;

    if (is_new)
        behaviour->number = trial->behaviours++;
    put_number(trial, behaviour->number);
    if (is_new) {
        put_text(trial, behaviour->loaded->copy);
        put_text(trial, behaviour->loaded->file);
        put_text(trial, behaviour->name);
    }
    put_number(trial, (uint32_t)check->count);
    for (size_t i = 0; i < check->count; i++)
        put_value(trial, &check->values[i]);
}

static bool write_all(int descriptor, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t written = write(descriptor, bytes, size);

        if (written < 0 && errno != EINTR)
            return false;
        bytes += written > 0 ? written : 0;
        size -= written > 0 ? (size_t)written : 0;
    }
    return true;
}

int trial_end(struct trial *trial)
{
    bool complete = !ferror(trial->stream);
    int descriptor = -1;

    complete = fclose(trial->stream) == 0 && complete;
    if (complete)
        descriptor = memfd_create("weir trial", MFD_CLOEXEC);
    else
        errno = ENOMEM;
    if (descriptor >= 0 && !write_all(descriptor, trial->bytes, trial->size)) {
        int error = errno;

        close(descriptor);
        descriptor = -1;
        errno = error;
    }
    free(trial->bytes);
    return descriptor;
}

/* --- carrying out --------------------------------------------------------------------------- */

struct tried {
    struct descriptor descriptor; /* owned */
    const struct weir_behaviour *behaviour;
};

/* The reading of one trial. */
struct trying {
    struct probe_steps *steps; /* then the calls: mapped, shared with the parent */
    const char *at;
    const char *end;
    struct tried *tried; /* owned */
    uint32_t tried_count;
    struct text_store store; /* of one call */
    int status;              /* the first failure */
    struct problem *problem; /* borrowed: its reason */
};

static const char *take(struct trying *trying, size_t size)
{
    const char *bytes = trying->at;

    if (size > (size_t)(trying->end - trying->at))
        trying->status = WEIR_EINVALID;
    if (trying->status != WEIR_OK)
        return NULL;
    trying->at += size;
    return bytes;
}

static uint32_t take_number(struct trying *trying)
{
    const char *bytes = take(trying, sizeof(uint32_t));
    uint32_t number = 0;

    if (bytes)
        memcpy(&number, bytes, sizeof number);
    return number;
}

static const char *take_text(struct trying *trying)
{
    const char *text = take(trying, take_number(trying));

    return text ? text : "";
}

static void *take_array(struct trying *trying, size_t count, size_t size)
{
    void *array = NULL;

    /* Each value takes at least one byte, so a larger count is wrong. */
    if (count > (size_t)(trying->end - trying->at))
        trying->status = WEIR_EINVALID;
    if (trying->status != WEIR_OK)
        return NULL;
    array = text_store_take_array(&trying->store, count, size);
    if (!array)
        trying->status = WEIR_ENOMEM;
    return array;
}

static const struct option_text *take_texts(struct trying *trying, size_t *out_count)
{
    uint32_t count = take_number(trying);
    struct option_text *texts = count == UINT32_MAX ? NULL
                                                    : take_array(trying, count, sizeof *texts);

    for (uint32_t i = 0; texts && i < count; i++)
        texts[i] = (struct option_text){ .text = take_text(trying) };
    if (texts)
        *out_count = count;
    return texts;
}

static void take_value(struct trying *trying, struct option_value *out)
{
    *out = (struct option_value){ .name = take_text(trying) };
    out->shape = (enum option_shape)take_number(trying);
    out->scalar.text = take_text(trying);
    out->keys = take_texts(trying, &out->count);
    out->items = take_texts(trying, &out->count);
}

/* Opens the plugin again, though the host has loaded it, and never closes it. */
static void open_behaviour(struct trying *trying)
{
    const char *copy = take_text(trying);
    const char *file = take_text(trying);
    const char *name = take_text(trying);
    struct tried *tried;

    if (trying->status != WEIR_OK)
        return;
    tried = realloc(trying->tried, (trying->tried_count + (size_t)1) * sizeof *tried);
    if (!tried) {
        trying->status = WEIR_ENOMEM;
        return;
    }
    trying->tried = tried;
    tried += trying->tried_count;
    trying->status = shared_object_look(copy, file, &tried->descriptor, trying->problem);
    if (trying->status != WEIR_OK)
        return;
    trying->tried_count++;
    tried->behaviour = descriptor_find(&tried->descriptor, name, trying->problem);
    if (!tried->behaviour)
        trying->status = WEIR_EINVALID;
}

static const struct weir_behaviour *take_behaviour(struct trying *trying)
{
    uint32_t number = take_number(trying);

    if (trying->status == WEIR_OK && number == trying->tried_count)
        open_behaviour(trying);
    if (trying->status == WEIR_OK && number >= trying->tried_count)
        trying->status = WEIR_EINVALID;
    return trying->status == WEIR_OK ? trying->tried[number].behaviour : NULL;
}

/* Ignored: the parent process calls `check` again, and reports. */
static void on_error(struct weir_report *report, const char *option, const char *reason)
{
    (void)report;
    (void)option;
    (void)reason;
}

static void call(struct trying *trying, const struct weir_behaviour *behaviour,
                 const struct option_value *values, size_t count)
{
    const struct option_place nowhere = { "", { NULL, 0, 0 } };
    struct weir_report report = { on_error };
    struct options *options = NULL;

    trying->status = options_parse(behaviour->options, behaviour->settings_size, values, count,
                                   &nowhere, NULL, &options);
    if (trying->status != WEIR_OK)
        return;
    /* Release: the parent sees the steps in this order, at the latest after our end. */
    atomic_fetch_add_explicit(&trying->steps->begun, 1, memory_order_release);
    behaviour->check(options_settings(options), &report);
    atomic_fetch_add_explicit(&trying->steps->returned, 1, memory_order_release);
    options_destroy(options);
}

static void make_call(struct trying *trying)
{
    const struct weir_behaviour *behaviour = take_behaviour(trying);
    uint32_t count = take_number(trying);
    struct option_value *values = take_array(trying, count, sizeof *values);

    for (uint32_t i = 0; values && i < count; i++)
        take_value(trying, &values[i]);
    if (trying->status == WEIR_OK)
        call(trying, behaviour, values, count);
}

static int make_calls(struct probe_steps *steps, size_t size, struct problem *problem)
{
    struct trying trying = { .problem = problem,
                             .steps = steps,
                             .at = (const char *)(steps + 1),
                             .end = (const char *)steps + size };

    while (trying.status == WEIR_OK && trying.at < trying.end) {
        text_store_init(&trying.store);
        make_call(&trying);
        text_store_finish(&trying.store);
    }
    while (trying.tried_count > 0)
        descriptor_finish(&trying.tried[--trying.tried_count].descriptor);
    free(trying.tried);
    return trying.status;
}

int trial_carry_out(int descriptor, struct problem *problem)
{
    struct stat status;
    void *mapped;
    int result;

    problem->text[0] = '\0';
    if (fstat(descriptor, &status) != 0 || (size_t)status.st_size < sizeof(struct probe_steps))
        return WEIR_EINVALID;
    mapped = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (mapped == MAP_FAILED)
        return WEIR_ENOMEM;
    result = make_calls(mapped, (size_t)status.st_size, problem);
    (void)munmap(mapped, (size_t)status.st_size);
    return result;
}
