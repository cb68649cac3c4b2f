/* SPDX-License-Identifier: MIT */
#include "host/plugin/describe.h"

#include <inttypes.h>
#include <string.h>

#include "host/log/line.h"

#define KIND_SIZE 256 /* of an option's kind with its choices */
#define NAME_COLUMN 16

struct scale {
    uint64_t factor;
    const char *unit;
};

static const struct scale sizes[] = {
    { (uint64_t)1 << 40, "TiB" }, { 1 << 30, "GiB" }, { 1 << 20, "MiB" },
    { 1 << 10, "KiB" },           { 1, "" },          { 0, NULL },
};

static const struct scale durations[] = {
    { 3600000, "h" }, { 60000, "m" }, { 1000, "s" }, { 1, "ms" }, { 0, NULL },
};

/* In the largest unit that divides the value, as YAML would have it. */
static void add_scaled(struct line *line, uint64_t value, const struct scale *scales)
{
    const struct scale *scale = scales;

    while (scale->factor > 1 && (value == 0 || value % scale->factor != 0))
        scale++;
    line_unsigned(line, value / scale->factor);
    line_text(line, scale->unit);
}

static void add_number(struct line *line, const struct weir_option *option, int64_t value)
{
    if (value >= 0 && option->kind == WEIR_SIZE)
        add_scaled(line, (uint64_t)value, sizes);
    else if (value >= 0 && option->kind == WEIR_DURATION)
        add_scaled(line, (uint64_t)value, durations);
    else
        line_signed(line, value);
}

static const char *kind_name(uint32_t kind)
{
    switch (kind) {
    case WEIR_BOOL:
        return "true or false";
    case WEIR_U32:
    case WEIR_U64:
    case WEIR_I64:
        return "integer";
    case WEIR_F64:
        return "number";
    case WEIR_SIZE:
        return "size";
    case WEIR_DURATION:
        return "duration";
    case WEIR_STRING:
        return "text";
    case WEIR_POOL:
        return "path of a pool";
    case WEIR_ENUM:
        return "one of";
    case WEIR_LIST:
        return "list of texts";
    case WEIR_MAP:
        return "map of texts";
    default:
        return "?";
    }
}

static void add_choices(struct line *line, const struct weir_option *option)
{
    for (size_t i = 0; option->choices && option->choices[i]; i++) {
        line_text(line, i ? " | " : " ");
        line_text(line, option->choices[i]);
    }
}

static void add_bounds(struct line *line, const struct weir_option *option)
{
    if (option->min == 0 && option->max == 0)
        return;
    line_text(line, option->kind == WEIR_LIST || option->kind == WEIR_MAP ? ", " : " ");
    add_number(line, option, option->min);
    line_text(line, "..");
    add_number(line, option, option->max);
    if (option->kind == WEIR_LIST || option->kind == WEIR_MAP)
        line_text(line, " of them");
}

void describe_option(char *buffer, size_t size, const struct weir_option *option)
{
    struct line line;

    line_init(&line, buffer, size);
    line_text(&line, option->pools ? "map to paths of pools" : kind_name(option->kind));
    if (option->kind != WEIR_ENUM)
        add_bounds(&line, option);
    if (option->kind == WEIR_LIST && option->choices)
        line_text(&line, ", or");
    add_choices(&line, option);
    if (option->required)
        line_text(&line, ", required");
    else if (option->fallback && !option->secret)
        line_format(&line, ", default %s", option->fallback);
    if (option->secret)
        line_text(&line, ", secret");
    if (option->live)
        line_text(&line, ", live");
}

static void print_options(FILE *out, const struct weir_behaviour *behaviour)
{
    const struct weir_option *option = behaviour->options;

    if (option->name)
        fputs("  args:\n", out);
    for (; option->name; option++) {
        char kind[KIND_SIZE];

        describe_option(kind, sizeof kind, option);
        fprintf(out, "    %-*s %s\n", NAME_COLUMN, option->name, kind);
        if (option->help)
            fprintf(out, "    %-*s %s\n", NAME_COLUMN, "", option->help);
    }
}

static void print_outputs(FILE *out, const struct weir_behaviour *behaviour)
{
    const struct weir_output *output = behaviour->outputs;

    if (output->name)
        fputs("  outputs:\n", out);
    for (; output->name; output++) {
        const char *help = output->help ? output->help : "";
        const char *need = output->required ? "required" : output->expected ? "expected" : "";

        fprintf(out, "    %-*s %s%s%s\n", NAME_COLUMN, output->name, help,
                need[0] && help[0] ? "; " : "", need);
    }
}

static const char *role_of(const struct weir_behaviour *behaviour)
{
    if (behaviour->handle && behaviour->produce)
        return "source and worker";
    return behaviour->produce ? "source" : "worker";
}

static void print_behaviour(FILE *out, const struct loaded *loaded,
                            const struct weir_behaviour *behaviour)
{
    fprintf(out, "\n%s.%s (%s%s%s%s%s)\n", loaded->descriptor.name, behaviour->name,
            role_of(behaviour), behaviour->flags & WEIR_BLOCKING ? ", blocking" : "",
            behaviour->flags & WEIR_EXCLUSIVE ? ", exclusive" : "",
            behaviour->flags & WEIR_ALONE ? ", alone" : "",
            behaviour->flags & WEIR_KEYED ? ", needs route: hash" : "");
    if (behaviour->summary)
        fprintf(out, "  %s\n", behaviour->summary);
    if (behaviour->in_hand > 1)
        fprintf(out, "  keeps up to %" PRIu32 " messages in hand\n", behaviour->in_hand);
    print_options(out, behaviour);
    print_outputs(out, behaviour);
}

void describe_plugin(FILE *out, const struct loaded *loaded, const struct weir_behaviour *only)
{
    const struct descriptor *descriptor = &loaded->descriptor;

    fprintf(out, "%s %s (SDK %d.%" PRIu32 ")\n%s\n", descriptor->name, descriptor->version,
            WEIR_ABI_MAJOR, descriptor->abi_minor, loaded->file);
    for (size_t i = 0; i < descriptor->behaviour_count; i++) {
        if (!only || only == &descriptor->behaviours[i])
            print_behaviour(out, loaded, &descriptor->behaviours[i]);
    }
}
