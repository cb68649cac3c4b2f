/* SPDX-License-Identifier: MIT */
/*
 * Goal: an address in a loaded plugin is named by its function, also by one that the plugin hides,
 * with its place in the plugin's file; of a stripped or damaged file by that place alone.
 * Method: a plugin built for tests, opened by the dynamic linker; the same file cut at many places,
 * and with each byte of its headers changed.
 */
#include "host/plugin/symbols.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include <weir/plugin.h>

#include "suite.h"
#include "workspace.h"

#define SAMPLE TEST_PLUGINS "/sample.so"

struct stage {
    void *handle;
    const void *base;
    const void *handle_callback; /* an address in the function `handle` */
    struct symbols *symbols;
};

static void begin(struct stage *stage)
{
    const struct weir_plugin *plugin;
    Dl_info info;

    stage->handle = dlopen(SAMPLE, RTLD_NOW | RTLD_LOCAL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(stage->handle);
    plugin = dlsym(stage->handle, WEIR_PLUGIN_SYMBOL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(plugin);
    CU_ASSERT_FATAL(dladdr(plugin, &info) != 0);
    stage->base = info.dli_fbase;
    stage->handle_callback = (const void *)(uintptr_t)plugin->behaviours[0].handle;
    stage->symbols = symbols_create();
}

static void end(struct stage *stage)
{
    symbols_destroy(stage->symbols);
    CU_ASSERT_EQUAL(dlclose(stage->handle), 0);
}

static void test_hidden_function_is_named(void)
{
    char name[64] = "", wanted[64];
    struct stage stage;

    begin(&stage);
    (void)snprintf(wanted, sizeof wanted, "handle (sample.so+0x%zx)",
                   (size_t)((const char *)stage.handle_callback - (const char *)stage.base));
    symbols_add(stage.symbols, SAMPLE, "folder/sample.so", stage.base);
    CU_ASSERT_TRUE(
        symbols_find(stage.symbols, stage.base, stage.handle_callback, name, sizeof name));
    CU_ASSERT_STRING_EQUAL(name, wanted);
    CU_ASSERT_TRUE(symbols_find(stage.symbols, stage.base, stage.handle_callback, name, 4));
    CU_ASSERT_STRING_EQUAL(name, "han");
    CU_ASSERT_TRUE(symbols_find(stage.symbols, stage.base, stage.base, name, sizeof name));
    CU_ASSERT_STRING_EQUAL(name, "sample.so+0x0");
    CU_ASSERT_FALSE(symbols_find(stage.symbols, &stage, stage.handle_callback, name, sizeof name));
    symbols_forget(stage.symbols, stage.base);
    CU_ASSERT_FALSE(
        symbols_find(stage.symbols, stage.base, stage.handle_callback, name, sizeof name));
    end(&stage);
}

static void test_file_that_is_not_there_names_no_function(void)
{
    struct stage stage;
    char name[32] = "";

    begin(&stage);
    symbols_add(NULL, SAMPLE, SAMPLE, stage.base);
    CU_ASSERT_FALSE(
        symbols_find(stage.symbols, stage.base, stage.handle_callback, name, sizeof name));
    symbols_add(stage.symbols, "/nowhere/sample.so", SAMPLE, stage.base);
    symbols_add(stage.symbols, "/dev/null", SAMPLE, stage.base);
    CU_ASSERT_TRUE(
        symbols_find(stage.symbols, stage.base, stage.handle_callback, name, sizeof name));
    CU_ASSERT_EQUAL(strncmp(name, "sample.so+0x", 12), 0);
    CU_ASSERT_FALSE(symbols_find(NULL, stage.base, stage.handle_callback, name, sizeof name));
    end(&stage);
}

/* Reads it; no call may leave the file. */
static void read_damaged(struct stage *stage, const char *path, const char *bytes, size_t size)
{
    FILE *file = fopen(path, "we");
    char name[32];

    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CU_ASSERT_EQUAL(fwrite(bytes, 1, size, file), size);
    CU_ASSERT_EQUAL(fclose(file), 0);
    symbols_add(stage->symbols, path, path, stage->base);
    (void)symbols_find(stage->symbols, stage->base, stage->handle_callback, name, sizeof name);
    symbols_forget(stage->symbols, stage->base);
}

static void test_damaged_file_does_no_harm(void)
{
    struct workspace workspace;
    struct stage stage;
    char path[256];
    char *bytes = malloc(1 << 20);
    FILE *file = fopen(SAMPLE, "re");
    size_t size, sections;

    CU_ASSERT_FATAL(bytes && file);
    size = fread(bytes, 1, 1 << 20, file);
    (void)fclose(file);
    sections = (size_t)((const Elf64_Ehdr *)(const void *)bytes)->e_shoff;
    CU_ASSERT_FATAL(sections < size);
    begin(&stage);
    workspace_init(&workspace);
    workspace_path(&workspace, "damaged.so", path);
    for (size_t cut = 0; cut < size; cut += cut < 128 ? 1 : 997)
        read_damaged(&stage, path, bytes, cut);
    for (size_t at = 0; at < size; at = at == sizeof(Elf64_Ehdr) ? sections : at + 1) {
        char before = bytes[at];

        bytes[at] = (char)0xff;
        read_damaged(&stage, path, bytes, size);
        bytes[at] = before;
    }
    workspace_finish(&workspace);
    end(&stage);
    free(bytes);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "hidden function is named", test_hidden_function_is_named },
        { "file that is not there", test_file_that_is_not_there_names_no_function },
        { "damaged file does no harm", test_damaged_file_does_no_harm },
        CU_TEST_INFO_NULL,
    };

    return suite_run("symbols", tests);
}
