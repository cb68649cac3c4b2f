/* SPDX-License-Identifier: MIT */
#include "kit.h"

#include <stdlib.h>

#include "kit_actor.h"
#include "kit_behaviour.h"
#include "kit_blob.h"
#include "kit_child.h"
#include "kit_due.h"
#include "kit_event.h"
#include "kit_host.h"
#include "kit_message.h"
#include "kit_options.h"
#include "kit_pool.h"
#include "kit_port.h"
#include "kit_stash.h"
#include "kit_state.h"
#include "kit_turn.h"
#include "kit_watch.h"

struct weir_kit *weir_kit_create(const struct weir_plugin *plugin, const char *behaviour)
{
    struct weir_kit *kit = kit_take(sizeof *kit);

    if (!kit_behaviour_copy(plugin, behaviour, &kit->behaviour)) {
        kit_behaviour_print_names(plugin, behaviour, stderr);
        free(kit);
        return NULL;
    }
    kit->seek = kit_take(sizeof *kit->seek);
    kit->self.host = kit_host_table();
    kit->room = kit->descriptors_limit = UINT32_MAX;
    kit->time_left_ms = UINT64_MAX;
    kit->sent_end = &kit->sent;
    kit->stats.size = sizeof kit->stats;
    kit_options_check_table(kit);
    return kit;
}

size_t weir_kit_destroy(struct weir_kit *kit)
{
    size_t count;

    if (!kit)
        return 0;
    weir_kit_close(kit, WEIR_END_SHUTDOWN);
    kit_message_find_forgotten(kit);
    kit_port_find_forgotten(kit);
    kit_blob_find_forgotten(kit);
    fputs(kit_text_get(&kit->problems), stderr);
    count = kit->problem_count;
    kit_due_finish(kit);
    kit_pool_finish(kit);
    kit_message_finish(kit);
    kit_host_finish(kit);
    kit_text_finish(&kit->problems);
    kit_text_finish(&kit->printed);
    kit_text_finish(&kit->logged);
    kit_text_finish(&kit->checked);
    kit_text_finish(&kit->mistakes);
    kit_text_finish(&kit->inspected);
    kit_options_finish(kit);
    kit_behaviour_finish(&kit->behaviour);
    free(kit->state);
    free(kit);
    return count;
}

/* The report of a call of `check`. */
struct checking {
    struct weir_report report; /* first: a report is cast back to this struct */
    struct weir_kit *kit;
};

static void note_error(struct weir_report *report, const char *option, const char *why)
{
    struct weir_kit *kit = ((struct checking *)(void *)report)->kit;

    kit_text_format(&kit->checked, "%s: %s\n", option ? option : "args", why);
}

const char *weir_kit_check(struct weir_kit *kit, const void *settings)
{
    struct checking checking = { { note_error }, kit };

    kit_text_finish(&kit->checked);
    if (kit->behaviour.check)
        kit->behaviour.check(settings, &checking.report);
    return kit_text_get(&kit->checked);
}

/* Frees the resources of the incarnation. */
static void end_incarnation(struct weir_kit *kit)
{
    kit_state_check(kit);
    kit_actor_close(kit);
    kit_child_end_all(kit);
    kit_due_finish(kit);
    kit_event_close(kit);
    kit_stash_close(kit);
    kit_watch_finish(kit);
    kit_port_close(kit);
}

int weir_kit_open(struct weir_kit *kit, const void *settings)
{
    int status = 0;

    if (!kit)
        return WEIR_EINVALID;
    if (kit->is_open)
        return WEIR_ENOTALLOWED;
    kit_state_make(kit);
    kit->settings = settings;
    kit->demand = kit_message_in_hand_max(kit);
    kit->descriptors = 0;
    kit->child_process = 0;
    kit->own_end = -1;
    kit_turn_begin(kit);
    if (kit->behaviour.open)
        status = kit->behaviour.open(&kit->self, settings, kit->state);
    kit->is_open = status == 0;
    kit_turn_end(kit);
    if (status > 0)
        kit_problem(kit, "open answered %d, which is neither 0 nor a negative status", status);
    if (status != 0)
        end_incarnation(kit);
    return status;
}

void weir_kit_reconfigure(struct weir_kit *kit, const void *settings)
{
    if (!kit_turn_can_run(kit, true, "reconfigure"))
        return;
    kit->settings = settings;
    kit_turn_begin(kit);
    if (kit->behaviour.reconfigure)
        kit->behaviour.reconfigure(&kit->self, kit->state, settings);
    kit_turn_end(kit);
}

void weir_kit_reopen(struct weir_kit *kit)
{
    if (!kit_turn_can_run(kit, kit->behaviour.reopen, "reopen"))
        return;
    kit_turn_begin(kit);
    kit->behaviour.reopen(&kit->self, kit->state);
    kit_turn_end(kit);
}

static int run_check(struct weir_kit *kit, int (*callback)(struct weir_self *, void *))
{
    int status;

    kit_turn_begin(kit);
    status = callback(&kit->self, kit->state);
    kit_turn_end(kit);
    return status;
}

int weir_kit_taken(struct weir_kit *kit)
{
    return kit_turn_can_run(kit, kit->behaviour.taken, "taken")
               ? run_check(kit, kit->behaviour.taken)
               : WEIR_EUNSUPPORTED;
}

int weir_kit_returned(struct weir_kit *kit)
{
    return kit_turn_can_run(kit, kit->behaviour.returned, "returned")
               ? run_check(kit, kit->behaviour.returned)
               : WEIR_EUNSUPPORTED;
}

int weir_kit_leave(struct weir_kit *kit)
{
    return kit_turn_can_run(kit, kit->behaviour.leave, "leave")
               ? run_check(kit, kit->behaviour.leave)
               : WEIR_EUNSUPPORTED;
}

void weir_kit_close(struct weir_kit *kit, enum weir_end_reason reason)
{
    if (!kit->is_open)
        return;
    kit_turn_begin(kit);
    kit->is_closing = true;
    if (kit->behaviour.close)
        kit->behaviour.close(&kit->self, kit->state, (int)reason);
    kit->is_closing = false;
    kit->is_open = false;
    end_incarnation(kit);
}

void *weir_kit_state(struct weir_kit *kit)
{
    return kit->state;
}
