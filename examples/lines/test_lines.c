/* SPDX-License-Identifier: MIT */
/*
 * Goal: each connection gets a child, which is counted until its end; a listener that cannot listen
 * gives the reason. Method: <weir/testkit.h> stands in for the host, and the test connects to a
 * real socket in a folder of its own.
 */
#include <CUnit/Basic.h>
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <weir/testkit.h>

extern const struct weir_plugin weir_plugin_v1;

struct fixture {
    char folder[32];
    char path[48];
    struct weir_kit *kit;
};

static int open_listener(struct fixture *f)
{
    char args[64];

    snprintf(f->folder, sizeof f->folder, "/tmp/lines-XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(f->folder));
    snprintf(f->path, sizeof f->path, "%s/socket", f->folder);
    snprintf(args, sizeof args, "path: %s", f->path);
    f->kit = weir_kit_create(&weir_plugin_v1, "serve");
    return weir_kit_open_args(f->kit, args);
}

static void finish(struct fixture *f)
{
    CU_ASSERT_EQUAL(weir_kit_destroy(f->kit), 0);
    CU_ASSERT_EQUAL(rmdir(f->folder), 0); /* so the socket is removed */
}

static int connect_to(const struct fixture *f)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int client = socket(AF_UNIX, SOCK_STREAM, 0);

    snprintf(address.sun_path, sizeof address.sun_path, "%s", f->path);
    CU_ASSERT_EQUAL_FATAL(connect(client, (const struct sockaddr *)&address, sizeof address), 0);
    return client;
}

static void test_connection_has_a_child_until_it_ends(void)
{
    const struct weir_kit_child *child;
    struct weir_message down;
    struct fixture f;
    int client;

    CU_ASSERT_EQUAL_FATAL(open_listener(&f), 0);
    client = connect_to(&f);
    CU_ASSERT_EQUAL(weir_kit_poll(f.kit), 1);
    CU_ASSERT_EQUAL_FATAL(weir_kit_child_count(f.kit), 1);
    CU_ASSERT_STRING_EQUAL(weir_kit_inspect(f.kit, NULL), "connections=1\nserved=1\n");
    CU_ASSERT_EQUAL(weir_kit_watch_count(f.kit), 1); /* for the next connection */
    child = weir_kit_child(f.kit, 0);
    CU_ASSERT_STRING_EQUAL(child->behaviour, "connection");
    CU_ASSERT_EQUAL(close(*(const int *)child->settings), 0); /* as the child would */
    CU_ASSERT_EQUAL(weir_kit_end_child(f.kit, child->pid), 0);
    down = (struct weir_message){ .from = child->pid, .kind = WEIR_DOWN };
    CU_ASSERT_EQUAL(weir_kit_deliver(f.kit, &down), WEIR_DONE);
    CU_ASSERT_STRING_EQUAL(weir_kit_inspect(f.kit, NULL), "connections=0\nserved=1\n");
    CU_ASSERT_EQUAL(close(client), 0);
    finish(&f);
}

static void test_socket_that_is_there_already_is_reported(void)
{
    struct weir_kit *second = weir_kit_create(&weir_plugin_v1, "serve");
    struct fixture f;
    char args[64];

    CU_ASSERT_EQUAL_FATAL(open_listener(&f), 0);
    snprintf(args, sizeof args, "path: %s", f.path);
    CU_ASSERT_EQUAL(weir_kit_open_args(second, args), WEIR_EINVALID);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(second), "Address already in use");
    CU_ASSERT_EQUAL(weir_kit_destroy(second), 0);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "child", test_connection_has_a_child_until_it_ends },
        { "taken", test_socket_that_is_there_already_is_reported },
        CU_TEST_INFO_NULL,
    };
    CU_SuiteInfo suites[] = { { .pName = "lines", .pTests = tests }, CU_SUITE_INFO_NULL };
    unsigned failures;

    if (CU_initialize_registry() != CUE_SUCCESS || CU_register_suites(suites) != CUE_SUCCESS)
        return 1;
    CU_basic_run_tests();
    failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return failures != 0;
}
