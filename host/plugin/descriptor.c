/* SPDX-License-Identifier: MIT */
#include "host/plugin/descriptor.h"

#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "base/plural.h"
#include "base/text.h"

/* Added to a complaint about a row that lies after a missing end. */
#define NO_END "; does its table end with a row of zeros, { 0 }?"

#define SETTINGS_MAX ((uint32_t)1024 * 1024) /* of one behaviour; options are not meant for data */

/* The end of a field: a struct of version 1.0 ends after the last field of that version. */
#define END_OF(type, field) ((uint32_t)(offsetof(type, field) + sizeof(((type *)0)->field)))

struct descriptor_abi descriptor_abi(void)
{
    return (struct descriptor_abi){
        .minor = WEIR_ABI_MINOR,
        .plugin_min = END_OF(struct weir_plugin, reserved),
        .plugin_max = sizeof(struct weir_plugin),
        .behaviour_min = END_OF(struct weir_behaviour, close),
        .behaviour_max = sizeof(struct weir_behaviour),
        .option_min = END_OF(struct weir_option, reserved),
        .option_max = sizeof(struct weir_option),
        .output_min = END_OF(struct weir_output, reserved),
        .output_max = sizeof(struct weir_output),
    };
}

/* The reading of one plugin. */
struct reading {
    const struct weir_plugin *plugin;
    const struct descriptor_abi *abi;
    const char *file;
    const char *behaviour; /* NULL outside of a behaviour */
    struct problem *problem;
};

/* Writes a sentence that begins with the file and, if there is one, the behaviour. */
WEIR_PRINTF(2, 3) static int refuse(const struct reading *reading, const char *format, ...)
{
    char words[PROBLEM_SIZE];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    if (reading->behaviour)
        return problem_set(reading->problem, WEIR_EINVALID, "%s: behaviour %.*s: %s", reading->file,
                           DESCRIPTOR_NAME_MAX, reading->behaviour, words);
    return problem_set(reading->problem, WEIR_EINVALID, "%s: %s", reading->file, words);
}

static int out_of_memory(const struct reading *reading)
{
    return problem_set(reading->problem, WEIR_ENOMEM, "%s: out of memory", reading->file);
}

static int check_version(const struct reading *reading)
{
    const struct weir_plugin *plugin = reading->plugin;
    const struct descriptor_abi *abi = reading->abi;

    if (plugin->abi_minor > abi->minor)
        return problem_set(reading->problem, WEIR_EUNSUPPORTED,
                           "%s: is built for SDK %d.%u, this host speaks %d.%u; upgrade the host, "
                           "or rebuild the plugin with its SDK",
                           reading->file, WEIR_ABI_MAJOR, plugin->abi_minor, WEIR_ABI_MAJOR,
                           abi->minor);
    if (plugin->size < abi->plugin_min || plugin->size > abi->plugin_max)
        return problem_set(reading->problem, WEIR_EUNSUPPORTED,
                           "%s: its descriptor has %u %s, SDK %d.0 to %d.%u have %u to %u; "
                           "rebuild the plugin",
                           reading->file, plugin->size, plural(plugin->size, "byte", "bytes"),
                           WEIR_ABI_MAJOR, WEIR_ABI_MAJOR, abi->minor, abi->plugin_min,
                           abi->plugin_max);
    return WEIR_OK;
}

static int check_stride(const struct reading *reading, const char *what, uint32_t found,
                        uint32_t min, uint32_t max)
{
    if (found >= min && found <= max && found % sizeof(void *) == 0)
        return WEIR_OK;
    return refuse(reading, "its rows of %s have %u %s, must have %u to %u; rebuild the plugin",
                  what, found, plural(found, "byte", "bytes"), min, max);
}

static int check_strides(const struct reading *reading)
{
    const struct weir_plugin *plugin = reading->plugin;
    const struct descriptor_abi *abi = reading->abi;
    int status = check_stride(reading, "behaviours", plugin->behaviour_size, abi->behaviour_min,
                              abi->behaviour_max);

    if (status == WEIR_OK)
        status = check_stride(reading, "options", plugin->option_size, abi->option_min,
                              abi->option_max);
    if (status == WEIR_OK)
        status = check_stride(reading, "outputs", plugin->output_size, abi->output_min,
                              abi->output_max);
    return status;
}

/* Names are used in YAML and in metrics: letters, digits, `_` and `-`, a letter first. */
static bool is_name(const char *name)
{
    size_t length = strnlen(name, DESCRIPTOR_NAME_MAX + 1);

    if (length == 0 || length > DESCRIPTOR_NAME_MAX)
        return false;
    for (size_t i = 0; i < length; i++) {
        char c = name[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

        if (!letter && (i == 0 || !((c >= '0' && c <= '9') || c == '_' || c == '-')))
            return false;
    }
    return true;
}

static int check_identity(const struct reading *reading)
{
    const struct weir_plugin *plugin = reading->plugin;
    const char *slash = strrchr(reading->file, '/');
    const char *base = slash ? slash + 1 : reading->file;
    size_t length = strlen(base);

    if (length > 3 && strcmp(base + length - 3, ".so") == 0)
        length -= 3;
    if (!plugin->name || !is_name(plugin->name))
        return refuse(reading, "its descriptor has no valid name");
    if (!plugin->version || !plugin->version[0] || strnlen(plugin->version, 64) == 64)
        return refuse(reading, "its descriptor has no valid version");
    if (strlen(plugin->name) != length || memcmp(plugin->name, base, length) != 0)
        return refuse(reading, "calls itself %s; a plugin's file is called NAME.so", plugin->name);
    return WEIR_OK;
}

/* The first pointer of every row is its name; a row without one ends the table. */
static const char *row_name(const void *table, uint32_t stride, size_t index)
{
    const char *name;

    memcpy(&name, (const char *)table + index * stride, sizeof name);
    return name;
}

/* Counts the rows before the row of zeros; max + 1 when there is none. A NULL table has none. */
static size_t count_rows(const void *table, uint32_t stride, size_t max)
{
    size_t count = 0;

    while (table && count <= max && row_name(table, stride, count))
        count++;
    return count;
}

/*
 * Copies `count` rows of `stride` bytes into an array of rows of `size`, with a row of zeros at
 * its end. Returns owned, NULL when memory is out. A longer row is never read past `size`.
 */
static void *copy_rows(const void *table, uint32_t stride, size_t count, size_t size)
{
    char *copy = calloc(count + 1, size);

    for (size_t i = 0; copy && i < count; i++)
        memcpy(copy + i * size, (const char *)table + i * stride, stride < size ? stride : size);
    return copy;
}

static int check_options(const struct reading *reading, const struct weir_option *options,
                         uint32_t settings_size)
{
    struct problem wrong = { "" };
    int status;

    for (const struct weir_option *option = options; option->name; option++) {
        if (!is_name(option->name))
            return refuse(reading, "an option has no valid name" NO_END);
    }
    status = options_check_table(options, settings_size, wrong.text, sizeof wrong.text);
    if (status == WEIR_ENOMEM)
        return out_of_memory(reading);
    return status == WEIR_OK ? status : refuse(reading, "%.400s", wrong.text);
}

static int read_options(const struct reading *reading, const struct weir_option *table,
                        struct weir_behaviour *behaviour)
{
    uint32_t stride = reading->plugin->option_size;
    size_t count = count_rows(table, stride, DESCRIPTOR_OPTIONS_MAX);
    struct weir_option *options;

    if (count > DESCRIPTOR_OPTIONS_MAX)
        return refuse(reading, "has more than %d options, or no row of zeros after them",
                      DESCRIPTOR_OPTIONS_MAX);
    options = copy_rows(table, stride, count, sizeof *options);
    if (!options)
        return out_of_memory(reading);
    behaviour->options = options;
    return check_options(reading, options, behaviour->settings_size);
}

static int check_outputs(const struct reading *reading, const struct weir_output *outputs)
{
    for (const struct weir_output *output = outputs; output->name; output++) {
        if (!is_name(output->name))
            return refuse(reading, "an output has no valid name" NO_END);
        for (const struct weir_output *other = outputs; other < output; other++) {
            if (strcmp(other->name, output->name) == 0)
                return refuse(reading, "has two outputs called %s", output->name);
        }
    }
    return WEIR_OK;
}

static int read_outputs(const struct reading *reading, const struct weir_output *table,
                        struct weir_behaviour *behaviour)
{
    uint32_t stride = reading->plugin->output_size;
    size_t count = count_rows(table, stride, DESCRIPTOR_OUTPUTS_MAX);
    struct weir_output *outputs;

    if (count > DESCRIPTOR_OUTPUTS_MAX)
        return refuse(reading, "has more than %d outputs, or no row of zeros after them",
                      DESCRIPTOR_OUTPUTS_MAX);
    outputs = copy_rows(table, stride, count, sizeof *outputs);
    if (!outputs)
        return out_of_memory(reading);
    behaviour->outputs = outputs;
    return check_outputs(reading, outputs);
}

static int check_behaviour(const struct reading *reading, const struct weir_behaviour *behaviour)
{
    if (!behaviour->handle && !behaviour->produce)
        return refuse(reading, "has neither handle nor produce");
    if (behaviour->settings_size > SETTINGS_MAX)
        return refuse(reading, "its settings have %u bytes, at most %u are possible",
                      behaviour->settings_size, SETTINGS_MAX);
    if (behaviour->state_size > DESCRIPTOR_STATE_MAX)
        return refuse(reading, "its state has %u bytes, at most %u are possible; allocate in open",
                      behaviour->state_size, DESCRIPTOR_STATE_MAX);
    return WEIR_OK;
}

static int check_unique(const struct reading *reading, const struct descriptor *descriptor,
                        size_t index)
{
    const char *name = descriptor->behaviours[index].name;

    if (!name || !is_name(name))
        return refuse(reading, "behaviour %zu has no valid name" NO_END, index + 1);
    for (size_t i = 0; i < index; i++) {
        if (strcmp(descriptor->behaviours[i].name, name) == 0)
            return refuse(reading, "has two behaviours called %s", name);
    }
    return WEIR_OK;
}

/* Reads the row at `index`: its tables become copies, or NULL. */
static int read_behaviour(struct reading *reading, struct descriptor *descriptor, size_t index)
{
    struct weir_behaviour *behaviour = &descriptor->behaviours[index];
    const struct weir_option *options = behaviour->options;
    const struct weir_output *outputs = behaviour->outputs;
    int status;

    behaviour->options = NULL;
    behaviour->outputs = NULL;
    descriptor->behaviour_count = index + 1;
    status = check_unique(reading, descriptor, index);
    if (status != WEIR_OK)
        return status;
    reading->behaviour = behaviour->name;
    status = check_behaviour(reading, behaviour);
    if (status == WEIR_OK)
        status = read_options(reading, options, behaviour);
    if (status == WEIR_OK)
        status = read_outputs(reading, outputs, behaviour);
    reading->behaviour = NULL;
    return status;
}

/* A plugin has a table of behaviours, or a list of pointers to them. NULL after the last. */
static const void *behaviour_at(const struct weir_plugin *plugin, size_t index)
{
    if (plugin->behaviour_list)
        return plugin->behaviour_list[index];
    if (!plugin->behaviours || !row_name(plugin->behaviours, plugin->behaviour_size, index))
        return NULL;
    return (const char *)plugin->behaviours + index * plugin->behaviour_size;
}

/* DESCRIPTOR_BEHAVIOURS_MAX + 1 when the table has no end. */
static size_t count_behaviours(const struct weir_plugin *plugin)
{
    size_t count = 0;

    while (count <= DESCRIPTOR_BEHAVIOURS_MAX && behaviour_at(plugin, count))
        count++;
    return count;
}

/* Returns owned, with a row of zeros at its end; NULL when memory is out. */
static struct weir_behaviour *copy_behaviours(const struct weir_plugin *plugin, size_t count)
{
    struct weir_behaviour *copy = calloc(count + 1, sizeof *copy);
    size_t size = plugin->behaviour_size;

    for (size_t i = 0; copy && i < count; i++)
        memcpy(&copy[i], behaviour_at(plugin, i), size < sizeof *copy ? size : sizeof *copy);
    return copy;
}

static int read_behaviours(struct reading *reading, struct descriptor *out)
{
    size_t count = count_behaviours(reading->plugin);
    int status = WEIR_OK;

    if (count == 0)
        return refuse(reading, "has no behaviours");
    if (count > DESCRIPTOR_BEHAVIOURS_MAX)
        return refuse(reading, "has more than %d behaviours, or no row of zeros after them",
                      DESCRIPTOR_BEHAVIOURS_MAX);
    out->behaviours = copy_behaviours(reading->plugin, count);
    if (!out->behaviours)
        return out_of_memory(reading);
    for (size_t i = 0; i < count && status == WEIR_OK; i++)
        status = read_behaviour(reading, out, i);
    return status;
}

int descriptor_read(const struct weir_plugin *plugin, const struct descriptor_abi *abi,
                    const char *file, struct descriptor *out, struct problem *problem)
{
    struct reading reading = { plugin, abi, file, NULL, problem };
    struct descriptor made = { .abi_minor = plugin->abi_minor };
    struct weir_plugin copy = { 0 };
    int status = check_version(&reading);

    /* From here on fields that the plugin's SDK did not have are 0, and its struct is not read past
     * its size. */
    if (status == WEIR_OK) {
        memcpy(&copy, plugin, plugin->size < sizeof copy ? plugin->size : sizeof copy);
        reading.plugin = &copy;
        made.flags = copy.flags;
    }
    if (status == WEIR_OK)
        status = check_strides(&reading);
    if (status == WEIR_OK)
        status = check_identity(&reading);
    if (status == WEIR_OK)
        status = read_behaviours(&reading, &made);
    if (status != WEIR_OK) {
        descriptor_finish(&made);
        return status;
    }
    made.name = plugin->name;
    made.version = plugin->version;
    *out = made;
    return WEIR_OK;
}

void descriptor_finish(struct descriptor *descriptor)
{
    for (size_t i = 0; i < descriptor->behaviour_count; i++) {
        free((void *)descriptor->behaviours[i].options);
        free((void *)descriptor->behaviours[i].outputs);
    }
    free(descriptor->behaviours);
    descriptor->behaviours = NULL;
    descriptor->behaviour_count = 0;
}

/* `; it has a, b`, as many as fit. */
static void list_behaviours(const struct descriptor *descriptor, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < descriptor->behaviour_count && used < size; i++) {
        int length = snprintf(text + used, size - used, "%s%s", i == 0 ? "; it has " : ", ",
                              descriptor->behaviours[i].name);

        used += (size_t)(length > 0 ? length : 0);
    }
}

const struct weir_behaviour *descriptor_find(const struct descriptor *descriptor, const char *name,
                                             struct problem *problem)
{
    struct text_guess guess;
    const char *best;
    char hint[256];

    text_guess_init(&guess, name);
    for (size_t i = 0; i < descriptor->behaviour_count; i++) {
        if (strcmp(descriptor->behaviours[i].name, name) == 0)
            return &descriptor->behaviours[i];
        text_guess_offer(&guess, descriptor->behaviours[i].name);
    }
    best = text_guess_best(&guess);
    if (best)
        (void)snprintf(hint, sizeof hint, "; did you mean \"%s\"?", best);
    else
        list_behaviours(descriptor, hint, sizeof hint);
    (void)problem_set(problem, WEIR_EUNKNOWN, "plugin %s has no behaviour \"%.64s\"%s",
                      descriptor->name, name, hint);
    return NULL;
}
