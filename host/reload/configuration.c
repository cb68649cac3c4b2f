#include "host/reload/configuration.h"

#include <sysexits.h>

#include "base/cpus.h"
#include "config/check.h"
#include "config/reader.h"
#include "host/reload/supported.h"

int configuration_init(struct configuration *configuration, const char *program)
{
    configuration->program = program;
    if (loader_create(program, &configuration->loader) != WEIR_OK)
        return WEIR_ENOMEM;
    if (catalogue_create(configuration->loader, &configuration->catalogue) != WEIR_OK) {
        loader_destroy(configuration->loader);
        return WEIR_ENOMEM;
    }
    (void)pthread_mutex_init(&configuration->lock, NULL);
    return WEIR_OK;
}

void configuration_finish(struct configuration *configuration)
{
    catalogue_destroy(configuration->catalogue);
    loader_destroy(configuration->loader);
    (void)pthread_mutex_destroy(&configuration->lock);
}

void configuration_leave(struct configuration *configuration)
{
    /* Stays locked: nothing is to be loaded any more. Who loads now leaves its copies behind. */
    if (pthread_mutex_trylock(&configuration->lock) == 0)
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

static int read_locked(struct configuration *configuration, const char *file,
                       struct config_files *files, struct report *report,
                       struct settings **out_settings)
{
    struct config_source source = { .files = files, .is_checked_next = true };
    struct config_tree *tree;
    int status = config_read_file(file, &source, report, &tree);

    if (status != WEIR_OK)
        return status;
    status = catalogue_begin(configuration->catalogue, tree);
    catalogue_try_checks(configuration->catalogue, configuration->program);
    if (status == WEIR_OK)
        status = configuration_check(tree, catalogue_get(configuration->catalogue),
                                     cpus_effective(""), report, out_settings);
    config_tree_destroy(tree);
    return status;
}

int configuration_read(struct configuration *configuration, const char *file,
                       struct config_files *files, struct report *report,
                       struct settings **out_settings)
{
    int status;

    pthread_mutex_lock(&configuration->lock);
    status = read_locked(configuration, file, files, report, out_settings);
    pthread_mutex_unlock(&configuration->lock);
    return status;
}

void configuration_tell(const struct report *report, FILE *stream)
{
    report_print(report, stream);
    if (report_has_enough(report))
        (void)fputs("there may be more: nobody looked on\n", stream);
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
