/* SPDX-License-Identifier: MIT */
/*
 * Goal: plugins are loaded from copies, the same content is the same generation, and every other
 * file is refused with a sentence that begins with its name. Shows promise B1, promise B2.
 * Method: the real loader on plugins built for it (tests/plugins), in a private directory.
 */
#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "host/plugin/loader.h"
#include "host/plugin/private_dir.h"
#include "host/plugin/shared_object.h"
#include "suite.h"
#include "workspace.h"

#define MACHINE_AT 18

struct stage {
    struct workspace workspace;
    struct workspace copies;
    struct loader *loader;
    char file[256]; /* sample.so in the workspace */
};

static void stage_begin(struct stage *stage)
{
    workspace_init(&stage->workspace);
    workspace_init(&stage->copies);
    setenv("WEIR_PLUGIN_TMP", stage->copies.path, 1);
    CU_ASSERT_EQUAL_FATAL(loader_create(NULL, &stage->loader), WEIR_OK);
    workspace_path(&stage->workspace, "sample.so", stage->file);
    workspace_copy(TEST_PLUGINS "/sample.so", stage->file);
}

static void stage_end(struct stage *stage)
{
    loader_destroy(stage->loader);
    CU_ASSERT_EQUAL(workspace_count(stage->copies.path), 0);
    workspace_finish(&stage->copies);
    workspace_finish(&stage->workspace);
}

static const struct loaded *loaded_from(struct stage *stage, const char *file)
{
    struct problem problem = { "" };
    const struct loaded *loaded = NULL;

    CU_ASSERT_EQUAL_FATAL(loader_load_file(stage->loader, file, &loaded, &problem), WEIR_OK);
    return loaded;
}

/* Files in the private directory. */
static size_t loader_files(const struct stage *stage)
{
    DIR *directory = opendir(stage->copies.path);
    size_t count = 0;

    CU_ASSERT_PTR_NOT_NULL_FATAL(directory);
    for (struct dirent *entry; (entry = readdir(directory));) {
        char path[512];

        if (entry->d_name[0] == '.')
            continue;
        (void)snprintf(path, sizeof path, "%.200s/%.200s", stage->copies.path, entry->d_name);
        count += workspace_count(path);
    }
    closedir(directory);
    return count;
}

static bool is_mapped(const char *name)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[1024];
    bool found = false;

    CU_ASSERT_PTR_NOT_NULL_FATAL(maps);
    while (!found && fgets(line, sizeof line, maps))
        found = strstr(line, name) != NULL;
    (void)fclose(maps);
    return found;
}

static const char *refusal(struct stage *stage, const char *file, int wanted)
{
    static struct problem problem;
    const struct loaded *loaded = NULL;
    int status = loader_load_file(stage->loader, file, &loaded, &problem);

    CU_ASSERT_EQUAL(status, wanted);
    CU_ASSERT_PTR_NULL(loaded);
    CU_ASSERT_EQUAL(strncmp(problem.text, file, strlen(file)), 0);
    return status == WEIR_OK ? "" : problem.text + strlen(file);
}

static void test_plugin_is_loaded_from_a_copy(void)
{
    struct stage stage;
    const struct loaded *loaded;

    stage_begin(&stage);
    loaded = loaded_from(&stage, stage.file);
    CU_ASSERT_EQUAL(loaded->generation, 1);
    CU_ASSERT_EQUAL(loaded->descriptor.behaviour_count, 3);
    CU_ASSERT_STRING_EQUAL(loaded->descriptor.version, "1.0.0");
    /* Overwriting a file whose code is mapped would kill the process. */
    workspace_write(stage.file, "gone", 4);
    CU_ASSERT_STRING_EQUAL(loaded->descriptor.behaviours[0].summary, "passes messages on");
    stage_end(&stage);
}

static void install(struct stage *stage, const char *version)
{
    char from[512];

    (void)snprintf(from, sizeof from, "%s/%ssample.so", TEST_PLUGINS, version);
    workspace_copy(from, stage->file);
}

/* promise B11 */
static void test_copy_has_no_name_once_it_is_mapped(void)
{
    struct problem problem = { "" };
    struct descriptor again;
    struct stage stage;
    const struct loaded *loaded;

    stage_begin(&stage);
    loaded = loaded_from(&stage, stage.file);
    CU_ASSERT_EQUAL(workspace_count(stage.copies.path), 1); /* the private directory, */
    CU_ASSERT_EQUAL(loader_files(&stage), 0);               /* with nothing in it */
    CU_ASSERT_PTR_NULL(loaded->copy);
    CU_ASSERT_EQUAL_FATAL(loader_lend(stage.loader, loaded, &problem), WEIR_OK);
    CU_ASSERT_EQUAL(loader_files(&stage), 1);
    CU_ASSERT_EQUAL_FATAL(shared_object_look(loaded->copy, loaded->file, &again, &problem),
                          WEIR_OK);
    loader_take_back(stage.loader);
    CU_ASSERT_EQUAL(loader_files(&stage), 0);
    CU_ASSERT_EQUAL(again.behaviour_count, loaded->descriptor.behaviour_count);
    descriptor_finish(&again);
    install(&stage, "unloadable/");
    CU_ASSERT_EQUAL(loader_lend(stage.loader, loaded, &problem), WEIR_ENOTALLOWED);
    stage_end(&stage);
}

/* promise B11 */
static void test_unused_generation_is_unloaded_if_it_says_so(void)
{
    struct stage stage;
    const struct loaded *first, *second;

    stage_begin(&stage);
    first = loaded_from(&stage, stage.file); /* does not say so */
    CU_ASSERT_PTR_NULL(loader_find_unused(stage.loader));
    CU_ASSERT_EQUAL(loader_kept(stage.loader), 1);
    atomic_fetch_add(first->users, 1);
    CU_ASSERT_EQUAL(loader_kept(stage.loader), 0);
    install(&stage, "unloadable/");
    second = loaded_from(&stage, stage.file);
    CU_ASSERT_EQUAL(second->generation, 2);
    atomic_fetch_add(second->users, 1);
    CU_ASSERT_PTR_NULL(loader_find_unused(stage.loader));
    atomic_fetch_sub(second->users, 1);
    CU_ASSERT_PTR_EQUAL(loader_find_unused(stage.loader), second);
    CU_ASSERT_TRUE(is_mapped("sample.2.so"));
    loader_unload(stage.loader, second);
    CU_ASSERT_FALSE(is_mapped("sample.2.so"));
    CU_ASSERT_TRUE(is_mapped("sample.1.so"));
    CU_ASSERT_EQUAL(loader_kept(stage.loader), 0);
    /* The file did not change, and its number is not used again. */
    CU_ASSERT_EQUAL(loaded_from(&stage, stage.file)->generation, 3);
    stage_end(&stage);
}

static void test_unchanged_file_is_the_same_generation(void)
{
    struct stage stage;
    const struct loaded *first;

    stage_begin(&stage);
    first = loaded_from(&stage, stage.file);
    CU_ASSERT_PTR_EQUAL(loaded_from(&stage, stage.file), first);
    stage_end(&stage);
}

/* A change that leaves size and time as they were shows whether the file is read. */
static void test_old_file_that_did_not_change_is_not_read(void)
{
    static const struct timespec long_ago[2] = { { .tv_sec = 1000000 }, { .tv_sec = 1000000 } };
    struct stage stage;
    const struct loaded *first;
    size_t size;
    char *bytes;

    stage_begin(&stage);
    CU_ASSERT_EQUAL(utimensat(AT_FDCWD, stage.file, long_ago, 0), 0);
    first = loaded_from(&stage, stage.file);
    bytes = workspace_read(stage.file, &size);
    bytes[0] = 'x';
    workspace_write(stage.file, bytes, size);
    free(bytes);
    CU_ASSERT_EQUAL(utimensat(AT_FDCWD, stage.file, long_ago, 0), 0);
    CU_ASSERT_PTR_EQUAL(loaded_from(&stage, stage.file), first);
    stage_end(&stage);
}

/* Within the resolution of the file system's clock a second write does not show. */
static void test_file_just_written_is_read_again(void)
{
    struct stage stage;
    struct stat before;
    struct timespec times[2];
    size_t size;
    char *bytes;

    stage_begin(&stage);
    CU_ASSERT_EQUAL(stat(stage.file, &before), 0);
    (void)loaded_from(&stage, stage.file);
    bytes = workspace_read(stage.file, &size);
    bytes[0] = 'x';
    workspace_write(stage.file, bytes, size);
    free(bytes);
    times[0] = times[1] = before.st_mtim;
    CU_ASSERT_EQUAL(utimensat(AT_FDCWD, stage.file, times, 0), 0);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(refusal(&stage, stage.file, WEIR_EUNSUPPORTED), "is no shared object"));
    stage_end(&stage);
}

static void test_same_content_written_again_is_the_same_generation(void)
{
    struct stage stage;
    const struct loaded *first;

    stage_begin(&stage);
    first = loaded_from(&stage, stage.file);
    CU_ASSERT_EQUAL(unlink(stage.file), 0);
    workspace_copy(TEST_PLUGINS "/sample.so", stage.file);
    CU_ASSERT_PTR_EQUAL(loaded_from(&stage, stage.file), first);
    stage_end(&stage);
}

static void test_other_content_is_the_next_generation_beside_the_first(void)
{
    struct stage stage;
    const struct loaded *first, *second;

    stage_begin(&stage);
    first = loaded_from(&stage, stage.file);
    CU_ASSERT_EQUAL(unlink(stage.file), 0);
    workspace_copy(TEST_PLUGINS "/next/sample.so", stage.file);
    second = loaded_from(&stage, stage.file);
    CU_ASSERT_EQUAL(second->generation, 2);
    CU_ASSERT_STRING_EQUAL(second->descriptor.version, "2.0.0");
    CU_ASSERT_STRING_EQUAL(first->descriptor.version, "1.0.0");
    CU_ASSERT(first->descriptor.behaviours[0].handle != second->descriptor.behaviours[0].handle);
    CU_ASSERT(first->hash != second->hash);
    /* Back to the first: nothing new is loaded. */
    workspace_copy(TEST_PLUGINS "/sample.so", stage.file);
    CU_ASSERT_PTR_EQUAL(loaded_from(&stage, stage.file), first);
    stage_end(&stage);
}

/* For debuggers: the file itself is mapped, under its own name. */
static void test_plugin_is_opened_in_place(void)
{
    struct stage stage;
    const struct loaded *first;
    const char *why;

    stage_begin(&stage);
    loader_open_in_place(stage.loader);
    first = loaded_from(&stage, stage.file);
    CU_ASSERT_TRUE(is_mapped(stage.file));
    CU_ASSERT_EQUAL(loader_files(&stage), 0);
    CU_ASSERT_PTR_EQUAL(loaded_from(&stage, stage.file), first);
    CU_ASSERT_EQUAL(unlink(stage.file), 0);
    workspace_copy(TEST_PLUGINS "/next/sample.so", stage.file);
    why = refusal(&stage, stage.file, WEIR_ENOTALLOWED);
    CU_ASSERT_PTR_NOT_NULL(strstr(why, "start the host again, or without --debug"));
    CU_ASSERT_EQUAL(unlink(stage.file), 0);
    workspace_copy(TEST_PLUGINS "/sample.so", stage.file);
    CU_ASSERT_PTR_EQUAL(loaded_from(&stage, stage.file), first);
    stage_end(&stage);
}

static void test_faulty_plugins_are_refused(void)
{
    static const struct {
        const char *file;
        int status;
        const char *words;
    } faults[] = {
        { TEST_PLUGINS "/bad_default.so", WEIR_EINVALID, "behaviour run: " },
        { TEST_PLUGINS "/bad_offset.so", WEIR_EINVALID, "behaviour run: " },
        { TEST_PLUGINS "/no_callback.so", WEIR_EINVALID, "has neither handle nor produce" },
        { TEST_PLUGINS "/no_end.so", WEIR_EINVALID, "more than 64 outputs" },
        { TEST_PLUGINS "/no_symbol.so", WEIR_EUNSUPPORTED, "does not export weir_plugin_v1" },
        { TEST_PLUGINS "/other_major.so", WEIR_EUNSUPPORTED,
          "built for SDK 2, this host speaks 1" },
        { TEST_PLUGINS "/other_name.so", WEIR_EINVALID, "calls itself another" },
        { TEST_PLUGINS "/too_large.so", WEIR_EUNSUPPORTED, "its descriptor has " },
        { TEST_PLUGINS "/too_small.so", WEIR_EUNSUPPORTED, "its descriptor has 16 bytes" },
        { TEST_PLUGINS "/too_new.so", WEIR_EUNSUPPORTED, "built for SDK 1.7, this host speaks 1." },
        { TEST_PLUGINS "/two_options.so", WEIR_EINVALID, "behaviour run: " },
        { TEST_PLUGINS "/undefined_symbol.so", WEIR_EUNSUPPORTED, "function_of_nobody" },
        { TEST_PLUGINS "/is_not_there.so", WEIR_EUNKNOWN, "cannot be opened" },
        { TEST_PLUGINS, WEIR_EUNSUPPORTED, "is not a regular file" },
    };
    struct stage stage;

    stage_begin(&stage);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        const char *words = refusal(&stage, faults[i].file, faults[i].status);

        CU_ASSERT_EQUAL(strncmp(words, ": ", 2), 0);
        if (!strstr(words, faults[i].words))
            printf("%s%s\n", faults[i].file, words);
        CU_ASSERT_PTR_NOT_NULL(strstr(words, faults[i].words));
        /* Asked again, it says the same. */
        CU_ASSERT_PTR_NOT_NULL(
            strstr(refusal(&stage, faults[i].file, faults[i].status), faults[i].words));
    }
    stage_end(&stage);
}

static void test_file_that_is_no_object_is_refused_and_may_be_mended(void)
{
    struct stage stage;

    stage_begin(&stage);
    workspace_write(stage.file, "text", 4);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(refusal(&stage, stage.file, WEIR_EUNSUPPORTED), "is no shared object"));
    workspace_copy(TEST_PLUGINS "/sample.so", stage.file);
    CU_ASSERT_EQUAL(loaded_from(&stage, stage.file)->generation, 1);
    stage_end(&stage);
}

static void test_refused_content_may_be_mended(void)
{
    struct stage stage;

    stage_begin(&stage);
    workspace_copy(TEST_PLUGINS "/no_callback.so", stage.file);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(refusal(&stage, stage.file, WEIR_EINVALID), "calls itself no_callback"));
    workspace_copy(TEST_PLUGINS "/sample.so", stage.file);
    CU_ASSERT_STRING_EQUAL(loaded_from(&stage, stage.file)->descriptor.name, "sample");
    stage_end(&stage);
}

static void test_object_of_another_machine_is_refused_by_name(void)
{
    struct stage stage;
    size_t size;
    char *bytes;

    stage_begin(&stage);
    bytes = workspace_read(stage.file, &size);
    bytes[MACHINE_AT] = bytes[EI_DATA] == ELFDATA2MSB ? 0 : EM_S390;
    bytes[MACHINE_AT + 1] = bytes[EI_DATA] == ELFDATA2MSB ? EM_S390 : 0;
    workspace_write(stage.file, bytes, size);
    free(bytes);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(refusal(&stage, stage.file, WEIR_EUNSUPPORTED), "is built for S/390, this host is"));
    stage_end(&stage);
}

static void test_directory_that_is_not_there_is_reported(void)
{
    struct stage stage;
    struct problem problem = { "" };
    const struct loaded *loaded;

    stage_begin(&stage);
    setenv("WEIR_PLUGIN_TMP", "/this/is/not/there", 1);
    CU_ASSERT_EQUAL(loader_load_file(stage.loader, stage.file, &loaded, &problem),
                    WEIR_ENOTALLOWED);
    CU_ASSERT_PTR_NOT_NULL(strstr(problem.text, "/this/is/not/there"));
    CU_ASSERT_PTR_NOT_NULL(strstr(problem.text, "WEIR_PLUGIN_TMP"));
    stage_end(&stage);
}

static void test_name_is_looked_up_in_the_path_only(void)
{
    struct stage stage;
    struct plugin_path path;
    struct problem problem = { "" };
    const struct loaded *loaded;

    stage_begin(&stage);
    plugin_path_init(&path);
    CU_ASSERT_EQUAL(loader_load_name(stage.loader, &path, "sample", &loaded, &problem),
                    WEIR_EUNKNOWN);
    CU_ASSERT_EQUAL(plugin_path_add(&path, "/nonexistent"), WEIR_OK);
    CU_ASSERT_EQUAL(plugin_path_add(&path, stage.workspace.path), WEIR_OK);
    CU_ASSERT_EQUAL(loader_load_name(stage.loader, &path, "sample", &loaded, &problem), WEIR_OK);
    CU_ASSERT_EQUAL(loader_load_name(stage.loader, &path, "nosuch", &loaded, &problem),
                    WEIR_EUNKNOWN);
    CU_ASSERT_PTR_NOT_NULL(strstr(problem.text, "no plugin called nosuch"));
    CU_ASSERT_PTR_NOT_NULL(strstr(problem.text, "/nonexistent"));
    CU_ASSERT_EQUAL(loader_load_name(stage.loader, &path, "../sample", &loaded, &problem),
                    WEIR_EUNKNOWN);
    CU_ASSERT_PTR_NOT_NULL(strstr(problem.text, "not the name of a plugin"));
    plugin_path_finish(&path);
    stage_end(&stage);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "no name once mapped", test_copy_has_no_name_once_it_is_mapped },
        { "unloaded", test_unused_generation_is_unloaded_if_it_says_so },
        { "plugin is loaded from a copy", test_plugin_is_loaded_from_a_copy },
        { "unchanged file", test_unchanged_file_is_the_same_generation },
        { "old unchanged file is not read", test_old_file_that_did_not_change_is_not_read },
        { "file just written is read again", test_file_just_written_is_read_again },
        { "same content again", test_same_content_written_again_is_the_same_generation },
        { "other content", test_other_content_is_the_next_generation_beside_the_first },
        { "opened in place", test_plugin_is_opened_in_place },
        { "faulty plugins", test_faulty_plugins_are_refused },
        { "no object, mended", test_file_that_is_no_object_is_refused_and_may_be_mended },
        { "refused content, mended", test_refused_content_may_be_mended },
        { "other machine", test_object_of_another_machine_is_refused_by_name },
        { "no private directory", test_directory_that_is_not_there_is_reported },
        { "name is looked up in the path", test_name_is_looked_up_in_the_path_only },
        CU_TEST_INFO_NULL,
    };

    return suite_run("loader", tests);
}
