/* SPDX-License-Identifier: MIT */
#include "exec_command.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#include <weir/testkit.h>

#include "../../../plugins/exec/exec.h"
#include "../host/suite.h"

extern const struct weir_plugin weir_plugin_v1;

struct weir_kit *worker(const char *args)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "run");

    CU_ASSERT_PTR_NOT_NULL_FATAL(kit);
    CU_ASSERT_EQUAL_FATAL(weir_kit_open_args(kit, args), 0);
    return kit;
}

void finish(struct weir_kit *kit)
{
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    CU_ASSERT_TRUE(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

void give(struct weir_kit *kit, const char *text)
{
    (void)weir_kit_handle(kit, "text/1", text, strlen(text));
    run_until(kit, nothing_is_kept);
}

void expect_output(struct weir_kit *kit, size_t index, const char *text)
{
    const struct weir_message *message = weir_kit_emitted(kit, 0, index);

    CU_ASSERT_PTR_NOT_NULL_FATAL(message);
    CU_ASSERT_STRING_EQUAL(message->tag->name, EXEC_OUTPUT_TAG);
    CU_ASSERT_EQUAL_FATAL(message->size, strlen(text));
    CU_ASSERT_EQUAL(memcmp(message->data, text, message->size), 0);
}

void expect_settled(struct weir_kit *kit, enum weir_verdict verdict, size_t count,
                    const char *reason)
{
    CU_ASSERT_EQUAL(weir_kit_settled_count(kit, verdict), count);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), reason);
}

bool a_timer_waits(struct weir_kit *kit)
{
    return weir_kit_timer_count(kit) == 1 && weir_kit_watch_count(kit) == 0;
}
