#include "kit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kit_behaviour.h"
#include "kit_blob.h"
#include "kit_child.h"
#include "kit_host.h"
#include "kit_leaves.h"
#include "kit_message.h"
#include "kit_options.h"
#include "kit_pool.h"
#include "kit_port.h"
#include "kit_time.h"
#include "kit_watch.h"

#define PID_OF_WORKER ((weir_pid)0x100) /* of worker 0; any number but 0 would do */

struct weir_kit *kit_of(struct weir_self *self)
{
    return (struct weir_kit *)(void *)self;
}

weir_pid kit_pid(const struct weir_kit *kit)
{
    return PID_OF_WORKER + kit->index;
}

void *kit_take(size_t size)
{
    void *memory = calloc(1, size);

    if (!memory)
        abort();
    return memory;
}

void kit_problem(struct weir_kit *kit, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    kit_text_format_list(&kit->problems, format, arguments);
    va_end(arguments);
    kit_text_add(&kit->problems, "\n", 1);
    kit->problem_count++;
}

bool kit_allocation_fails(struct weir_kit *kit)
{
    if (kit->fail_in == 0)
        return false;
    if (kit->fail_in > 1) {
        kit->fail_in--;
        return false;
    }
    if (kit->fail_count != UINT32_MAX && --kit->fail_count == 0)
        kit->fail_in = 0;
    return true;
}

void kit_turn_begin(struct weir_kit *kit)
{
    kit->reason[0] = '\0';
    kit->retry_ms = 0;
}

void kit_turn_end(struct weir_kit *kit)
{
    kit_time_answer_cancelled(kit);
}

/* --- life ------------------------------------------------------------------------------------- */

struct weir_kit *weir_kit_create(const struct weir_plugin *plugin, const char *behaviour)
{
    struct weir_kit *kit = kit_take(sizeof *kit);

    if (!kit_behaviour_copy(plugin, behaviour, &kit->behaviour)) {
        free(kit);
        return NULL;
    }
    kit->self.host = kit_host_table();
    kit->room = UINT32_MAX;
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
    kit_time_finish(kit);
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

/* What `check` reports to. */
struct checking {
    struct weir_report report; /* first: found again from it */
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

int weir_kit_open(struct weir_kit *kit, const void *settings)
{
    size_t size = kit->behaviour.state_size ? kit->behaviour.state_size : 1;
    int status = 0;

    if (kit->is_open)
        return WEIR_ENOTALLOWED;
    free(kit->state);
    if (posix_memalign(&kit->state, 16, size) != 0)
        abort();
    memset(kit->state, 0, size);
    kit->settings = settings;
    kit_turn_begin(kit);
    if (kit->behaviour.open)
        status = kit->behaviour.open(&kit->self, settings, kit->state);
    kit->is_open = status == 0;
    kit_turn_end(kit);
    if (status > 0)
        kit_problem(kit, "open answered %d, which is neither 0 nor a negative status", status);
    if (status != 0) {
        kit_child_end_all(kit);
        kit_time_finish(kit);
        kit_watch_finish(kit);
        kit_port_close(kit);
    }
    return status;
}

/* A test that asks for what cannot be is told so, and does not crash. */
static bool can_run(struct weir_kit *kit, bool is_there, const char *callback)
{
    if (!kit->is_open)
        kit_problem(kit, "the test asked for %s, and the worker is not open", callback);
    else if (!is_there)
        kit_problem(kit, "the test asked for %s, which the behaviour has not", callback);
    return kit->is_open && is_there;
}

void weir_kit_reconfigure(struct weir_kit *kit, const void *settings)
{
    if (!can_run(kit, true, "reconfigure"))
        return;
    kit->settings = settings;
    kit_turn_begin(kit);
    if (kit->behaviour.reconfigure)
        kit->behaviour.reconfigure(&kit->self, kit->state, settings);
    kit_turn_end(kit);
}

void weir_kit_reopen(struct weir_kit *kit)
{
    if (!can_run(kit, kit->behaviour.reopen, "reopen"))
        return;
    kit_turn_begin(kit);
    kit->behaviour.reopen(&kit->self, kit->state);
    kit_turn_end(kit);
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
    kit_child_end_all(kit);
    kit_time_finish(kit);
    kit_watch_finish(kit);
    kit_port_close(kit);
}

void *weir_kit_state(struct weir_kit *kit)
{
    return kit->state;
}

/* --- running ---------------------------------------------------------------------------------- */

const struct weir_tag *weir_kit_tag(struct weir_kit *kit, const char *name)
{
    return kit_tag_find(kit, name);
}

int weir_kit_deliver(struct weir_kit *kit, const struct weir_message *like)
{
    struct kit_message *message;
    int verdict;

    if (!can_run(kit, kit->behaviour.handle != NULL, "handle"))
        return WEIR_FAIL;
    message = kit_message_copy(kit, KIT_IN_HAND, like);
    kit_turn_begin(kit);
    verdict = kit->behaviour.handle(&kit->self, kit->state, &message->message);
    kit_message_settle(kit, message, verdict);
    kit_turn_end(kit);
    return verdict;
}

static int deliver_kind(struct weir_kit *kit, enum weir_kind kind, const char *tag,
                        const void *data, size_t size)
{
    const struct weir_message like = {
        .data = (void *)data,
        .size = size,
        .tag = tag ? kit_tag_find(kit, tag) : NULL,
        .kind = (uint8_t)kind,
    };

    return weir_kit_deliver(kit, &like);
}

int weir_kit_handle(struct weir_kit *kit, const char *tag, const void *data, size_t size)
{
    return deliver_kind(kit, WEIR_MESSAGE, tag, data, size);
}

int weir_kit_request(struct weir_kit *kit, const char *tag, const void *data, size_t size)
{
    return deliver_kind(kit, WEIR_REQUEST, tag, data, size);
}

void weir_kit_resume(struct weir_kit *kit, const void *position, size_t size)
{
    kit_turn_begin(kit);
    if (kit->behaviour.resume)
        kit->behaviour.resume(&kit->self, kit->state, position, size);
    kit_turn_end(kit);
}

const void *weir_kit_left(const struct weir_kit *kit, size_t *out_size)
{
    *out_size = kit->left_size;
    return kit->left;
}

int weir_kit_produce(struct weir_kit *kit, uint32_t credit)
{
    size_t before = kit->emit_count;
    size_t made;
    int produced;

    if (!can_run(kit, kit->behaviour.produce != NULL, "produce"))
        return WEIR_ENOTALLOWED;
    kit_turn_begin(kit);
    produced = kit->behaviour.produce(&kit->self, kit->state, credit);
    made = kit->emit_count - before;
    if (made > credit)
        kit_problem(kit, "%zu messages were produced, and %" PRIu32 " asked for", made, credit);
    if (produced > WEIR_END)
        kit_problem(kit, "produce answered %d, which says nothing", produced);
    kit_turn_end(kit);
    return produced;
}

int weir_kit_produce_all(struct weir_kit *kit, uint32_t credit)
{
    int produced;

    do
        produced = weir_kit_produce(kit, credit);
    while (produced == WEIR_MORE);
    return produced;
}

/* --- what it shall meet ----------------------------------------------------------------------- */

void weir_kit_fail_allocation(struct weir_kit *kit, uint32_t nth)
{
    weir_kit_fail_allocations(kit, nth, 1);
}

void weir_kit_fail_allocations(struct weir_kit *kit, uint32_t nth, uint32_t count)
{
    kit->fail_in = count > 0 ? nth : 0;
    kit->fail_count = count;
}

void weir_kit_limit(struct weir_kit *kit, uint32_t room, int status)
{
    kit->room = room;
    kit->room_status = status;
}

void weir_kit_time_left(struct weir_kit *kit, uint64_t time_left_ms)
{
    kit->time_left_ms = time_left_ms;
}

void weir_kit_place(struct weir_kit *kit, uint32_t index, weir_pid pool)
{
    kit->index = index;
    kit->pool = pool;
}

void weir_kit_name(struct weir_kit *kit, const char *name, weir_pid pid)
{
    struct kit_name *known = kit_take(sizeof *known);

    *known = (struct kit_name){ name, pid, kit->names };
    kit->names = known;
}

struct weir_pool_stats *weir_kit_pool(struct weir_kit *kit)
{
    return &kit->stats;
}

/* --- what it did ------------------------------------------------------------------------------ */

size_t weir_kit_sent_count(const struct weir_kit *kit)
{
    return kit->sent_count;
}

const struct weir_kit_sent *weir_kit_sent(const struct weir_kit *kit, size_t index)
{
    const struct kit_sent *sent = kit->sent;

    while (sent && index-- > 0)
        sent = sent->next;
    return sent ? &sent->sent : NULL;
}

static const struct weir_message *find_sent(const struct weir_kit *kit, enum weir_kit_way way,
                                            uint32_t output, size_t index)
{
    for (const struct kit_sent *sent = kit->sent; sent; sent = sent->next) {
        if (sent->sent.way == way && sent->sent.output == output && index-- == 0)
            return sent->sent.message;
    }
    return NULL;
}

const struct weir_message *weir_kit_emitted(const struct weir_kit *kit, uint32_t output,
                                            size_t index)
{
    return find_sent(kit, WEIR_KIT_EMIT, output, index);
}

const struct weir_message *weir_kit_replied(const struct weir_kit *kit, size_t index)
{
    return find_sent(kit, WEIR_KIT_REPLY, 0, index);
}

size_t weir_kit_settled_count(const struct weir_kit *kit, enum weir_verdict verdict)
{
    return (unsigned)verdict < KIT_VERDICTS ? kit->settled[verdict] : 0;
}

size_t weir_kit_kept_count(const struct weir_kit *kit)
{
    return kit_message_kept_count(kit);
}

const char *weir_kit_reason(const struct weir_kit *kit)
{
    return kit->reason;
}

uint64_t weir_kit_retry_ms(const struct weir_kit *kit)
{
    return kit->retry_ms;
}

const char *weir_kit_printed(const struct weir_kit *kit)
{
    return kit_text_get(&kit->printed);
}

static const struct kit_unit *find_unit(const struct weir_kit *kit, const char *name)
{
    const struct kit_unit *unit = kit->units;

    while (unit && strcmp(unit->unit, name) != 0)
        unit = unit->next;
    return unit;
}

uint64_t weir_kit_done(const struct weir_kit *kit, const char *unit)
{
    const struct kit_unit *found = find_unit(kit, unit);

    return found ? found->done : 0;
}

uint64_t weir_kit_total(const struct weir_kit *kit, const char *unit)
{
    const struct kit_unit *found = find_unit(kit, unit);

    return found ? found->total : 0;
}

int weir_kit_exit_status(const struct weir_kit *kit)
{
    return kit->exit_status;
}

const char *weir_kit_problems(const struct weir_kit *kit)
{
    return kit_text_get(&kit->problems);
}

bool weir_kit_leaves_nothing(void (*work)(void *context), void *context)
{
    return kit_leaves_nothing(work, context);
}
