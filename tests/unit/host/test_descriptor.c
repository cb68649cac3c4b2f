/* SPDX-License-Identifier: MIT */
/*
 * Goal: a plugin's tables are read by the plugin's strides, and a wrong one is refused with one
 * clear sentence.
 * Method: descriptors in memory; an SDK older or newer than this one is played with rows of
 * other lengths and the sizes that are passed in.
 */
#include <stddef.h>
#include <string.h>

#include "host/plugin/descriptor.h"
#include "suite.h"

struct settings {
    uint32_t keep;
};

static int handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    (void)self;
    (void)state;
    (void)message;
    return WEIR_DONE;
}

static const struct weir_option options[] = {
    WEIR_OPTION_U32(struct settings, keep, .fallback = "1", .min = 1, .max = 9),
    { 0 },
};

static const struct weir_output outputs[] = { { .name = "out" }, { 0 } };

/* The parts that tests change. */
struct sample {
    struct weir_behaviour behaviours[3];
    struct weir_plugin plugin;
    struct descriptor_abi abi;
};

static struct sample *sample_of(struct sample *sample)
{
    *sample = (struct sample){
        .behaviours = { { .name = "run",
                          .options = options,
                          .outputs = outputs,
                          .settings_size = sizeof(struct settings),
                          .handle = handle },
                        { .name = "walk", .handle = handle } },
        .plugin = { .size = sizeof(struct weir_plugin),
                    .name = "sample",
                    .version = "1.2.3",
                    .behaviour_size = sizeof(struct weir_behaviour),
                    .option_size = sizeof(struct weir_option),
                    .output_size = sizeof(struct weir_output) },
        .abi = descriptor_abi(),
    };
    sample->plugin.behaviours = sample->behaviours;
    return sample;
}

/* Reads it as `file`, expects a refusal and answers the sentence. */
static const char *refusal_as(struct sample *sample, const char *file, int wanted)
{
    static struct problem problem;
    struct descriptor made;
    int status = descriptor_read(&sample->plugin, &sample->abi, file, &made, &problem);

    CU_ASSERT_EQUAL(status, wanted);
    if (status == WEIR_OK) {
        descriptor_finish(&made);
        return "";
    }
    return problem.text;
}

static const char *refusal(struct sample *sample, int wanted)
{
    return refusal_as(sample, "/p/sample.so", wanted);
}

static void test_descriptor_of_this_sdk_is_copied(void)
{
    struct sample sample;
    struct descriptor made;
    struct problem problem;

    sample_of(&sample);
    CU_ASSERT_EQUAL_FATAL(
        descriptor_read(&sample.plugin, &sample.abi, "/p/sample.so", &made, &problem), WEIR_OK);
    CU_ASSERT_EQUAL(made.behaviour_count, 2);
    CU_ASSERT_STRING_EQUAL(made.name, "sample");
    CU_ASSERT_STRING_EQUAL(made.version, "1.2.3");
    CU_ASSERT_PTR_EQUAL(descriptor_find(&made, "walk", &problem), &made.behaviours[1]);
    CU_ASSERT_PTR_NULL(descriptor_find(&made, "wlak", &problem));
    CU_ASSERT_STRING_EQUAL(problem.text,
                           "plugin sample has no behaviour \"wlak\"; did you mean \"walk\"?");
    CU_ASSERT_PTR_NULL(descriptor_find(&made, "discard", &problem));
    CU_ASSERT_STRING_EQUAL(problem.text,
                           "plugin sample has no behaviour \"discard\"; it has run, walk");
    CU_ASSERT(made.behaviours[0].options != options);
    CU_ASSERT_STRING_EQUAL(made.behaviours[0].options[0].name, "keep");
    CU_ASSERT_PTR_NULL(made.behaviours[0].options[1].name);
    /* A NULL table becomes an empty one, which saves further checks. */
    CU_ASSERT_PTR_NOT_NULL_FATAL(made.behaviours[1].outputs);
    CU_ASSERT_PTR_NULL(made.behaviours[1].outputs[0].name);
    descriptor_finish(&made);
}

static void test_list_of_behaviours_is_read_like_a_table(void)
{
    struct sample sample;
    struct descriptor made;
    struct problem problem;

    sample_of(&sample)->plugin.behaviours = NULL;
    sample.plugin.behaviour_list = (const struct weir_behaviour *const[]){ &sample.behaviours[1],
                                                                           &sample.behaviours[0],
                                                                           NULL };
    CU_ASSERT_EQUAL_FATAL(
        descriptor_read(&sample.plugin, &sample.abi, "/p/sample.so", &made, &problem), WEIR_OK);
    CU_ASSERT_EQUAL(made.behaviour_count, 2);
    CU_ASSERT_STRING_EQUAL(made.behaviours[0].name, "walk");
    CU_ASSERT_STRING_EQUAL(made.behaviours[1].name, "run");
    CU_ASSERT_STRING_EQUAL(made.behaviours[1].options[0].name, "keep");
    descriptor_finish(&made);
}

static void test_wrong_list_is_refused(void)
{
    static const struct weir_behaviour *endless[DESCRIPTOR_BEHAVIOURS_MAX + 1];
    struct sample sample;

    sample_of(&sample)->plugin.behaviour_list = (const struct weir_behaviour *const[]){ NULL };
    CU_ASSERT_STRING_EQUAL(refusal(&sample, WEIR_EINVALID), "/p/sample.so: has no behaviours");
    sample.plugin.behaviour_list = (const struct weir_behaviour *const[]){ &sample.behaviours[0],
                                                                           &sample.behaviours[2],
                                                                           NULL };
    CU_ASSERT_STRING_EQUAL(
        refusal(&sample, WEIR_EINVALID),
        "/p/sample.so: behaviour 2 has no valid name; does its table end with a row of zeros, "
        "{ 0 }?");
    for (size_t i = 0; i < sizeof endless / sizeof endless[0]; i++)
        endless[i] = &sample.behaviours[0];
    sample.plugin.behaviour_list = endless;
    CU_ASSERT_PTR_NOT_NULL(strstr(refusal(&sample, WEIR_EINVALID), "more than 64 behaviours"));
}

/* Rows as an older SDK had them: without the last callback. */
struct older_row {
    char bytes[offsetof(struct weir_behaviour, close)];
};

static void test_shorter_rows_of_an_older_sdk_are_read_by_their_stride(void)
{
    struct sample sample;
    struct older_row rows[3];
    struct descriptor made;
    struct problem problem;

    sample_of(&sample);
    for (size_t i = 0; i < 3; i++)
        memcpy(rows[i].bytes, &sample.behaviours[i], sizeof rows[i].bytes);
    memcpy(&sample.plugin.behaviours, &(void *){ rows }, sizeof(void *));
    sample.plugin.behaviour_size = sizeof(struct older_row);
    sample.abi.behaviour_min = sizeof(struct older_row);
    CU_ASSERT_EQUAL_FATAL(
        descriptor_read(&sample.plugin, &sample.abi, "sample.so", &made, &problem), WEIR_OK);
    CU_ASSERT_EQUAL(made.behaviour_count, 2);
    CU_ASSERT_STRING_EQUAL(made.behaviours[1].name, "walk");
    CU_ASSERT(made.behaviours[1].handle == handle);
    CU_ASSERT(made.behaviours[1].close == NULL);
    descriptor_finish(&made);
}

static void test_other_sizes_are_refused_with_both_versions(void)
{
    struct sample sample;

    sample_of(&sample)->plugin.size = 8;
    CU_ASSERT_PTR_NOT_NULL(strstr(refusal(&sample, WEIR_EUNSUPPORTED), "has 8 bytes, SDK 1.0 to "));
    sample_of(&sample)->plugin.size = 4096;
    CU_ASSERT_PTR_NOT_NULL(strstr(refusal(&sample, WEIR_EUNSUPPORTED), "has 4096 bytes"));
    sample_of(&sample)->plugin.abi_minor = WEIR_ABI_MINOR + 5;
    CU_ASSERT_STRING_EQUAL(refusal(&sample, WEIR_EUNSUPPORTED),
                           "/p/sample.so: is built for SDK 1.6, this host speaks 1.1; upgrade the "
                           "host, or rebuild the plugin with its SDK");
}

static void test_impossible_strides_are_refused(void)
{
    struct sample sample;

    sample_of(&sample)->plugin.behaviour_size = 0;
    CU_ASSERT_PTR_NOT_NULL(
        strstr(refusal(&sample, WEIR_EINVALID), "rows of behaviours have 0 bytes"));
    sample_of(&sample)->plugin.option_size = 1u << 30;
    CU_ASSERT_PTR_NOT_NULL(strstr(refusal(&sample, WEIR_EINVALID), "rows of options have 1073741"));
    sample_of(&sample)->plugin.output_size += 1;
    CU_ASSERT_PTR_NOT_NULL(strstr(refusal(&sample, WEIR_EINVALID), "rows of outputs have"));
}

static void test_name_must_be_that_of_the_file(void)
{
    struct sample sample;

    sample_of(&sample);
    CU_ASSERT_STRING_EQUAL(refusal_as(&sample, "/p/other.so", WEIR_EINVALID),
                           "/p/other.so: calls itself sample; a plugin's file is called NAME.so");
    CU_ASSERT_STRING_EQUAL(refusal_as(&sample, "sample", WEIR_OK), "");
    sample_of(&sample)->plugin.name = NULL;
    CU_ASSERT_PTR_NOT_NULL(strstr(refusal(&sample, WEIR_EINVALID), "no valid name"));
    sample_of(&sample)->plugin.name = "../sample";
    CU_ASSERT_PTR_NOT_NULL(strstr(refusal(&sample, WEIR_EINVALID), "no valid name"));
    sample_of(&sample)->plugin.version = "";
    CU_ASSERT_PTR_NOT_NULL(strstr(refusal(&sample, WEIR_EINVALID), "no valid version"));
}

static void test_behaviours_must_be_there_named_once_and_do_something(void)
{
    struct sample sample;

    sample_of(&sample)->behaviours[0].name = NULL;
    CU_ASSERT_STRING_EQUAL(refusal(&sample, WEIR_EINVALID), "/p/sample.so: has no behaviours");
    sample_of(&sample)->plugin.behaviours = NULL;
    CU_ASSERT_STRING_EQUAL(refusal(&sample, WEIR_EINVALID), "/p/sample.so: has no behaviours");
    sample_of(&sample)->behaviours[1].name = "run";
    CU_ASSERT_STRING_EQUAL(refusal(&sample, WEIR_EINVALID),
                           "/p/sample.so: has two behaviours called run");
    sample_of(&sample)->behaviours[1].name = "a b";
    CU_ASSERT_STRING_EQUAL(
        refusal(&sample, WEIR_EINVALID),
        "/p/sample.so: behaviour 2 has no valid name; does its table end with a row of zeros, "
        "{ 0 }?");
    sample_of(&sample)->behaviours[1].handle = NULL;
    CU_ASSERT_STRING_EQUAL(refusal(&sample, WEIR_EINVALID),
                           "/p/sample.so: behaviour walk: has neither handle nor produce");
    sample_of(&sample)->behaviours[0].state_size = DESCRIPTOR_STATE_MAX + 1;
    CU_ASSERT_PTR_NOT_NULL(strstr(refusal(&sample, WEIR_EINVALID), "allocate in open"));
}

static void test_table_without_an_end_is_refused(void)
{
    static struct weir_behaviour many[DESCRIPTOR_BEHAVIOURS_MAX + 2];
    static struct weir_option many_options[DESCRIPTOR_OPTIONS_MAX + 2];
    struct sample sample;

    for (size_t i = 0; i < sizeof many / sizeof many[0]; i++)
        many[i] = (struct weir_behaviour){ .name = "again", .handle = handle };
    sample_of(&sample)->plugin.behaviours = many;
    CU_ASSERT_PTR_NOT_NULL(strstr(refusal(&sample, WEIR_EINVALID), "more than 64 behaviours"));
    for (size_t i = 0; i < sizeof many_options / sizeof many_options[0]; i++)
        many_options[i] = options[0];
    sample_of(&sample)->behaviours[0].options = many_options;
    CU_ASSERT_PTR_NOT_NULL(strstr(refusal(&sample, WEIR_EINVALID), "more than 256 options"));
}

static void test_wrong_option_is_refused_with_its_behaviour(void)
{
    static const struct weir_option wrong[] = {
        WEIR_OPTION_U32(struct settings, keep, .fallback = "12", .min = 1, .max = 9),
        { 0 },
    };
    static const struct weir_option outside[] = {
        { .name = "far", .kind = WEIR_U64, .offset = 4096 },
        { 0 },
    };
    struct sample sample;

    sample_of(&sample)->behaviours[0].options = wrong;
    CU_ASSERT_PTR_NOT_NULL(strstr(refusal(&sample, WEIR_EINVALID), "behaviour run: "));
    CU_ASSERT_PTR_NOT_NULL(strstr(refusal(&sample, WEIR_EINVALID), "keep"));
    sample_of(&sample)->behaviours[0].options = outside;
    CU_ASSERT_PTR_NOT_NULL(strstr(refusal(&sample, WEIR_EINVALID), "far"));
}

static void test_two_outputs_of_one_name_are_refused(void)
{
    static const struct weir_output twice[] = { { .name = "out" }, { .name = "out" }, { 0 } };
    struct sample sample;

    sample_of(&sample)->behaviours[0].outputs = twice;
    CU_ASSERT_STRING_EQUAL(refusal(&sample, WEIR_EINVALID),
                           "/p/sample.so: behaviour run: has two outputs called out");
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "descriptor of this SDK is copied", test_descriptor_of_this_sdk_is_copied },
        { "list is read like a table", test_list_of_behaviours_is_read_like_a_table },
        { "wrong list is refused", test_wrong_list_is_refused },
        { "shorter rows are read by their stride",
          test_shorter_rows_of_an_older_sdk_are_read_by_their_stride },
        { "other sizes are refused", test_other_sizes_are_refused_with_both_versions },
        { "impossible strides are refused", test_impossible_strides_are_refused },
        { "name must be that of the file", test_name_must_be_that_of_the_file },
        { "behaviours must be right", test_behaviours_must_be_there_named_once_and_do_something },
        { "table without an end", test_table_without_an_end_is_refused },
        { "wrong option", test_wrong_option_is_refused_with_its_behaviour },
        { "two outputs of one name", test_two_outputs_of_one_name_are_refused },
        CU_TEST_INFO_NULL,
    };

    return suite_run("descriptor", tests);
}
