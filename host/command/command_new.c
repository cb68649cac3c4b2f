/* SPDX-License-Identifier: MIT */
/* `weir new plugin NAME`: makes a folder with a plugin that builds, has a test and runs.
 * `weir new config FILE`: makes a configuration that runs as it is; with behaviours, see
 * new_config.c. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/text.h"
#include "host/command/command.h"
#include "host/command/new_config.h"
#include "host/plugin/plugin_path.h"

#ifndef WEIR_VERSION
#error "the build gives WEIR_VERSION, from the project's version"
#endif

#define NAME_LENGTH_MAX 32      /* the name is part of names of files, targets and metrics */
#define TEMPLATE_SIZE_MAX 65536 /* bytes of one file; ours have two thousand */
#define VARIABLES_COUNT 6u

/* The files that are made, and their templates. Variables are replaced in both names and in the
 * text of the file. */
struct made_file {
    const char *made;
    const char *from;
    bool of_kind; /* in the folder of the kind: worker, source or sink */
};

static const struct made_file made_files[] = {
    { "CMakeLists.txt", "CMakeLists.txt.in", false },
    { "@NAME@.@SUFFIX@", "plugin.@SUFFIX@.in", true },
    { "test_@NAME@.c", "test_plugin.c.in", true },
    { "@NAME@.yaml", "plugin.yaml.in", true },
    { "README.md", "README.md.in", true },
    { ".gitignore", "gitignore.in", false },
};

#define MADE_FILES_COUNT (sizeof made_files / sizeof made_files[0])

struct variable {
    const char *mark;
    const char *text;
};

/* A language that a plugin may be written in. Its test is in C. */
struct language {
    const char *suffix;    /* of the plugin's file */
    const char *languages; /* of CMake's project() */
    const char *packages;  /* Debian's, with the compiler */
    const char *settings;  /* for CMakeLists.txt */
};

static const struct language c_language = { "c", "C", "gcc libc6-dev", "" };
static const struct language cxx_language = {
    .suffix = "cc",
    .languages = "C CXX",
    .packages = "g++",
    .settings =
        "# Rows of tables name the fields that they set, as C++20 can, and leave out others.\n"
        "set(CMAKE_CXX_STANDARD 20)\n"
        "add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-missing-field-initializers>)\n",
};

/* The parsed arguments, and values derived from them. */
struct request {
    const struct invocation *invocation;
    const char *name;
    const char *kind;                /* worker, source or sink; NULL: none was chosen */
    const struct language *language; /* NULL: none was chosen */
    const char *templates;           /* folder of the files above */
    const char *prefix; /* where Weir is installed; NULL when the program is not installed */
    struct plugin_path plugins;
    struct variable variables[VARIABLES_COUNT];
    struct text_store store; /* of paths */
    size_t made_count;       /* files of the table that exist now */
};

WEIR_PRINTF(3, 4)
static int refuse(const struct request *request, int code, const char *format, ...)
{
    va_list arguments;

    fputs("weir new: ", request->invocation->err);
    va_start(arguments, format);
    vfprintf(request->invocation->err, format, arguments);
    va_end(arguments);
    fputc('\n', request->invocation->err);
    return code;
}

/* --- the name --------------------------------------------------------------------------------- */

static bool is_name(const char *name)
{
    size_t length = strlen(name);

    return length <= NAME_LENGTH_MAX && name[0] >= 'a' && name[0] <= 'z' &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == length;
}

/* Refuses the name of an existing plugin, which the new one would replace in every
 * configuration. */
static int refuse_taken(struct request *request)
{
    struct problem problem;
    char *found = plugin_path_find(&request->plugins, request->name, &problem);
    int code = found ? refuse(request, EX_USAGE, "there is a plugin called %s already: %s",
                              request->name, found)
                     : EX_OK;

    free(found);
    return code;
}

static int check_name(struct request *request)
{
    if (!is_name(request->name))
        return command_usage_error(request->invocation,
                                   "\"%s\" is no name for a plugin: lower-case letters, digits and "
                                   "_, a letter first, at most %d",
                                   request->name, NAME_LENGTH_MAX);
    return refuse_taken(request);
}

/* --- the templates ---------------------------------------------------------------------------- */

static bool has_templates(struct request *request, const char *folder)
{
    const char *file = text_store_format(&request->store, "%s/%s", folder, made_files[0].from);

    return file && access(file, R_OK) == 0;
}

/* The folder of the program, with all links resolved; NULL when it is not known. */
static const char *find_program_folder(struct request *request)
{
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    char *slash;

    if (length <= 0)
        return NULL;
    program[length] = '\0';
    slash = strrchr(program, '/');
    if (!slash)
        return NULL;
    *slash = '\0';
    return text_store_copy(&request->store, program);
}

/* Finds the templates of an installation, else those of a build folder of our tree. */
static int find_templates(struct request *request)
{
    const char *program = find_program_folder(request);
    char *installed, *built;

    if (request->templates)
        return has_templates(request, request->templates)
                   ? EX_OK
                   : refuse(request, EX_NOINPUT, "%s: there is no %s that can be read",
                            request->templates, made_files[0].from);
    if (!program)
        return refuse(request, EX_OSFILE, "the program's own place is not known; give --template");
    installed = text_store_format(&request->store, "%s/../share/weir/template", program);
    built = text_store_format(&request->store, "%s/../../../sdk/template", program);
    if (!installed || !built)
        return EX_SOFTWARE;
    if (has_templates(request, installed)) {
        request->templates = installed;
        request->prefix = text_store_format(&request->store, "%.*s",
                                            (int)(strrchr(program, '/') - program), program);
        return request->prefix ? EX_OK : EX_SOFTWARE;
    }
    request->templates = built;
    return has_templates(request, built)
               ? EX_OK
               : refuse(request, EX_OSFILE, "there are no templates in %s; give --template",
                        installed);
}

/* --- one file --------------------------------------------------------------------------------- */

static const struct variable *find_variable(const struct request *request, const char *text)
{
    for (size_t i = 0; i < VARIABLES_COUNT; i++) {
        if (strncmp(text, request->variables[i].mark, strlen(request->variables[i].mark)) == 0)
            return &request->variables[i];
    }
    return NULL;
}

/* Writes the text with its variables replaced. */
static void write_replaced(const struct request *request, const char *text, FILE *out)
{
    while (*text) {
        const struct variable *variable = find_variable(request, text);

        if (variable) {
            fputs(variable->text, out);
            text += strlen(variable->mark);
        } else {
            fputc(*text++, out);
        }
    }
}

/* A text with its variables replaced, in the request's store; NULL when memory is out. */
static const char *replaced(struct request *request, const char *text)
{
    char *bytes = NULL;
    const char *kept = NULL;
    size_t size;
    FILE *stream = open_memstream(&bytes, &size);

    if (!stream)
        return NULL;
    write_replaced(request, text, stream);
    if (fclose(stream) == 0)
        kept = text_store_copy(&request->store, bytes);
    free(bytes);
    return kept;
}

/* The path of a file to be made, in the request's store; NULL when memory is out. */
static const char *made_path(struct request *request, const char *made)
{
    const char *name = replaced(request, made);

    return name ? text_store_format(&request->store, "%s/%s", request->name, name) : NULL;
}

/* The path of a template, likewise. */
static const char *template_path(struct request *request, const struct made_file *made)
{
    const char *name = replaced(request, made->from);

    if (!name)
        return NULL;
    return made->of_kind ? text_store_format(&request->store, "%s/%s/%s", request->templates,
                                             request->kind, name)
                         : text_store_format(&request->store, "%s/%s", request->templates, name);
}

/* Returns the text in the request's store. */
static int read_template(struct request *request, const char *path, const char **out_text)
{
    char *text = text_store_take(&request->store, TEMPLATE_SIZE_MAX);
    FILE *file;
    size_t size;

    if (!text)
        return EX_SOFTWARE;
    file = fopen(path, "re");
    if (!file)
        return refuse(request, EX_NOINPUT, "%s: %s", path, strerror(errno));
    size = fread(text, 1, TEMPLATE_SIZE_MAX - 1, file);
    text[size] = '\0';
    if (ferror(file) || !feof(file)) {
        fclose(file);
        return refuse(request, EX_IOERR, "%s: cannot be read whole", path);
    }
    fclose(file);
    *out_text = text;
    return EX_OK;
}

static int write_file(struct request *request, const char *path, const char *text)
{
    FILE *file = fopen(path, "wxe");
    bool failed;

    if (!file)
        return refuse(request, EX_CANTCREAT, "%s: %s", path, strerror(errno));
    request->made_count++;
    write_replaced(request, text, file);
    failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed)
        return refuse(request, EX_IOERR, "%s: cannot be written: %s", path, strerror(errno));
    return EX_OK;
}

static int make_file(struct request *request, const struct made_file *made)
{
    const char *to = made_path(request, made->made);
    const char *from = template_path(request, made);
    const char *text = NULL;
    int code;

    if (!to || !from)
        return EX_SOFTWARE;
    code = read_template(request, from, &text);
    return code == EX_OK ? write_file(request, to, text) : code;
}

/* --- the folder ------------------------------------------------------------------------------- */

/* Removes the files that were made before a failure. */
static void remove_made(struct request *request)
{
    for (size_t i = 0; i < request->made_count; i++) {
        const char *path = made_path(request, made_files[i].made);

        if (path)
            (void)unlink(path);
    }
    (void)rmdir(request->name);
}

static int make_folder(struct request *request)
{
    int code = EX_OK;

    if (mkdir(request->name, 0777) != 0)
        return errno == EEXIST
                   ? refuse(request, EX_CANTCREAT, "%s is there already; nothing was changed",
                            request->name)
                   : refuse(request, EX_CANTCREAT, "%s: %s", request->name, strerror(errno));
    for (size_t i = 0; i < MADE_FILES_COUNT && code == EX_OK; i++)
        code = make_file(request, &made_files[i]);
    if (code != EX_OK)
        remove_made(request);
    return code;
}

static void print_next_steps(const struct request *request)
{
    fprintf(request->invocation->out,
            "%s: made, a plugin with a %s that works. Next:\n"
            "  cd %s\n"
            "  cmake -B build -D CMAKE_PREFIX_PATH=%s\n"
            "  cmake --build build\n"
            "  ctest --test-dir build\n"
            "  %s%s run %s.yaml\n",
            request->name, request->kind, request->name,
            request->prefix ? request->prefix : "WHERE_WEIR_IS_INSTALLED",
            request->prefix ? request->prefix : "", request->prefix ? "/bin/weir" : "weir",
            request->name);
}

static void set_variables(struct request *request)
{
    const struct language *language = request->language;
    const struct variable variables[VARIABLES_COUNT] = {
        { "@NAME@", request->name },          { "@VERSION@", WEIR_VERSION },
        { "@SUFFIX@", language->suffix },     { "@LANGUAGES@", language->languages },
        { "@PACKAGES@", language->packages }, { "@SETTINGS@\n", language->settings },
    };

    memcpy(request->variables, variables, sizeof variables);
}

static int make_plugin(struct request *request)
{
    int code;

    code = check_name(request);
    if (code == EX_OK)
        code = find_templates(request);
    if (code == EX_OK)
        code = make_folder(request);
    if (code == EX_OK)
        print_next_steps(request);
    return code;
}

/* --- a configuration ------------------------------------------------------------------------ */

static int make_config_file(struct request *request)
{
    const char *from = text_store_format(&request->store, "%s/config.yaml.in", request->templates);
    const char *text = "";
    int code;

    if (!from)
        return EX_SOFTWARE;
    code = read_template(request, from, &text);
    if (code == EX_OK)
        code = write_file(request, request->name, text);
    if (code != EX_OK && request->made_count > 0)
        (void)unlink(request->name);
    return code;
}

static int make_config(struct request *request)
{
    int code = find_templates(request);

    if (code == EX_OK)
        code = make_config_file(request);
    if (code == EX_OK)
        fprintf(request->invocation->out,
                "%s: made, a file that runs. Next:\n"
                "  weir check %s\n"
                "  printf 'one\\ntwo\\n' | weir run %s\n",
                request->name, request->name, request->name);
    return code;
}

/* --- the command ------------------------------------------------------------------------------ */

static int take(void *context, char letter, const char *argument)
{
    struct request *request = context;

    if (letter == 'p')
        return plugin_path_add(&request->plugins, argument) == WEIR_OK ? COMMAND_GO_ON
                                                                       : EX_SOFTWARE;
    if (letter == 't')
        request->templates = argument;
    else if (letter == 'x')
        request->language = &cxx_language;
    else
        request->kind = letter == 's' ? "source" : "sink";
    return COMMAND_GO_ON;
}

static int make(struct request *request, char **arguments, int count)
{
    const struct invocation *invocation = request->invocation;
    bool is_for_plugin = request->kind || request->language;
    size_t given = request->plugins.count;

    if (!request->kind)
        request->kind = "worker";
    if (!request->language)
        request->language = &c_language;
    if (plugin_path_add_defaults(&request->plugins) != WEIR_OK)
        return EX_SOFTWARE;
    if (count == 2 && strcmp(arguments[0], "plugin") == 0) {
        request->name = arguments[1];
        set_variables(request);
        return make_plugin(request);
    }
    if (count >= 2 && strcmp(arguments[0], "config") == 0) {
        if (is_for_plugin)
            return command_usage_error(invocation,
                                       "--source, --sink and --cxx are for `new plugin`");
        request->name = arguments[1];
        set_variables(request);
        return count == 2 ? make_config(request)
                          : new_config(invocation, &request->plugins, given, request->name,
                                       arguments + 2, (size_t)count - 2);
    }
    return command_usage_error(invocation, "takes `plugin` and a name, or `config`, a file and, if "
                                           "you like, behaviours such as `stdin.lines exec.run`");
}

static int run(const struct invocation *invocation)
{
    struct request request = { .invocation = invocation };
    int first, code;

    text_store_init(&request.store);
    plugin_path_init(&request.plugins);
    code = command_parse(invocation, take, &request, &first);
    if (code == COMMAND_GO_ON)
        code = make(&request, invocation->argv + first, invocation->argc - first);
    plugin_path_finish(&request.plugins);
    text_store_finish(&request.store);
    return code;
}

static const struct command_option options[] = {
    { "source", 's', NULL, "plugin: make a source, not a worker" },
    { "sink", 'k', NULL, "plugin: make a worker that writes its messages to a file" },
    { "cxx", 'x', NULL, "plugin: in C++20, not in C" },
    { "template", 't', "DIR", "plugin: use the templates in DIR, not those of weir" },
    { "plugins", 'p', "DIR",
      "look for plugins in DIR first, and write it into the file; repeatable" },
    { NULL, 0, NULL, NULL },
};

const struct command command_new = {
    .name = "new",
    .arguments = "plugin NAME | config FILE [BEHAVIOUR...]",
    .summary = "make a plugin that builds and runs, or a configuration with every option",
    .details =
        "plugin NAME: a folder NAME with a plugin that builds, passes its test and runs. NAME has\n"
        "lower-case letters, digits and _, a letter first.\n\n"
        "config FILE: a small file with comments that runs as it is. With behaviours: a file in\n"
        "which messages go from each one to the next, with every option, its meaning and its\n"
        "default:\n\n"
        "    weir new config upper.yaml stdin.lines exec.run stdout.write\n\n"
        "Exit code: 64 not a valid name or chain, or a plugin has the name already; 66 there is "
        "no\n"
        "such behaviour; 72 no templates; 73 the folder or file exists already, or cannot be "
        "made;\n"
        "78 the plugin cannot be loaded.\n",
    .options = options,
    .run = run,
};
