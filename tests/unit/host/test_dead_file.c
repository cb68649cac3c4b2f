/* SPDX-License-Identifier: MIT */
/*
 * Goal: the origin of a dead message is notified of the stored dead letter also when the thread of
 * the file could not enter the runtime at first, and when the file was deleted before.
 *
 * Method: a worker sends itself a message with an origin and rejects it, while the test has every
 * executor of outside threads, or deletes the file. Shows promise L8.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "actor/runtime.h"
#include "dispatch/reclaim.h"
#include "host/dead/dead_file.h"
#include "unit/host/suite.h"
#include "unit/host/workspace.h"
#include "unit/support/rig.h"

#define TOKEN 7u
#define TOLD 1000u   /* a note: TOLD + token */
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
    CU_ASSERT_EQUAL(outcome->is_stored, 1);
    probe_note(*(struct probe **)state, TOLD + outcome->token);
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

/* promise L13 */
static void test_deleted_file_is_made_again(void)
{
    const struct log_sink sink = { .write = drop_line };
    struct probe *probe = probe_create();
    struct workspace workspace;
    struct dead_file *file;
    struct stat about;
    char path[256];
    struct pool *pool;
    struct rig rig;

    workspace_init(&workspace);
    probe->behaviour.settled = settled;
    gate_open(&probe->gate);
    rig_init(&rig, 1, 0);
    file = make_file(&sink, workspace_path(&workspace, "dead", path));
    rig.runtime->options.dead_store = dead_file_store(file);
    dead_file_connect(file, rig.runtime);
    pool = rig_workers(&rig, probe, "pool", 1, 8);
    for (uint32_t i = 1; i <= 2; i++) {
        CU_ASSERT_EQUAL(rig_send(&rig, pool->pid, (struct order){ .act = send_one_to_reject }), 0);
        CU_ASSERT_TRUE(rig_noted(&rig, probe, TOLD + TOKEN, i));
        CU_ASSERT_EQUAL(stat(path, &about), 0); /* it has the record by then */
        CU_ASSERT_TRUE(about.st_size > (off_t)sizeof DEAD_FILE_FIRST_LINE);
        CU_ASSERT_EQUAL(unlink(path), 0);
    }
    dead_file_end(file);
    CU_ASSERT_TRUE(rig_end(&rig, pool, NULL));
    rig_finish(&rig);
    dead_file_destroy(file);
    workspace_finish(&workspace);
    probe_destroy(probe);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "no executor", test_origin_is_notified_after_the_thread_could_not_enter },
        { "deleted", test_deleted_file_is_made_again },
        CU_TEST_INFO_NULL,
    };

    return suite_run("host dead file", tests);
}
