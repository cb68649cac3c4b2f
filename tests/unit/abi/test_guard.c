/* SPDX-License-Identifier: MIT */
/*
 * Goal: the host never reads past the shorter structs of a plugin that an older SDK built; fields
 * that the SDK did not have are NULL, 0 or false. Shows promise B5.
 * Method: each struct and table is copied to the end of a page, and the next page cannot be read: a
 * host that reads further crashes here. First the plugin of SDK 1.0 as it is, then one whose rows
 * lack their last fields.
 */
#include <stdalign.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <CUnit/Basic.h>
#include <CUnit/CUnit.h>

#include <weir/testkit.h>

#include "host/plugin/descriptor.h"

#define GUARDS_MAX 16

extern const struct weir_plugin weir_plugin_v1; /* abi_1_0.c, with the headers of 1.0 */

struct guarded {
    void *pages[GUARDS_MAX];
    size_t count;
};

/* Makes a copy that ends where reading ends. Rows are aligned to pointers, and so is the copy. */
static void *guard(struct guarded *guarded, const void *bytes, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CU_ASSERT_FATAL(pages != MAP_FAILED && guarded->count < GUARDS_MAX);
    CU_ASSERT_FATAL(size <= page && size % alignof(void *) == 0);
    CU_ASSERT_EQUAL_FATAL(mprotect(pages + page, page, PROT_NONE), 0);
    guarded->pages[guarded->count++] = pages;
    return memcpy(pages + page - size, bytes, size);
}

static void guarded_finish(struct guarded *guarded)
{
    while (guarded->count > 0)
        CU_ASSERT_EQUAL(munmap(guarded->pages[--guarded->count], 2 * (size_t)sysconf(_SC_PAGESIZE)),
                        0);
}

/* Strides of a table: in the plugin, and in the copy. */
struct strides {
    size_t from;
    size_t to;
};

/* Copies the table with its row of zeros, each row shortened; NULL stays NULL. */
static void *guard_table(struct guarded *guarded, const void *table, struct strides strides)
{
    char rows[4096] = { 0 };
    const char *row = table;
    const char *name;
    size_t count = 0;

    if (!table)
        return NULL;
    do {
        CU_ASSERT_FATAL((count + 1) * strides.to <= sizeof rows);
        memcpy(rows + count++ * strides.to, row, strides.to);
        memcpy(&name, row, sizeof name);
        row += strides.from;
    } while (name);
    return guard(guarded, rows, count * strides.to);
}

/* How many bytes are cut from each row. */
struct cut {
    uint32_t behaviour;
    uint32_t option;
    uint32_t output;
};

/* Copies the plugin of SDK 1.0 with all of its tables. */
static const struct weir_plugin *guard_plugin(struct guarded *guarded, struct cut cut)
{
    struct weir_plugin *plugin = guard(guarded, &weir_plugin_v1, weir_plugin_v1.size);
    struct strides rows = { plugin->behaviour_size, plugin->behaviour_size - cut.behaviour };
    struct strides options = { plugin->option_size, plugin->option_size - cut.option };
    struct strides outputs = { plugin->output_size, plugin->output_size - cut.output };
    char *row = guard_table(guarded, plugin->behaviours, rows);

    /* Not as structs: today's are longer. */
    plugin->behaviours = (const void *)row;
    for (void *table; memcpy(&table, row, sizeof table), table; row += rows.to) {
        const size_t at_options = offsetof(struct weir_behaviour, options);
        const size_t at_outputs = offsetof(struct weir_behaviour, outputs);

        memcpy(&table, row + at_options, sizeof table);
        table = guard_table(guarded, table, options);
        memcpy(row + at_options, &table, sizeof table);
        memcpy(&table, row + at_outputs, sizeof table);
        table = guard_table(guarded, table, outputs);
        memcpy(row + at_outputs, &table, sizeof table);
    }
    plugin->behaviour_size = (uint32_t)rows.to;
    plugin->option_size = (uint32_t)options.to;
    plugin->output_size = (uint32_t)outputs.to;
    return plugin;
}

static void test_plugin_of_1_0_is_read_within_its_structs(void)
{
    struct guarded guarded = { .count = 0 };
    struct descriptor_abi abi = descriptor_abi();
    struct descriptor made;
    struct problem problem = { "" };
    const struct weir_plugin *plugin = guard_plugin(&guarded, (struct cut){ 0, 0, 0 });

    CU_ASSERT_EQUAL(plugin->abi_minor, 0);
    CU_ASSERT_EQUAL(plugin->size, abi.plugin_min);
    CU_ASSERT_EQUAL(plugin->behaviour_size, abi.behaviour_min);
    CU_ASSERT_EQUAL(plugin->option_size, abi.option_min);
    CU_ASSERT_EQUAL(plugin->output_size, abi.output_min);
    CU_ASSERT_EQUAL_FATAL(descriptor_read(plugin, &abi, "abi_1_0.so", &made, &problem), WEIR_OK);
    CU_ASSERT_EQUAL(made.abi_minor, 0);
    CU_ASSERT_EQUAL_FATAL(made.behaviour_count, 3);
    CU_ASSERT_STRING_EQUAL(made.behaviours[2].name, "desk");
    CU_ASSERT_STRING_EQUAL(made.behaviours[1].options[7].name, "names");
    CU_ASSERT_TRUE(made.behaviours[1].options[1].live);
    CU_ASSERT_TRUE(made.behaviours[0].outputs[0].required);
    descriptor_finish(&made);
    guarded_finish(&guarded);
}

/* True when a row of today has only zeros after the fields of SDK 1.0. */
static bool is_zero_behind(const void *row, size_t known, size_t size)
{
    const unsigned char *bytes = row;

    while (known < size && bytes[known] == 0)
        known++;
    return known == size;
}

static void test_what_1_0_did_not_know_is_absent(void)
{
    struct guarded guarded = { .count = 0 };
    struct descriptor_abi abi = descriptor_abi();
    struct descriptor made;
    struct problem problem = { "" };
    const struct weir_plugin *plugin = guard_plugin(&guarded, (struct cut){ 0, 0, 0 });

    CU_ASSERT_EQUAL_FATAL(descriptor_read(plugin, &abi, "abi_1_0.so", &made, &problem), WEIR_OK);
    for (size_t i = 0; i < made.behaviour_count; i++) {
        const struct weir_behaviour *behaviour = &made.behaviours[i];

        CU_ASSERT(is_zero_behind(behaviour, abi.behaviour_min, sizeof *behaviour));
        for (const struct weir_option *option = behaviour->options; option->name; option++)
            CU_ASSERT(is_zero_behind(option, abi.option_min, sizeof *option));
        for (const struct weir_output *output = behaviour->outputs; output->name; output++)
            CU_ASSERT(is_zero_behind(output, abi.output_min, sizeof *output));
    }
    descriptor_finish(&made);
    guarded_finish(&guarded);
}

/* Also tests the reading while no struct has grown yet. */
static void test_rows_cut_short_are_read_by_their_strides(void)
{
    struct guarded guarded = { .count = 0 };
    struct cut cut = { .behaviour = 8, .option = 8, .output = 8 };
    struct descriptor_abi abi = descriptor_abi();
    struct descriptor made;
    struct problem problem = { "" };
    const struct weir_plugin *plugin = guard_plugin(&guarded, cut);

    abi.behaviour_min -= cut.behaviour;
    abi.option_min -= cut.option;
    abi.output_min -= cut.output;
    CU_ASSERT_EQUAL_FATAL(descriptor_read(plugin, &abi, "abi_1_0.so", &made, &problem), WEIR_OK);
    CU_ASSERT_EQUAL_FATAL(made.behaviour_count, 3);
    CU_ASSERT_STRING_EQUAL(made.behaviours[1].name, "square");
    CU_ASSERT(made.behaviours[1].handle != NULL);
    CU_ASSERT(made.behaviours[1].close == NULL);
    CU_ASSERT_STRING_EQUAL(made.behaviours[1].options[7].name, "names");
    CU_ASSERT_FALSE(made.behaviours[1].options[1].live);
    CU_ASSERT_STRING_EQUAL(made.behaviours[0].outputs[0].help, "one by one");
    CU_ASSERT_FALSE(made.behaviours[0].outputs[0].required);
    descriptor_finish(&made);
    guarded_finish(&guarded);
}

static void test_descriptor_cut_short_is_copied_by_its_size(void)
{
    struct guarded guarded = { .count = 0 };
    struct descriptor_abi abi = descriptor_abi();
    struct descriptor made;
    struct problem problem = { "" };
    struct weir_plugin cut = { .size = 0 };
    const size_t size = weir_plugin_v1.size - 2 * sizeof(uint32_t);

    /* The headers of 1.0 made the plugin: it is shorter than today's struct. */
    memcpy(&cut, &weir_plugin_v1, size);
    cut.size = (uint32_t)size;
    abi.plugin_min = cut.size;
    /* The stride of outputs, of 4 bytes, is past the end, so it counts as 0. */
    CU_ASSERT_EQUAL(
        descriptor_read(guard(&guarded, &cut, size), &abi, "abi_1_0.so", &made, &problem),
        WEIR_EINVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(problem.text, "rows of outputs have 0 bytes"));
    guarded_finish(&guarded);
}

/* The kit reads a plugin by the same rules. */
static void test_plugin_of_1_0_runs_in_the_kit(void)
{
    struct guarded guarded = { .count = 0 };
    const struct weir_plugin *plugin = guard_plugin(&guarded, (struct cut){ 8, 8, 8 });
    struct weir_kit *kit = weir_kit_create(plugin, "square");

    CU_ASSERT_PTR_NOT_NULL_FATAL(kit);
    CU_ASSERT_EQUAL(weir_kit_open_args(kit, "words: [a, b]"), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_logged(kit), "words=2"));
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    guarded_finish(&guarded);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "plugin of 1.0 within its structs", test_plugin_of_1_0_is_read_within_its_structs },
        { "what 1.0 did not know is absent", test_what_1_0_did_not_know_is_absent },
        { "rows cut short", test_rows_cut_short_are_read_by_their_strides },
        { "plugin of 1.0 in the kit", test_plugin_of_1_0_runs_in_the_kit },
        { "descriptor cut short", test_descriptor_cut_short_is_copied_by_its_size },
        CU_TEST_INFO_NULL,
    };
    CU_SuiteInfo suites[] = { { .pName = "guard", .pTests = tests }, CU_SUITE_INFO_NULL };
    unsigned failures;

    if (CU_initialize_registry() != CUE_SUCCESS || CU_register_suites(suites) != CUE_SUCCESS)
        return 1;
    CU_basic_run_tests();
    failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return failures != 0;
}
