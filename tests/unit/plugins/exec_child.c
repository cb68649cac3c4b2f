/* SPDX-License-Identifier: MIT */
#include "exec_child.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#include <weir/testkit.h>

#include "../../../plugins/exec/exec.h"
#include "../host/suite.h"

extern const struct weir_plugin weir_plugin_v1;

bool is_ready(struct weir_kit *kit)
{
    return weir_kit_demand(kit) == 1;
}

bool has_ended(struct weir_kit *kit)
{
    return weir_kit_own_end(kit) >= 0;
}

struct weir_kit *opened(const char *args)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "pipe");

    CU_ASSERT_PTR_NOT_NULL_FATAL(kit);
    CU_ASSERT_EQUAL_FATAL(weir_kit_open_args(kit, args), 0);
    return kit;
}

struct weir_kit *worker(const char *args)
{
    struct weir_kit *kit = opened(args);

    run_until(kit, is_ready);
    return kit;
}

void finish(struct weir_kit *kit)
{
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    CU_ASSERT_TRUE(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

void gather(struct weir_kit *kit, const char *text)
{
    CU_ASSERT_EQUAL_FATAL(weir_kit_handle(kit, "text/1", text, strlen(text)), WEIR_KEEP);
}

void flush(struct weir_kit *kit)
{
    CU_ASSERT_EQUAL(weir_kit_flush(kit), WEIR_KEEP);
}

void begin(struct weir_kit *kit, const char *text)
{
    gather(kit, text);
    flush(kit);
}

void give(struct weir_kit *kit, const char *text)
{
    begin(kit, text);
    run_until(kit, nothing_is_kept);
}

void expect_output(struct weir_kit *kit, size_t index, const char *text)
{
    const struct weir_message *message = weir_kit_emitted(kit, 0, index);

    CU_ASSERT_PTR_NOT_NULL_FATAL(message);
    CU_ASSERT_EQUAL_FATAL(message->size, strlen(text));
    CU_ASSERT_EQUAL(memcmp(message->data, text, message->size), 0);
}
