/* SPDX-License-Identifier: MIT */
#include "kit_options.h"

#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "config/fill.h"
#include "config/reader.h"

#define NAME "args" /* in place of the file's name in messages */

/* A text, and the settings made from it. */
struct kit_options {
    struct options *options; /* owned */
    struct kit_options *next;
};

/* The report of a call of `check`. */
struct checking {
    struct weir_report base; /* first: the plugin has its address */
    const struct options *options;
    struct report *report;
};

static void on_error(struct weir_report *base, const char *option, const char *why)
{
    const struct checking *checking = (struct checking *)(void *)base;
    struct mark mark = options_mark(checking->options, option);

    report_add(checking->report, &mark, option, "%s", why ? why : "is wrong");
}

static int fill_options(const struct weir_behaviour *behaviour, const struct config_node *root,
                        struct report *report, struct options **out_options)
{
    const struct option_place place = { "", root->mark };
    struct option_value *values;
    struct text_store store;
    size_t count;
    int status;

    text_store_init(&store);
    status = fill_values(root, &store, &values, &count);
    if (status == WEIR_OK)
        status = options_parse(behaviour->options, behaviour->settings_size, values, count, &place,
                               report, out_options);
    text_store_finish(&store);
    return status;
}

static int parse(const struct weir_behaviour *behaviour, const char *text, struct report *report,
                 struct options **out_options)
{
    const struct config_source source = { .is_part = true };
    struct config_tree *tree = NULL;
    int status = config_read_text(NAME, text, strlen(text), &source, report, &tree);

    if (status == WEIR_OK)
        status = fill_options(behaviour, tree->root, report, out_options);
    config_tree_destroy(tree);
    if (status == WEIR_ENOMEM)
        abort();
    return status;
}

static void note_mistakes(struct weir_kit *kit, const struct report *report)
{
    char line[1024];

    kit_text_finish(&kit->mistakes);
    for (size_t i = 0; i < report->errors.kept; i++) {
        (void)report_format(&report->errors.entries[i], line, sizeof line);
        kit_text_format(&kit->mistakes, "%s\n", line);
    }
    if (report->errors.count > report->errors.kept)
        kit_text_format(&kit->mistakes, "and %zu more\n",
                        report->errors.count - report->errors.kept);
}

/* The settings of the text, kept; NULL when there are mistakes. */
static struct kit_options *make(struct weir_kit *kit, const char *text)
{
    const struct weir_behaviour *behaviour = &kit->behaviour;
    struct kit_options *made = NULL;
    struct options *options = NULL;
    struct report report;

    report_init(&report);
    if (parse(behaviour, text, &report, &options) == WEIR_OK) {
        struct checking checking = { { on_error }, options, &report };

        if (behaviour->check)
            behaviour->check(options_settings(options), &checking.base);
    }
    note_mistakes(kit, &report);
    if (report_count(&report) == 0) {
        made = kit_take(sizeof *made);
        *made = (struct kit_options){ options, kit->options };
        kit->options = made;
    } else {
        options_destroy(options);
    }
    report_finish(&report);
    return made;
}

const void *weir_kit_settings(struct weir_kit *kit, const char *args)
{
    const struct kit_options *made = kit ? make(kit, args) : NULL;

    return made ? options_settings(made->options) : NULL;
}

int weir_kit_open_args(struct weir_kit *kit, const char *args)
{
    const void *settings = weir_kit_settings(kit, args);

    return settings ? weir_kit_open(kit, settings) : WEIR_EINVALID;
}

int weir_kit_open_format(struct weir_kit *kit, const char *format, ...)
{
    struct kit_text args = { NULL, 0 };
    va_list arguments;
    int status;

    va_start(arguments, format);
    kit_text_format_list(&args, format, arguments);
    va_end(arguments);
    status = weir_kit_open_args(kit, kit_text_get(&args));
    kit_text_finish(&args);
    return status;
}

/* The options from which the settings were made; NULL when the test made them itself. */
static const struct options *options_of(const struct weir_kit *kit, const void *settings)
{
    const struct kit_options *known = kit->options;

    while (known && options_settings(known->options) != settings)
        known = known->next;
    return known ? known->options : NULL;
}

/* Names the changed options that cannot change while a worker lives. */
static int refuse_change(struct weir_kit *kit, const struct options *old_options,
                         const struct options *new_options)
{
    struct option_change changes[32];
    size_t count = options_changes(old_options, new_options, changes, 32);

    for (size_t i = 0; i < count && i < 32; i++) {
        if (!changes[i].live)
            kit_text_format(&kit->mistakes, "%s: is not live: a new worker opens with it\n",
                            changes[i].name);
    }
    return WEIR_ENOTALLOWED;
}

int weir_kit_reconfigure_args(struct weir_kit *kit, const char *args)
{
    const struct options *present = options_of(kit, kit->settings);
    const struct kit_options *made = make(kit, args);

    if (!made)
        return WEIR_EINVALID;
    if (!kit->is_open)
        return WEIR_ENOTALLOWED;
    if (present && options_equal(present, made->options))
        return 0;
    if (present && !options_changes_live(present, made->options))
        return refuse_change(kit, present, made->options);
    weir_kit_reconfigure(kit, options_settings(made->options));
    return 0;
}

const char *weir_kit_mistakes(const struct weir_kit *kit)
{
    return kit_text_get(&kit->mistakes);
}

void kit_options_check_table(struct weir_kit *kit)
{
    char why[256];

    if (options_check_table(kit->behaviour.options, kit->behaviour.settings_size, why,
                            sizeof why) != WEIR_OK)
        kit_problem(kit, "the table of options: %s", why);
}

void kit_options_finish(struct weir_kit *kit)
{
    for (struct kit_options *made = kit->options, *next; made; made = next) {
        next = made->next;
        options_destroy(made->options);
        free(made);
    }
}
