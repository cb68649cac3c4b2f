/* SPDX-License-Identifier: MIT */
/*
 * Goal: a worker connects, rejects messages, and ends while its thread reads; without a peer it
 * gives the reason. Method: <weir/testkit.h> stands in for the host, and the test is the peer. The
 * kit has one thread, so `weir run` tests the batches.
 */
#include <CUnit/Basic.h>
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <weir/testkit.h>

extern const struct weir_plugin weir_plugin_v1;

struct fixture {
    char folder[32];
    char path[48];
    int listener;
    struct weir_kit *kit;
};

static void begin(struct fixture *f)
{
    snprintf(f->folder, sizeof f->folder, "/tmp/batches-XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(f->folder));
    snprintf(f->path, sizeof f->path, "%s/socket", f->folder);
    f->kit = weir_kit_create(&weir_plugin_v1, "reader");
}

static int open_reader(struct fixture *f)
{
    return weir_kit_open_format(f->kit, "{path: %s, tasks: checks}", f->path);
}

static void listen_at_path(struct fixture *f)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };

    f->listener = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", f->path);
    CU_ASSERT_EQUAL_FATAL(bind(f->listener, (const struct sockaddr *)&address, sizeof address), 0);
    CU_ASSERT_EQUAL_FATAL(listen(f->listener, 1), 0);
}

static void finish(struct fixture *f)
{
    CU_ASSERT_EQUAL(weir_kit_destroy(f->kit), 0);
    CU_ASSERT_EQUAL(rmdir(f->folder), 0);
}

static void test_worker_ends_while_its_thread_reads(void)
{
    struct fixture f;

    begin(&f);
    listen_at_path(&f);
    CU_ASSERT_EQUAL_FATAL(open_reader(&f), 0);
    CU_ASSERT_EQUAL(weir_kit_handle(f.kit, NULL, "", 0), WEIR_REJECT); /* the thread sent none */
    weir_kit_close(f.kit, WEIR_END_SHUTDOWN);
    CU_ASSERT_EQUAL(close(f.listener), 0);
    CU_ASSERT_EQUAL(unlink(f.path), 0);
    finish(&f);
}

static void test_missing_peer_is_reported(void)
{
    struct fixture f;

    begin(&f);
    CU_ASSERT_EQUAL(open_reader(&f), WEIR_EINVALID);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(f.kit), "not connected: No such file or directory");
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "end", test_worker_ends_while_its_thread_reads },
        { "no_peer", test_missing_peer_is_reported },
        CU_TEST_INFO_NULL,
    };
    CU_SuiteInfo suites[] = { { .pName = "batches", .pTests = tests }, CU_SUITE_INFO_NULL };
    unsigned failures;

    if (CU_initialize_registry() != CUE_SUCCESS || CU_register_suites(suites) != CUE_SUCCESS)
        return 1;
    CU_basic_run_tests();
    failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return failures != 0;
}
