/* SPDX-License-Identifier: MIT */
/*
 * Goal: the language finds behaviours through the loader: the same version for all of one round, a
 * newer one in the next, and a sentence when there is none.
 * Method: real plugins, copied into a directory that a small file names as host.plugins.
 */
#include "config/reader.h"
#include "host/plugin/catalogue.h"
#include "suite.h"
#include "workspace.h"

struct stage {
    struct workspace workspace;
    struct loader *loader;
    struct plugin_catalogue *catalogue;
    char file[256]; /* sample.so in the workspace */
};

static void begin_round(struct stage *stage)
{
    char text[256];
    struct report report;
    struct config_tree *tree;

    (void)snprintf(text, sizeof text, "version: 1\nhost: {plugins: [%s]}\n", stage->workspace.path);
    report_init(&report);
    CU_ASSERT_EQUAL_FATAL(config_read_text("t.yaml", text, strlen(text), NULL, &report, &tree), 0);
    CU_ASSERT_EQUAL(catalogue_begin(stage->catalogue, tree), WEIR_OK);
    config_tree_destroy(tree);
    report_finish(&report);
}

static void stage_begin(struct stage *stage)
{
    workspace_init(&stage->workspace);
    workspace_path(&stage->workspace, "sample.so", stage->file);
    workspace_copy(TEST_PLUGINS "/sample.so", stage->file);
    CU_ASSERT_EQUAL_FATAL(loader_create(NULL, &stage->loader), WEIR_OK);
    CU_ASSERT_EQUAL_FATAL(catalogue_create(stage->loader, &stage->catalogue), WEIR_OK);
    begin_round(stage);
}

static void stage_end(struct stage *stage)
{
    catalogue_destroy(stage->catalogue);
    loader_destroy(stage->loader);
    workspace_finish(&stage->workspace);
}

static const struct catalogue_entry *found(struct stage *stage, const char *use)
{
    const struct catalogue *catalogue = catalogue_get(stage->catalogue);
    struct catalogue_problem why;

    return catalogue->find(catalogue->context, use, &why);
}

static const char *refusal(struct stage *stage, const char *use)
{
    static struct catalogue_problem why;
    const struct catalogue *catalogue = catalogue_get(stage->catalogue);

    why.text[0] = '\0';
    CU_ASSERT_PTR_NULL(catalogue->find(catalogue->context, use, &why));
    return why.text;
}

static void test_behaviour_is_found_and_stays_the_same_entry(void)
{
    struct stage stage;
    const struct catalogue_entry *entry;

    stage_begin(&stage);
    entry = found(&stage, "sample.pass");
    CU_ASSERT_PTR_NOT_NULL_FATAL(entry);
    CU_ASSERT_STRING_EQUAL(entry->behaviour->name, "pass");
    CU_ASSERT_STRING_EQUAL(entry->plugin, "sample");
    CU_ASSERT_STRING_EQUAL(entry->version, "1.0.0");
    CU_ASSERT_EQUAL(entry->generation, 1);
    CU_ASSERT(entry->content_hash != 0);
    CU_ASSERT_PTR_EQUAL(found(&stage, "sample.pass"), entry);
    CU_ASSERT_PTR_NOT_EQUAL(found(&stage, "sample.list"), entry);
    stage_end(&stage);
}

static void test_missing_plugin_is_reported(void)
{
    struct stage stage;

    stage_begin(&stage);
    CU_ASSERT_PTR_NOT_NULL(strstr(refusal(&stage, "sample.psas"), "did you mean \"pass\"?"));
    CU_ASSERT_PTR_NOT_NULL(strstr(refusal(&stage, "smaple.pass"), "no plugin called smaple"));
    CU_ASSERT_PTR_NOT_NULL(strstr(refusal(&stage, "smaple.pass"), "did you mean \"sample\"?"));
    CU_ASSERT_PTR_NOT_NULL(strstr(refusal(&stage, "sample"), "must be PLUGIN.BEHAVIOUR"));
    CU_ASSERT_PTR_NOT_NULL(strstr(refusal(&stage, "a.b.c"), "must be PLUGIN.BEHAVIOUR"));
    CU_ASSERT_PTR_NOT_NULL(strstr(refusal(&stage, ".pass"), "must be PLUGIN.BEHAVIOUR"));
    CU_ASSERT_PTR_NOT_NULL(strstr(refusal(&stage, "sample."), "must be PLUGIN.BEHAVIOUR"));
    CU_ASSERT_PTR_NOT_NULL(strstr(refusal(&stage, "..pass"), "must be PLUGIN.BEHAVIOUR"));
    stage_end(&stage);
}

static void test_round_sees_one_version_and_the_next_round_the_newer(void)
{
    struct stage stage;
    const struct catalogue_entry *first, *second;

    stage_begin(&stage);
    first = found(&stage, "sample.pass");
    CU_ASSERT_EQUAL(unlink(stage.file), 0);
    workspace_copy(TEST_PLUGINS "/next/sample.so", stage.file);
    CU_ASSERT_PTR_EQUAL(found(&stage, "sample.pass"), first);
    CU_ASSERT_STRING_EQUAL(found(&stage, "sample.list")->version, "1.0.0");
    begin_round(&stage);
    second = found(&stage, "sample.pass");
    CU_ASSERT_PTR_NOT_NULL_FATAL(second);
    CU_ASSERT_STRING_EQUAL(second->version, "2.0.0");
    CU_ASSERT_EQUAL(second->generation, 2);
    CU_ASSERT_STRING_EQUAL(first->version, "1.0.0");
    stage_end(&stage);
}

static void test_problem_of_a_round_is_gone_in_the_next(void)
{
    struct stage stage;

    stage_begin(&stage);
    workspace_write(stage.file, "text", 4);
    CU_ASSERT_PTR_NOT_NULL(strstr(refusal(&stage, "sample.pass"), "is no shared object"));
    workspace_copy(TEST_PLUGINS "/sample.so", stage.file);
    CU_ASSERT_PTR_NOT_NULL(strstr(refusal(&stage, "sample.pass"), "is no shared object"));
    begin_round(&stage);
    CU_ASSERT_PTR_NOT_NULL(found(&stage, "sample.pass"));
    stage_end(&stage);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "behaviour is found", test_behaviour_is_found_and_stays_the_same_entry },
        { "missing plugin is reported", test_missing_plugin_is_reported },
        { "one version a round", test_round_sees_one_version_and_the_next_round_the_newer },
        { "problem of a round", test_problem_of_a_round_is_gone_in_the_next },
        CU_TEST_INFO_NULL,
    };

    return suite_run("catalogue", tests);
}
