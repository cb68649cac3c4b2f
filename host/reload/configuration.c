/* SPDX-License-Identifier: MIT */
#include "host/reload/configuration.h"

#include <limits.h>
#include <string.h>
#include <sysexits.h>

#include "base/cpus.h"
#include "config/check.h"
#include "config/reader.h"
#include "host/plugin/trust.h"
#include "host/reload/supported.h"

int configuration_init(struct configuration *configuration, const char *program)
{
    configuration->program = program;
    configuration->notes_plugins = false;
    if (loader_create(program, &configuration->loader) != WEIR_OK)
        return WEIR_ENOMEM;
    if (catalogue_create(configuration->loader, &configuration->catalogue) != WEIR_OK) {
        loader_destroy(configuration->loader);
        return WEIR_ENOMEM;
    }
    return WEIR_OK;
}

void configuration_debug(struct configuration *configuration)
{
    configuration->program = NULL;
    loader_open_in_place(configuration->loader);
}

void configuration_note_plugins(struct configuration *configuration)
{
    configuration->notes_plugins = true;
}

void configuration_finish(struct configuration *configuration)
{
    catalogue_destroy(configuration->catalogue);
    loader_destroy(configuration->loader);
}

uint32_t configuration_tidy(struct configuration *configuration)
{
    uint32_t kept = catalogue_tidy(configuration->catalogue);

    /* Relaxed: a figure for people. */
    atomic_store_explicit(&configuration->kept, kept, memory_order_relaxed);
    return kept;
}

void configuration_leave(struct configuration *configuration)
{
    loader_leave(configuration->loader);
}

int configuration_check(const struct config_tree *tree, const struct catalogue *catalogue,
                        uint32_t effective_cpus, struct report *report,
                        struct settings **out_settings)
{
    struct settings *settings = NULL;
    int status = config_check(tree, catalogue, effective_cpus, report, &settings);

    if (status == WEIR_OK)
        status = supported_check(settings, report);
    if (status == WEIR_OK)
        *out_settings = settings;
    else
        settings_destroy(settings);
    return status;
}

/* The doubt that was reported last: a folder with a hundred files is reported once. */
struct doubts {
    struct report *report;
    char where[PATH_MAX];
    int status;
};

static void doubt(struct doubts *doubts, const char *file)
{
    struct mark mark = { file, 0, 0 };
    struct trust trust;
    char why[512];

    if (trust_look(file, &trust) != 0 || trust.flaw == TRUST_SAFE ||
        strcmp(trust.where, doubts->where) == 0)
        return;
    memcpy(doubts->where, trust.where, sizeof trust.where);
    trust_describe(&trust, why, sizeof why);
    if (trust_forbids(&trust)) {
        report_add(doubts->report, &mark, NULL, "is not obeyed by root: %s", why);
        doubts->status = WEIR_EINVALID;
    } else {
        report_warn(doubts->report, &mark, NULL, "%s", why);
    }
}

/* Reports other users who may write to our files or to the code of plugins. */
static int check_trust(const struct configuration *configuration, const struct config_files *files,
                       struct report *report)
{
    struct doubts doubts = { .report = report, .status = WEIR_OK };
    const char *plugin;

    for (size_t i = 0; i < files->count; i++)
        if (!files->files[i].pattern)
            doubt(&doubts, files->files[i].path);
    for (size_t i = 0; (plugin = catalogue_file(configuration->catalogue, i)); i++)
        doubt(&doubts, plugin);
    return doubts.status;
}

/* The processes of isolated workers load what the host has loaded. */
static int keep_images(struct configuration *configuration, const struct settings *settings,
                       struct report *report)
{
    int result = WEIR_OK;

    for (uint32_t i = 0; i < settings->pool_count; i++) {
        const struct settings_pool *pool = &settings->pools[i];
        struct problem problem;

        if (pool->nested || pool->copy || pool->isolation != SETTINGS_PROCESS ||
            catalogue_keep_image(configuration->catalogue, pool->use.entry, &problem) == WEIR_OK)
            continue;
        written_report(&pool->written, "use", report, "%s", problem.text);
        result = WEIR_ENOTALLOWED;
    }
    return result;
}

static int read_whole(struct configuration *configuration, const char *file,
                      struct config_files *files, struct report *report,
                      struct settings **out_settings)
{
    struct config_source source = { .files = files, .is_checked_next = true };
    struct settings *settings = NULL;
    struct config_tree *tree;
    int status = config_read_file(file, &source, report, &tree);

    if (status != WEIR_OK)
        return status;
    status = catalogue_begin(configuration->catalogue, tree);
    catalogue_try_checks(configuration->catalogue, configuration->program);
    if (configuration->notes_plugins)
        catalogue_note_files(configuration->catalogue, files);
    if (status == WEIR_OK)
        status = configuration_check(tree, catalogue_get(configuration->catalogue),
                                     cpus_effective(""), report, &settings);
    catalogue_note_files(configuration->catalogue, NULL);
    config_tree_destroy(tree);
    if (status == WEIR_OK)
        status = check_trust(configuration, files, report);
    if (status == WEIR_OK)
        status = keep_images(configuration, settings, report);
    if (status == WEIR_OK)
        *out_settings = settings;
    else
        settings_destroy(settings);
    return status;
}

int configuration_read(struct configuration *configuration, const char *file,
                       struct config_files *files, struct report *report,
                       struct settings **out_settings)
{
    struct config_files read;
    int status;

    config_files_init(&read);
    status = read_whole(configuration, file, files ? files : &read, report, out_settings);
    config_files_finish(&read);
    return status;
}

void configuration_print(const struct report *report, FILE *stream)
{
    report_print(report, stream);
    if (report_has_enough(report))
        (void)fputs("there may be more: the check stopped here\n", stream);
    report_print_warnings(report, stream);
}

int configuration_exit_code(int status)
{
    switch (status) {
    case WEIR_OK:
        return EX_OK;
    case WEIR_EUNKNOWN:
        return EX_NOINPUT;
    case WEIR_ENOMEM:
        return EX_SOFTWARE;
    default:
        return EX_CONFIG;
    }
}
