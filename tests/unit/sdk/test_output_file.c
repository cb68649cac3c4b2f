/* SPDX-License-Identifier: MIT */
/*
 * Goal: a file in which a host keeps a state is not opened to append to it, through links neither.
 *
 * Method: files of state as sources and hosts have them while they run, and afterwards. Shows
 * promise B51.
 */
#include <weir/output_file.h>
#include <weir/plugin.h>
#include <weir/settling.h>

#include "unit/host/suite.h"
#include "unit/host/workspace.h"

static void expect(const char *path, bool is_refused)
{
    char text[128];
    int descriptor = weir_output_open(path, 0640);

    CU_ASSERT_EQUAL(descriptor < 0, is_refused);
    if (descriptor >= 0) {
        CU_ASSERT_EQUAL(close(descriptor), 0);
        return;
    }
    CU_ASSERT_STRING_EQUAL(weir_output_reason(errno, text, sizeof text),
                           "a host keeps its state in this file");
}

/* promise B51 */
static void test_position_and_its_lock_are_refused_while_a_source_has_them(void)
{
    char position[256], lock_file[256], link[256];
    struct workspace work;
    uint64_t place;
    int lock;

    workspace_init(&work);
    (void)workspace_path(&work, "position", position);
    (void)workspace_path(&work, "position.lock", lock_file);
    CU_ASSERT_EQUAL_FATAL(symlink(position, workspace_path(&work, "link", link)), 0);
    CU_ASSERT_EQUAL(weir_settling_lock(position, &lock), 0);
    CU_ASSERT_EQUAL(weir_settling_save(position, 7), 0);
    expect(position, true);
    expect(lock_file, true);
    expect(link, true);
    CU_ASSERT_EQUAL(weir_settling_load(position, &place), 0);
    CU_ASSERT_EQUAL(place, 7);
    weir_settling_unlock(lock);
    expect(position, false);
    expect(lock_file, false);
    CU_ASSERT_EQUAL(weir_settling_lock(position, &lock), 0); /* no output keeps the lock */
    weir_settling_unlock(lock);
    workspace_finish(&work);
}

/* promise B51 */
static void test_file_that_a_host_has_locked_is_refused(void)
{
    char dead[256];
    struct workspace work;
    int owner;

    workspace_init(&work);
    owner = open(workspace_path(&work, "dead", dead), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    CU_ASSERT_TRUE_FATAL(owner >= 0);
    CU_ASSERT_EQUAL(flock(owner, LOCK_EX | LOCK_NB), 0);
    expect(dead, true);
    CU_ASSERT_EQUAL(close(owner), 0);
    expect(dead, false);
    workspace_finish(&work);
}

static void test_outputs_are_shared_and_may_be_devices(void)
{
    char path[256];
    struct workspace work;
    int first;

    workspace_init(&work);
    first = weir_output_open(workspace_path(&work, "log", path), 0640);
    CU_ASSERT_TRUE(first >= 0);
    expect(path, false);
    expect("/dev/null", false);
    CU_ASSERT_EQUAL(weir_output_open("/no/such/folder", 0640), -1);
    CU_ASSERT_EQUAL(errno, ENOENT);
    CU_ASSERT_EQUAL(close(first), 0);
    workspace_finish(&work);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "positions", test_position_and_its_lock_are_refused_while_a_source_has_them },
        { "locked", test_file_that_a_host_has_locked_is_refused },
        { "others", test_outputs_are_shared_and_may_be_devices },
        CU_TEST_INFO_NULL,
    };

    return suite_run("sdk output_file", tests);
}
