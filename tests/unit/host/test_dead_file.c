/* SPDX-License-Identifier: MIT */
/*
 * Goal: the origin of a dead message is notified of the stored dead letter also when the thread of
 * the file could not enter the runtime at first, and when the file was deleted before; no file is
 * made below the path of a file system that is not mounted.
 *
 * Method: a worker sends itself a message with an origin and rejects it, while the test has every
 * executor of outside threads, or deletes the file, or moves its folder. A folder that is not
 * mounted is a link that leads to another file system. Shows promises L8 and L13.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "actor/runtime.h"
#include "dispatch/reclaim.h"
#include "host/dead/dead_file.h"
#include "unit/host/suite.h"
#include "unit/host/workspace.h"
#include "unit/support/rig.h"

#define TOKEN 7u
#define TOLD 1000u /* a note: TOLD + token */
#define LOST 2000u /* likewise: the dead letter is not stored */
#define REFUSED 1u
#define LATER_MS 50u /* the file never is empty before the test gives the executors back */

static uint64_t date_us(void)
{
    return 1;
}

static void drop_line(void *context, const struct log_line *line)
{
    (void)context;
    (void)line;
}

static void settled(struct weir_self *self, void *state, const struct weir_outcome *outcome)
{
    (void)self;
    probe_note(*(struct probe **)state, (outcome->is_stored ? TOLD : LOST) + outcome->token);
}

static int reject(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)self;
    (void)probe;
    (void)message;
    return WEIR_REJECT;
}

static int send_one_to_reject(struct weir_self *self, struct probe *probe,
                              const struct weir_message *message)
{
    struct weir_message *sent = probe_message(self, (struct order){ .act = reject });

    (void)message;
    CU_ASSERT_TRUE(gate_pass(&probe->gate));
    CU_ASSERT_EQUAL(weir_set_origin(self, sent, TOKEN), 0);
    CU_ASSERT_EQUAL(weir_send(self, weir_pool(self), sent), 0);
    return WEIR_DONE;
}

static struct dead_file *make_file(const struct log_sink *sink, const char *path)
{
    struct settings settings = { .host.dead_letters.file = path };
    struct dead_output *output = NULL;
    struct dead_file *file = NULL;
    struct report report;

    report_init(&report);
    CU_ASSERT_EQUAL_FATAL(dead_file_create(sink, date_us, &file), 0);
    CU_ASSERT_EQUAL_FATAL(dead_file_prepare(file, &settings, &report, &output), 0);
    dead_file_commit(file, &settings, output);
    report_finish(&report);
    return file;
}

static bool has_a_record(void *context)
{
    struct dead_file_figures figures;

    dead_file_figures(context, &figures);
    free(figures.path);
    return figures.records == 1;
}

static void test_origin_is_notified_after_the_thread_could_not_enter(void)
{
    const struct log_sink sink = { .write = drop_line };
    struct executor *executors[RECLAIM_READERS_MAX];
    struct probe *probe = probe_create();
    struct workspace workspace;
    struct dead_file *file;
    char path[256];
    uint32_t count = 0;
    struct pool *pool;
    struct rig rig;

    workspace_init(&workspace);
    probe->behaviour.settled = settled;
    rig_init(&rig, 1, 0);
    file = make_file(&sink, workspace_path(&workspace, "dead", path));
    rig.runtime->options.dead_store = dead_file_store(file);
    dead_file_connect(file, rig.runtime);
    pool = rig_workers(&rig, probe, "pool", 1, 8);
    CU_ASSERT_EQUAL(rig_send(&rig, pool->pid, (struct order){ .act = send_one_to_reject }), 0);
    CU_ASSERT_TRUE(gate_await(&probe->gate, 1));
    while ((executors[count] = runtime_borrow(rig.runtime)))
        count++;
    gate_open(&probe->gate);
    CU_ASSERT_TRUE(rig_wait(&rig, has_a_record, file));
    CU_ASSERT_FALSE(dead_file_flush(file, LATER_MS));
    CU_ASSERT_EQUAL(probe_times(probe, TOLD + TOKEN), 0);
    while (count > 0)
        runtime_give_back(executors[--count]);
    CU_ASSERT_TRUE(rig_noted(&rig, probe, TOLD + TOKEN, 1));
    dead_file_end(file);
    CU_ASSERT_TRUE(rig_end(&rig, pool, NULL));
    rig_finish(&rig);
    dead_file_destroy(file);
    workspace_finish(&workspace);
    probe_destroy(probe);
}

/* --- files that were deleted, or moved -------------------------------------------------------- */

/* A worker whose dead letters go to the file "dead" in the folder "now", which is a link. */
struct stage {
    struct log_sink sink;
    struct probe *probe;
    struct workspace workspace;
    struct dead_file *file;
    struct pool *pool;
    struct rig rig;
    const char *refusal; /* each line that has it is noted: REFUSED */
    char path[256], link[256], folder[256];
    uint32_t sent;
};

static void watch_line(void *context, const struct log_line *line)
{
    struct stage *stage = context;
    bool has_it = strstr(line->event, stage->refusal);

    for (const struct weir_field *field = line->fields; field && field->key && !has_it; field++)
        has_it = strcmp(field->key, "reason") == 0 && strstr(field->value.string, stage->refusal);
    if (has_it)
        probe_note(stage->probe, REFUSED);
}

static void point_to(struct stage *stage, const char *folder)
{
    (void)unlink(stage->link);
    CU_ASSERT_EQUAL(symlink(folder, stage->link), 0);
}

static void stage_init(struct stage *stage, const char *refusal)
{
    *stage = (struct stage){ .refusal = refusal, .probe = probe_create() };
    stage->sink = (struct log_sink){ .write = watch_line, .context = stage };
    workspace_init(&stage->workspace);
    (void)workspace_path(&stage->workspace, "now", stage->link);
    (void)workspace_path(&stage->workspace, "folder", stage->folder);
    (void)workspace_path(&stage->workspace, "now/dead", stage->path);
    CU_ASSERT_EQUAL(mkdir(stage->folder, 0700), 0);
    point_to(stage, "folder");
    stage->probe->behaviour.settled = settled;
    gate_open(&stage->probe->gate);
    rig_init(&stage->rig, 1, 0);
    stage->file = make_file(&stage->sink, stage->path);
    stage->rig.runtime->options.dead_store = dead_file_store(stage->file);
    dead_file_connect(stage->file, stage->rig.runtime);
    stage->pool = rig_workers(&stage->rig, stage->probe, "pool", 1, 8);
}

static void stage_finish(struct stage *stage)
{
    dead_file_end(stage->file);
    CU_ASSERT_TRUE(rig_end(&stage->rig, stage->pool, NULL));
    rig_finish(&stage->rig);
    dead_file_destroy(stage->file);
    (void)unlink(stage->path);
    CU_ASSERT_EQUAL(rmdir(stage->folder), 0);
    workspace_finish(&stage->workspace);
    probe_destroy(stage->probe);
}

static void send_dead(struct stage *stage)
{
    struct order order = { .act = send_one_to_reject };

    stage->sent++;
    CU_ASSERT_EQUAL(rig_send(&stage->rig, stage->pool->pid, order), 0);
}

static void expect_stored(struct stage *stage)
{
    CU_ASSERT_TRUE(rig_noted(&stage->rig, stage->probe, TOLD + TOKEN, stage->sent));
}

/* Such a line is in the log, and the last letter is not stored. */
static void expect_refused(struct stage *stage)
{
    CU_ASSERT_TRUE(rig_noted(&stage->rig, stage->probe, REFUSED, 1));
    CU_ASSERT_EQUAL(probe_times(stage->probe, TOLD + TOKEN), stage->sent - 1);
}

static bool has_records(const char *path)
{
    struct stat about;

    return stat(path, &about) == 0 && about.st_size > (off_t)sizeof DEAD_FILE_FIRST_LINE;
}

/* promise L13 */
static void test_deleted_file_is_made_again(void)
{
    struct stage stage;

    stage_init(&stage, "and is created again");
    for (uint32_t i = 1; i <= 2; i++) {
        send_dead(&stage);
        expect_stored(&stage);
        CU_ASSERT_TRUE(has_records(stage.path)); /* by then */
        CU_ASSERT_EQUAL(probe_times(stage.probe, REFUSED), i - 1);
        CU_ASSERT_EQUAL(unlink(stage.path), 0);
    }
    stage_finish(&stage);
}

/* promise L13: nor when the host ends. */
static void test_no_file_is_made_on_another_file_system(void)
{
    for (int ends = 0; ends < 2; ends++) {
        char other[] = "/dev/shm/weir-test.XXXXXX";
        struct stat here, there;
        struct stage stage;

        CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(other));
        stage_init(&stage, "its file system is not mounted");
        CU_ASSERT_EQUAL(stat(stage.folder, &here), 0);
        CU_ASSERT_EQUAL(stat(other, &there), 0);
        CU_ASSERT_NOT_EQUAL_FATAL(here.st_dev, there.st_dev);
        point_to(&stage, other);
        send_dead(&stage);
        expect_refused(&stage);
        if (ends)
            dead_file_end(stage.file);
        else
            point_to(&stage, "folder");
        CU_ASSERT_TRUE(rig_noted(&stage.rig, stage.probe, (ends ? LOST : TOLD) + TOKEN, 1));
        point_to(&stage, "folder");
        CU_ASSERT_EQUAL(has_records(stage.path), !ends);
        CU_ASSERT_EQUAL(rmdir(other), 0); /* it is empty */
        stage_finish(&stage);
    }
}

/* promise L13 */
static void test_file_in_a_renamed_folder_is_written_on(void)
{
    struct stage stage;
    char path[256];

    stage_init(&stage, "dead letters");
    CU_ASSERT_EQUAL(rename(stage.link, workspace_path(&stage.workspace, "then", path)), 0);
    send_dead(&stage);
    expect_stored(&stage);
    CU_ASSERT_EQUAL(probe_times(stage.probe, REFUSED), 0);
    CU_ASSERT_TRUE(has_records(workspace_path(&stage.workspace, "folder/dead", path)));
    point_to(&stage, "folder"); /* for the end */
    stage_finish(&stage);
}

/* promise L13 */
static void test_why_a_deleted_file_is_not_made_again_is_logged(void)
{
    struct stage stage;

    stage_init(&stage, "No such file or directory");
    CU_ASSERT_EQUAL(unlink(stage.path), 0);
    CU_ASSERT_EQUAL(rmdir(stage.folder), 0);
    send_dead(&stage);
    expect_refused(&stage);
    CU_ASSERT_EQUAL(mkdir(stage.folder, 0700), 0);
    expect_stored(&stage);
    stage_finish(&stage);
}

/* promise L13: the host ends at once when the file could be created again. */
static void test_deleted_file_is_made_again_at_the_end(void)
{
    struct stage stage;

    stage_init(&stage, "it is a symbolic link");
    point_to(&stage, "now"); /* nobody knows where the file is */
    send_dead(&stage);
    expect_refused(&stage);
    point_to(&stage, "folder");
    CU_ASSERT_EQUAL(unlink(stage.path), 0);
    dead_file_end(stage.file);
    expect_stored(&stage);
    CU_ASSERT_TRUE(has_records(stage.path));
    stage_finish(&stage);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "no executor", test_origin_is_notified_after_the_thread_could_not_enter },
        { "deleted", test_deleted_file_is_made_again },
        { "not mounted", test_no_file_is_made_on_another_file_system },
        { "renamed folder", test_file_in_a_renamed_folder_is_written_on },
        { "reason", test_why_a_deleted_file_is_not_made_again_is_logged },
        { "deleted at the end", test_deleted_file_is_made_again_at_the_end },
        CU_TEST_INFO_NULL,
    };

    return suite_run("host dead file", tests);
}
