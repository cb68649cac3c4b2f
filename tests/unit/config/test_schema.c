/* SPDX-License-Identifier: MIT */
/*
 * Goal: the JSON Schema and the reference contain the tables of the language and of behaviours, and
 * are well formed for any text of a plugin.
 * Method: both are written to memory and searched for every row of every table, for bounds and
 * defaults of options of each kind, and for a secret that must not be there. tests/system/schema
 * runs this program to test the schema with validators: with `schema` as argument it prints the
 * schema of the fake behaviours, with `check FILE...` the checker's verdict on each file.
 */
#include <stdlib.h>
#include <string.h>

#include "config/check.h"
#include "config/language.h"
#include "config/reference.h"
#include "config/schema.h"
#include "unit/config/fake_catalogue.h"
#include "unit/host/suite.h"

#define CPUS 4

static const char *const names[] = { "files.lines", "integrity.md5", "thumb.scale", "count.words",
                                     "sink.null" };

#define NAME_COUNT (sizeof names / sizeof names[0])

static void write_fake_schema(FILE *stream)
{
    struct schema_use uses[NAME_COUNT];
    struct catalogue_problem why;

    for (size_t i = 0; i < NAME_COUNT; i++)
        uses[i] = (struct schema_use){ names[i],
                                       fake_catalogue.find(NULL, names[i], &why)->behaviour };
    schema_write(stream, uses, NAME_COUNT);
}

/* --- in memory -------------------------------------------------------------------------------- */

enum what {
    PLAIN_SCHEMA,
    FAKE_SCHEMA,
    MARKDOWN,
    MANUAL,
};

static char *written(enum what what)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);

    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    if (what == PLAIN_SCHEMA)
        schema_write(stream, NULL, 0);
    else if (what == FAKE_SCHEMA)
        write_fake_schema(stream);
    else
        reference_write(stream, what == MANUAL ? PAGE_MANUAL : PAGE_MARKDOWN);
    (void)fclose(stream);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    return text;
}

/* The text with its line ends and indents taken out. */
static void squeeze(char *text)
{
    char *to = text;

    for (const char *from = text; *from; from++) {
        if (*from == '\n')
            from += strspn(from, "\n ") - 1;
        else
            *to++ = *from;
    }
    *to = '\0';
}

static bool holds(const char *text, const char *part)
{
    if (strstr(text, part))
        return true;
    (void)fprintf(stderr, "not there: %s\n", part);
    return false;
}

/* Every key of the tables, written as `before`NAME`after`, is in the text. */
static bool holds_rows(const char *text, const struct language_row *rows, const char *before,
                       const char *after)
{
    bool all = true;

    for (; rows->option.name; rows++) {
        char part[128];

        (void)snprintf(part, sizeof part, "%s%s%s", before, rows->option.name, after);
        all = holds(text, part) && all;
        if (rows->option.kind == LANGUAGE_SECTION && rows->rows != language_host)
            all = holds_rows(text, rows->rows, before, after) && all;
    }
    return all;
}

static bool holds_tables(const char *text, const char *before, const char *after)
{
    return holds_rows(text, language_top, before, after) &&
           holds_rows(text, language_host, before, after) &&
           holds_rows(text, language_dispatcher, before, after) &&
           holds_rows(text, language_source, before, after) &&
           holds_rows(text, language_pool, before, after) &&
           holds_rows(text, language_output, before, after);
}

/* --- tests ------------------------------------------------------------------------------------ */

static void test_each_row_of_the_tables_is_in_the_schema(void)
{
    char *text = written(PLAIN_SCHEMA);

    CU_ASSERT(holds_tables(text, "\"", "\": {"));
    free(text);
}

/* A key of a section has the section's name and a point before it. */
static bool holds_help(const char *text, const struct language_row *rows)
{
    bool all = true;

    for (; rows->option.name; rows++) {
        if (rows->option.kind == LANGUAGE_SECTION)
            all = holds_help(text, rows->rows) && all;
        else
            all = holds(text, rows->option.help) && all;
    }
    return all;
}

static void test_each_row_of_the_tables_is_in_the_reference(void)
{
    char *text = written(MARKDOWN);

    CU_ASSERT(holds_help(text, language_top));
    CU_ASSERT(holds_help(text, language_dispatcher));
    CU_ASSERT(holds_help(text, language_source));
    CU_ASSERT(holds_help(text, language_pool));
    CU_ASSERT(holds_help(text, language_output));
    CU_ASSERT(holds(text, "| `restart.backoff` | range of durations within 1ms..1h | "
                          "`100ms..10s` |"));
    free(text);
}

static void test_each_kind_of_option_has_its_bounds_and_default(void)
{
    char *text = written(FAKE_SCHEMA);

    squeeze(text);
    CU_ASSERT(holds(text, "\"keep\": {\"default\": true,\"anyOf\": [{\"type\": \"boolean\"}"));
    CU_ASSERT(holds(text, "\"threads\": {\"default\": 1,\"anyOf\": [{\"type\": \"integer\","
                          "\"minimum\": 1,\"maximum\": 8}"));
    CU_ASSERT(holds(text, "\"max_pixels\": {\"default\": 1000000,\"anyOf\": [{\"type\": "
                          "\"integer\",\"minimum\": 0,\"maximum\": 18446744073709551615}"));
    CU_ASSERT(holds(text, "\"minimum\": -10,\"maximum\": 10}"));
    CU_ASSERT(holds(text, "\"quality\": {\"default\": 0.8,\"anyOf\": [{\"type\": \"number\","
                          "\"minimum\": 0,\"maximum\": 1}"));
    CU_ASSERT(holds(text, "\"cache\": {\"default\": \"64KiB\""));
    CU_ASSERT(holds(text, "\"patience\": {\"default\": \"250ms\",\"anyOf\": [{\"$ref\": "
                          "\"#/$defs/duration\"}]}"));
    CU_ASSERT(holds(text, "{\"enum\": [\"jpeg\",\"png\",\"webp\"]}"));
    CU_ASSERT(holds(text, "\"sizes\": {\"default\": [\"small\",\"large\"],\"type\": \"array\""));
    CU_ASSERT(holds(text, "\"headers\": {\"description\": \"as they are\",\"type\": \"object\""));
    free(text);
}

/* --- a plugin's own words --------------------------------------------------------------------- */

struct odd {
    const char *word;
    const char *token;
    uint32_t level;
    struct weir_list some;
};

static const char *const levels[] = { "1", "true", "low", NULL };

static const struct weir_option odd_options[] = {
    WEIR_OPTION_STRING(struct odd, word, .fallback = "a \"b\"\t\\",
                       .help = "with \"quotes\",\na line end and \\"),
    WEIR_OPTION_STRING(struct odd, token, .fallback = "hush", .secret = true),
    WEIR_OPTION_ENUM(struct odd, level, .fallback = "1", .choices = levels),
    WEIR_OPTION_LIST(struct odd, some, .fallback = "true", .choices = levels, .max = 3),
    { 0 },
};

static int produce_nothing(struct weir_self *self, void *state, uint32_t credit)
{
    (void)self;
    (void)state;
    (void)credit;
    return WEIR_END;
}

static const struct weir_behaviour odd = {
    .name = "odd",
    .options = odd_options,
    .settings_size = sizeof(struct odd),
    .produce = produce_nothing,
};

static char *written_odd(void)
{
    struct schema_use use = { "very.odd", &odd };
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);

    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    schema_write(stream, &use, 1);
    (void)fclose(stream);
    return text;
}

static void test_texts_of_a_plugin_are_escaped(void)
{
    char *text = written_odd();

    CU_ASSERT(holds(text, "\"with \\\"quotes\\\",\\u000aa line end and \\\\\""));
    CU_ASSERT(holds(text, "\"default\": \"a \\\"b\\\"\\u0009\\\\\""));
    free(text);
}

static void test_a_secret_default_is_not_in_the_schema(void)
{
    char *text = written_odd();

    CU_ASSERT_PTR_NULL(strstr(text, "hush"));
    free(text);
}

static void test_words_stand_beside_a_list(void)
{
    char *text = written_odd();

    squeeze(text);
    CU_ASSERT(holds(text, "\"some\": {\"default\": \"true\",\"anyOf\": [{\"type\": \"array\","
                          "\"items\": {\"$ref\": \"#/$defs/text\"},\"maxItems\": 3},"
                          "{\"enum\": [\"1\",1,\"true\",true,\"low\"]}"));
    free(text);
}

static void test_a_choice_that_looks_like_a_number_may_be_one(void)
{
    char *text = written_odd();

    squeeze(text);
    CU_ASSERT(holds(text, "{\"enum\": [\"1\",1,\"true\",true,\"low\"]}"));
    free(text);
}

static void test_a_source_is_refused_in_a_pool(void)
{
    char *text = written_odd();

    squeeze(text);
    CU_ASSERT(holds(text, "{\"if\": {\"properties\": {\"use\": {\"const\": \"very.odd\"}},"
                          "\"required\": [\"use\"]},\"then\": false}"));
    free(text);
}

/* --- as a manual page ------------------------------------------------------------------------- */

static void test_no_text_of_the_manual_is_taken_for_a_request(void)
{
    static const char *const requests[] = { ".TH", ".SH", ".PP", ".TP",  ".in",
                                            ".EX", ".EE", ".BR", ".\\\"" };
    char *text = written(MANUAL);

    for (const char *line = text; line && *line; line = strchr(line, '\n')) {
        bool known = false;

        line += line[0] == '\n';
        for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++)
            known = known || strncmp(line, requests[i], strlen(requests[i])) == 0;
        CU_ASSERT(line[0] != '\'' && (line[0] != '.' || known));
    }
    free(text);
}

/* --- for tests/system/schema ------------------------------------------------------------------ */

static const char *variable(void *context, const char *name)
{
    (void)context;
    if (strcmp(name, "SIZE") == 0)
        return "3";
    return strcmp(name, "EMPTY") == 0 ? "" : NULL;
}

static bool is_right(const char *file)
{
    struct config_source source = { .variable = variable };
    struct config_tree *tree = NULL;
    struct settings *settings = NULL;
    struct report report;
    int status;

    report_init(&report);
    status = config_read_file(file, &source, &report, &tree);
    if (status == WEIR_OK)
        status = config_check(tree, &fake_catalogue, CPUS, &report, &settings);
    config_tree_destroy(tree);
    settings_destroy(settings);
    report_finish(&report);
    return status == WEIR_OK;
}

int main(int argument_count, char **arguments)
{
    CU_TestInfo tests[] = {
        { "rows in the schema", test_each_row_of_the_tables_is_in_the_schema },
        { "rows in the reference", test_each_row_of_the_tables_is_in_the_reference },
        { "kinds", test_each_kind_of_option_has_its_bounds_and_default },
        { "escapes", test_texts_of_a_plugin_are_escaped },
        { "secrets", test_a_secret_default_is_not_in_the_schema },
        { "choices", test_a_choice_that_looks_like_a_number_may_be_one },
        { "words beside a list", test_words_stand_beside_a_list },
        { "roles", test_a_source_is_refused_in_a_pool },
        { "requests", test_no_text_of_the_manual_is_taken_for_a_request },
        CU_TEST_INFO_NULL,
    };

    if (argument_count == 1)
        return suite_run("schema", tests);
    if (strcmp(arguments[1], "schema") == 0)
        write_fake_schema(stdout);
    for (int i = 2; i < argument_count; i++)
        (void)printf("%s\n", is_right(arguments[i]) ? "right" : "wrong");
    return 0;
}
