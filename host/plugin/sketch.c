/* SPDX-License-Identifier: MIT */
#include "host/plugin/sketch.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/option_kind.h"
#include "host/plugin/describe.h"

#define KIND_SIZE 256 /* of an option's kind with its choices */

/* --- the chain -------------------------------------------------------------------------------- */

static bool is_source(const struct sketch_part *part)
{
    return part->behaviour->produce && !part->behaviour->handle;
}

const char *sketch_refuses(const struct sketch_part *parts, size_t count, size_t *out_wrong)
{
    for (size_t i = 0; i < count; i++) {
        *out_wrong = i;
        if (i > 0 && is_source(&parts[i]))
            return "is a source, and only the first may be one";
        if (i + 1 < count && !parts[i].behaviour->outputs->name)
            return "has no output, so it can only be the last";
        if (i + 1 == count && i == 0 && is_source(&parts[i]))
            return "is a source, and needs a behaviour that takes its messages";
    }
    return NULL;
}

bool sketch_has_marks(const struct sketch_part *parts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (const struct weir_option *option = parts[i].behaviour->options; option->name; option++)
            if (option->required)
                return true;
    return false;
}

/* --- options ---------------------------------------------------------------------------------- */

static void write_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

/* An example of a number within the option's bounds. */
static void write_example_number(FILE *out, const struct weir_option *option)
{
    fprintf(out, "%" PRId64 "%s", option->min > 0 ? option->min : 1,
            option->kind == WEIR_DURATION ? "ms" : "");
}

static void write_example(FILE *out, const struct weir_option *option, const char *pool)
{
    switch (option->kind) {
    case WEIR_BOOL:
        fputs("false", out);
        return;
    case WEIR_ENUM:
        fputs(option->choices[0], out);
        return;
    case WEIR_STRING:
        fputs("TEXT", out);
        return;
    case WEIR_LIST:
        fputs("[TEXT]", out);
        return;
    case WEIR_MAP:
        fputs(option->min > 0 ? "{NAME: TEXT}" : "{}", out);
        return;
    case WEIR_POOL:
        fputs(pool, out);
        return;
    default:
        write_example_number(out, option);
    }
}

static void write_default(FILE *out, const struct weir_option *option)
{
    if (option->kind == WEIR_LIST && !option_is_choice(option, option->fallback))
        fprintf(out, "[%s]", option->fallback);
    else if (option->kind == WEIR_STRING)
        write_text(out, option->fallback);
    else
        fputs(option->fallback, out);
}

/* The option by which a source sets keys. */
static bool is_key(const struct weir_option *option)
{
    return option->kind == WEIR_BOOL && strcmp(option->name, "key") == 0;
}

static void write_option(FILE *out, const struct weir_option *option, const char *pool,
                         bool with_key)
{
    bool is_wanted = with_key && is_key(option);
    char kind[KIND_SIZE];

    describe_option(kind, sizeof kind, option);
    if (option->help)
        fprintf(out, "      # %s:\n", option->help);
    fprintf(out, "      # %s\n      %s%s: ", kind, option->required || is_wanted ? "" : "#- ",
            option->name);
    if (is_wanted)
        fputs("true", out);
    else if (option->fallback && !option->secret)
        write_default(out, option);
    else
        write_example(out, option, pool);
    fputs(option->required ? " # change this\n" : "\n", out);
}

/* `with_key`: a source before a pool that routes by hash. */
static void write_options(FILE *out, const struct weir_behaviour *behaviour, const char *pool,
                          bool with_key)
{
    const struct weir_option *option = behaviour->options;
    bool any_required = false;

    if (!option->name)
        return;
    for (; option->name; option++)
        any_required = any_required || option->required || (with_key && is_key(option));
    /* A map whose lines are all comments would be nothing. */
    fputs(any_required ? "    args:\n" : "    #- args:\n", out);
    for (option = behaviour->options; option->name; option++)
        write_option(out, option, pool, with_key);
}

/* --- parts ------------------------------------------------------------------------------------ */

/* A pool has its behaviour's name; the position follows where an earlier pool has that name. */
static void name_pool(char *buffer, size_t size, const struct sketch_part *parts, size_t index)
{
    bool is_first_of_its_name = true;

    for (size_t i = 0; i < index; i++)
        if (strcmp(parts[i].behaviour->name, parts[index].behaviour->name) == 0)
            is_first_of_its_name = false;
    if (is_first_of_its_name)
        (void)snprintf(buffer, size, "%s", parts[index].behaviour->name);
    else
        (void)snprintf(buffer, size, "%s%zu", parts[index].behaviour->name, index + 1);
}

static bool expects_one(const struct weir_output *output)
{
    while (output->name && !output->expected)
        output++;
    return output->name != NULL;
}

/* Without `next` the output leads nowhere: one that is expected says so. */
static void write_output(FILE *out, const struct weir_output *output, const char *next)
{
    if (output->help)
        fprintf(out, "      # %s\n", output->help);
    if (next)
        fprintf(out, "      %s: %s\n", output->name, next);
    else if (output->expected)
        fprintf(out, "      %s: none # or a pool\n", output->name);
    else
        fprintf(out, "      #- %s: POOL\n", output->name);
}

static void write_outputs(FILE *out, const struct sketch_part *parts, size_t count, size_t index)
{
    const struct weir_output *output = parts[index].behaviour->outputs;
    bool is_led = index + 1 < count;
    char next[64];

    if (!output->name)
        return;
    if (is_led)
        name_pool(next, sizeof next, parts, index + 1);
    fputs(is_led || expects_one(output) ? "    outputs:\n" : "    #- outputs:\n", out);
    for (; output->name; output++, is_led = false)
        write_output(out, output, is_led ? next : NULL);
}

static void write_source(FILE *out, const struct sketch_part *parts, size_t count)
{
    bool with_key = count > 1 && parts[1].behaviour->flags & WEIR_KEYED;
    char next[64];

    name_pool(next, sizeof next, parts, count > 1 ? 1 : 0);
    if (parts->behaviour->summary)
        fprintf(out, "  # %s\n", parts->behaviour->summary);
    fprintf(out, "  input:\n    use: %s\n    to: %s\n", parts->use, next);
    write_options(out, parts->behaviour, next, with_key);
}

static void write_pool(FILE *out, const struct sketch_part *parts, size_t count, size_t index)
{
    const struct weir_behaviour *behaviour = parts[index].behaviour;
    bool is_alone = behaviour->flags & WEIR_ALONE;
    char name[64];

    name_pool(name, sizeof name, parts, index);
    if (behaviour->summary)
        fprintf(out, "  # %s\n", behaviour->summary);
    fprintf(out, "  %s:\n    use: %s\n    # workers%s\n    size: %d\n", name, parts[index].use,
            is_alone ? ": this behaviour allows one only" : "; `weir scale` changes it at work",
            is_alone ? 1 : 2);
    if (behaviour->flags & WEIR_KEYED)
        fputs("    route: hash  # this behaviour needs it: a state for each key\n", out);
    write_options(out, behaviour, name, false);
    write_outputs(out, parts, count, index);
}

static void write_host(FILE *out, const struct sketch *sketch)
{
    fputs("host:\n"
          "  # `weir status`, `weir send` and the other commands reach the host here\n"
          "  #- control: weir.sock\n",
          out);
    if (sketch->folder_count > 0)
        fputs("  # where plugins are looked for first, from where the host is started\n"
              "  plugins:\n",
              out);
    for (size_t i = 0; i < sketch->folder_count; i++) {
        fputs("    - ", out);
        write_text(out, sketch->folders[i]);
        fputc('\n', out);
    }
    fputc('\n', out);
}

void sketch_write(FILE *out, const struct sketch *sketch)
{
    const struct sketch_part *parts = sketch->parts;
    size_t first_pool = is_source(&parts[0]) ? 1 : 0;

    fprintf(out, "# Made by `weir new config %s", sketch->name);
    for (size_t i = 0; i < sketch->count; i++)
        fprintf(out, " %s", parts[i].use);
    fprintf(
        out,
        "`.\n#\n#     weir check %s    every mistake, with line and column\n"
        "#     weir run %s      then change the file, and send SIGHUP or call `weir reload`\n#\n"
        "# A line that begins with `#-` shows a key with its default, or with an example: take\n"
        "# the `#-` away to use it. `weir schema --sample` prints every key of the language.\n"
        "version: 1\n\n",
        sketch->name, sketch->name);
    write_host(out, sketch);
    if (first_pool == 1) {
        fputs("sources:\n", out);
        write_source(out, parts, sketch->count);
        fputc('\n', out);
    }
    fputs("pools:\n", out);
    for (size_t i = first_pool; i < sketch->count; i++) {
        write_pool(out, parts, sketch->count, i);
        if (i + 1 < sketch->count)
            fputc('\n', out);
    }
}
