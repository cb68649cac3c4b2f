/* SPDX-License-Identifier: MIT */
#include "host/command/command.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/text.h"
#include "host/run/io.h"

#define COLUMN "24" /* where explanations begin */
#define LETTER_HELP 'h'

static const struct command *const commands[] = {
#define COMMAND_ROW(name) &command_##name,
    COMMAND_LIST(COMMAND_ROW)
#undef COMMAND_ROW
};

#define COMMANDS_COUNT (sizeof commands / sizeof commands[0])

static void print_help(FILE *out)
{
    fputs("weir - a host for worker plugins\n\n"
          "usage: weir COMMAND [OPTION...] [ARGUMENT...]\n\n"
          "commands:\n",
          out);
    for (size_t i = 0; i < COMMANDS_COUNT; i++) {
        char head[64];

        if (commands[i]->internal)
            continue;
        (void)snprintf(head, sizeof head, "%s %s", commands[i]->name, commands[i]->arguments);
        fprintf(out, "  %-" COLUMN "s %s\n", head, commands[i]->summary);
    }
    fputs("\n`weir COMMAND --help` prints the options of one of them.\n", out);
}

static void print_command_help(const struct command *command, FILE *out)
{
    const struct command_option *option = command->options;

    fprintf(out, "usage: weir %s%s%s%s\n\n%s.\n\noptions:\n", command->name,
            option && option->name ? " [OPTION...]" : "", command->arguments[0] ? " " : "",
            command->arguments, command->summary);
    for (; option && option->name; option++) {
        char head[64];

        (void)snprintf(head, sizeof head, "-%c, --%s%s%s", option->letter, option->name,
                       option->argument ? " " : "", option->argument ? option->argument : "");
        fprintf(out, "  %-" COLUMN "s %s\n", head, option->help);
    }
    fprintf(out, "  %-" COLUMN "s %s\n", "-h, --help", "print this help");
    if (command->details)
        fprintf(out, "\n%s", command->details);
}

int command_usage_error(const struct invocation *invocation, const char *format, ...)
{
    const char *name = invocation->command->name;
    va_list arguments;

    fprintf(invocation->err, "weir %s: ", name);
    va_start(arguments, format);
    vfprintf(invocation->err, format, arguments);
    va_end(arguments);
    fprintf(invocation->err, "\nTry `weir %s --help`.\n", name);
    return EX_USAGE;
}

/* The tables of getopt, made from the command's. */
struct parsing {
    struct option longs[COMMAND_OPTIONS_MAX + 2];
    char shorts[2 * COMMAND_OPTIONS_MAX + 4];
};

static void add_option(struct parsing *parsing, size_t index, const struct command_option *option)
{
    size_t used = strlen(parsing->shorts);

    parsing->longs[index] = (struct option){
        .name = option->name,
        .has_arg = option->argument ? required_argument : no_argument,
        .val = option->letter,
    };
    parsing->shorts[used++] = option->letter;
    if (option->argument)
        parsing->shorts[used++] = ':';
    parsing->shorts[used] = '\0';
}

static void make_tables(struct parsing *parsing, const struct command *command)
{
    static const struct command_option help = { "help", LETTER_HELP, NULL, NULL };
    const struct command_option *option = command->options;
    size_t count = 0;

    memset(parsing, 0, sizeof *parsing);
    parsing->shorts[0] = ':'; /* distinguishes a missing argument from an unknown option */
    for (; option && option->name && count < COMMAND_OPTIONS_MAX; option++)
        add_option(parsing, count++, option);
    add_option(parsing, count, &help);
}

static int refuse_long_option(const struct invocation *invocation, const char *text)
{
    const struct command_option *option = invocation->command->options;
    struct text_guess guess;

    text_guess_init(&guess, text + strlen("--"));
    for (; option && option->name; option++)
        text_guess_offer(&guess, option->name);
    if (!text_guess_best(&guess))
        return command_usage_error(invocation, "there is no option %s", text);
    return command_usage_error(invocation, "there is no option %s; did you mean --%s?", text,
                               text_guess_best(&guess));
}

static int refuse_option(const struct invocation *invocation, int found)
{
    const char *text = invocation->argv[optind - 1];

    if (found == ':')
        return command_usage_error(invocation, "%s needs an argument", text);
    if (strncmp(text, "--", 2) == 0)
        return refuse_long_option(invocation, text);
    return command_usage_error(invocation, "there is no option -%c", optopt);
}

int command_parse(const struct invocation *invocation,
                  int (*take)(void *context, char letter, const char *argument), void *context,
                  int *out_first)
{
    struct parsing parsing;
    int found, status;

    *out_first = invocation->argc;
    make_tables(&parsing, invocation->command);
    optind = 0; /* glibc: start from the beginning, also after an earlier parse */
    opterr = 0;
    while ((found = getopt_long(invocation->argc, invocation->argv, parsing.shorts, parsing.longs,
                                NULL)) != -1) {
        if (found == LETTER_HELP) {
            print_command_help(invocation->command, invocation->out);
            return EX_OK;
        }
        if (found == ':' || found == '?')
            return refuse_option(invocation, found);
        status = take(context, (char)found, optarg);
        if (status != COMMAND_GO_ON)
            return status;
    }
    *out_first = optind;
    return COMMAND_GO_ON;
}

const struct command *command_find(const char *name)
{
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
        return &command_version;
    for (size_t i = 0; i < COMMANDS_COUNT; i++) {
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    }
    return NULL;
}

const struct command *command_at(size_t index)
{
    return index < COMMANDS_COUNT ? commands[index] : NULL;
}

static int refuse_command(const char *name, FILE *err)
{
    struct text_guess guess;

    text_guess_init(&guess, name);
    for (size_t i = 0; i < COMMANDS_COUNT; i++) {
        if (!commands[i]->internal)
            text_guess_offer(&guess, commands[i]->name);
    }
    fprintf(err, "weir: there is no command \"%s\"", name);
    if (text_guess_best(&guess))
        fprintf(err, "; did you mean \"%s\"?", text_guess_best(&guess));
    fputs("\nTry `weir --help`.\n", err);
    return EX_USAGE;
}

static bool wants_help(const char *name)
{
    return strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0;
}

bool command_wants_colour(FILE *out)
{
    const char *refused = getenv("NO_COLOR");
    int descriptor = fileno(out);

    return !(refused && refused[0]) && descriptor >= 0 && isatty(descriptor);
}

static int run_command(const struct command *command, const char *program, int argc, char **argv,
                       FILE *out, FILE *err)
{
    struct invocation invocation = {
        .command = command,
        .program = program,
        .out = out,
        .err = err,
        .colour = command_wants_colour(out),
        .argc = argc,
        .argv = argv,
    };

    if (!command->keeps_signals)
        io_unblock_signals();
    return command->run(&invocation);
}

static int dispatch(const char *program, int argc, char **argv, FILE *out, FILE *err)
{
    const struct command *command;
    const char *name;

    if (argc < 2) {
        print_help(err);
        return EX_USAGE;
    }
    if (wants_help(argv[1]) && argc == 2) {
        print_help(out);
        return EX_OK;
    }
    name = wants_help(argv[1]) ? argv[2] : argv[1];
    command = command_find(name);
    if (!command)
        return refuse_command(name, err);
    if (wants_help(argv[1])) {
        print_command_help(command, out);
        return EX_OK;
    }
    return run_command(command, program, argc - 1, argv + 1, out, err);
}

int command_main(const char *program, int argc, char **argv, FILE *out, FILE *err)
{
    int code = dispatch(program, argc, argv, out, err);

    if (code == EX_SOFTWARE)
        fputs("weir: out of memory\n", err);
    if (code == COMMAND_FAILED)
        code = EX_SOFTWARE;
    if ((fflush(out) != 0 || ferror(out)) && code == EX_OK) {
        fputs("weir: standard output could not be written\n", err);
        return EX_IOERR;
    }
    return code;
}
