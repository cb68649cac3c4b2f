/* SPDX-License-Identifier: MIT */
#include "kit_message.h"

#include <stdlib.h>
#include <string.h>

#define PAYLOAD_ALIGNMENT ((size_t)16) /* promised by weir/message.h */

static const char *tag_name(const struct weir_message *message)
{
    return message->tag ? message->tag->name : "without tag";
}

struct kit_message *kit_message_make(struct weir_kit *kit, enum kit_owner owner,
                                     const struct weir_tag *tag, size_t size)
{
    const struct kit_line line = kit_line_take();
    struct kit_message *made;
    void *payload = NULL;

    /* Of the exact size, so that AddressSanitizer finds an access one byte past it. */
    if (size > PTRDIFF_MAX || (size > 0 && posix_memalign(&payload, PAYLOAD_ALIGNMENT, size) != 0))
        return NULL;
    made = kit_take(sizeof *made);
    made->owner = owner;
    made->made = line;
    made->message.tag = tag;
    made->message.size = size;
    made->message.kind = WEIR_MESSAGE;
    made->message.attempt = 1;
    made->next = kit->messages;
    kit->messages = made;
    if (size > 0) {
        made->message.data = payload;
        memset(payload, 0, size);
    }
    return made;
}

struct kit_message *kit_message_copy(struct weir_kit *kit, enum kit_owner owner,
                                     const struct weir_message *like)
{
    struct kit_message *made = kit_message_make(kit, owner, like->tag, like->size);
    void *data;

    if (!made)
        abort();
    data = made->message.data;
    if (like->size > 0)
        memcpy(data, like->data, like->size);
    made->message = *like;
    made->message.data = data;
    if (made->message.kind == 0)
        made->message.kind = WEIR_MESSAGE;
    if (made->message.attempt == 0)
        made->message.attempt = 1;
    return made;
}

static struct kit_message *find(struct weir_kit *kit, const struct weir_message *message)
{
    struct kit_message *found = kit->messages;

    while (found && &found->message != message)
        found = found->next;
    return found;
}

bool kit_message_is_owned(struct weir_kit *kit, const struct weir_message *message,
                          const char *doing)
{
    static const char *const why[] = {
        [KIT_SENT] = "was sent before",       [KIT_FREED] = "was freed before",
        [KIT_IN_HAND] = "is only borrowed",   [KIT_KEPT] = "is kept: weir_settle ends that",
        [KIT_SETTLED] = "was settled before", [KIT_REPLY] = "is only borrowed",
        [KIT_STASHED] = "is in the stash",    [KIT_READY] = "was unstashed or put back",
    };
    const struct kit_message *found = find(kit, message);

    if (!found)
        kit_problem(kit, "a message was %s that the host did not make", doing);
    else if (found->owner != KIT_PLUGIN)
        kit_problem(kit, "a message (%s) was %s that %s", tag_name(message), doing,
                    why[found->owner]);
    return found && found->owner == KIT_PLUGIN;
}

void kit_message_give(struct kit_message *message, enum kit_owner owner)
{
    message->owner = owner;
    if (owner == KIT_SENT)
        return;
    if (!message->blob)
        free(message->message.data);
    message->message.data = NULL;
}

size_t kit_message_kept_count(const struct weir_kit *kit)
{
    size_t count = 0;

    for (const struct kit_message *message = kit->messages; message; message = message->next)
        count += message->owner == KIT_KEPT;
    return count;
}

uint32_t kit_message_in_hand_max(const struct weir_kit *kit)
{
    return kit->behaviour.in_hand ? kit->behaviour.in_hand : 1;
}

static void keep(struct weir_kit *kit, struct kit_message *message)
{
    size_t max = kit_message_in_hand_max(kit);

    if (kit_message_kept_count(kit) >= max)
        kit_problem(kit, "a message (%s) was kept over in_hand, which is %zu",
                    tag_name(&message->message), max);
    message->owner = KIT_KEPT;
}

void kit_message_settle(struct weir_kit *kit, struct kit_message *message, int verdict)
{
    if (verdict < 0 || verdict >= (int)KIT_VERDICTS) {
        kit_problem(kit, "handle answered %d, which is no verdict", verdict);
        verdict = WEIR_FAIL;
    }
    /* Forwarded: its receiver settles it. */
    if (message->forwarded) {
        if (verdict != WEIR_DONE)
            kit_problem(kit, "a message (%s) was forwarded, and answered with %d, not WEIR_DONE",
                        tag_name(&message->message), verdict);
        message->owner = KIT_SENT;
        return;
    }
    if (message->owner == KIT_READY) { /* put back */
        if (verdict != WEIR_DONE && verdict != WEIR_FAIL && verdict != WEIR_STOP)
            kit_problem(kit, "a message (%s) was put back, and answered with %d, not WEIR_DONE",
                        tag_name(&message->message), verdict);
        return;
    }
    if (message->stashed) {
        if (verdict != WEIR_DONE)
            kit_problem(kit, "a message (%s) was stashed, and answered with %d, not WEIR_DONE",
                        tag_name(&message->message), verdict);
        message->owner = KIT_STASHED;
        return;
    }
    if (verdict == WEIR_KEEP) {
        keep(kit, message);
        return;
    }
    kit->settled[verdict]++;
    kit_message_give(message, KIT_SETTLED);
}

bool kit_message_is_settling(int verdict)
{
    return verdict >= 0 && verdict < (int)KIT_VERDICTS && verdict != WEIR_KEEP &&
           verdict != WEIR_STOP;
}

int kit_message_settle_kept(struct weir_kit *kit, struct weir_message *message, int verdict)
{
    struct kit_message *found = find(kit, message);

    if (!found || found->owner != KIT_KEPT) {
        kit_problem(kit, "a message (%s) was settled that %s",
                    found ? tag_name(message) : "unknown",
                    found && found->owner == KIT_SETTLED ? "was settled before" : "is not kept");
        return WEIR_EINVALID;
    }
    if (!kit_message_is_settling(verdict)) {
        kit_problem(kit, "a kept message (%s) was settled with %d", tag_name(message), verdict);
        return WEIR_EINVALID;
    }
    kit->settled[verdict]++;
    kit_message_give(found, KIT_SETTLED);
    return 0;
}

void kit_message_settle_all_kept(struct weir_kit *kit)
{
    for (struct kit_message *message = kit->messages; message; message = message->next)
        if (message->owner == KIT_KEPT) {
            kit->settled[WEIR_DONE]++;
            kit_message_give(message, KIT_SETTLED);
        }
}

static void find_leaked(struct weir_kit *kit, const struct kit_message *message)
{
    const char *tag = tag_name(&message->message);

    if (message->made.file)
        kit_problem(kit, "%s:%d: a message (%s) was made here and neither sent nor freed",
                    message->made.file, message->made.line, tag);
    else
        kit_problem(kit, "a message (%s) was made and neither sent nor freed", tag);
}

void kit_message_find_forgotten(struct weir_kit *kit)
{
    bool failed = kit->own_end == WEIR_END_CRASH || kit->own_end == WEIR_END_KILL;

    for (const struct kit_message *message = kit->messages; message; message = message->next) {
        if (message->owner == KIT_PLUGIN)
            find_leaked(kit, message);
        if (message->owner == KIT_KEPT && !failed)
            kit_problem(kit, "a message (%s) was kept and never settled",
                        tag_name(&message->message));
    }
}

void kit_message_finish(struct weir_kit *kit)
{
    for (struct kit_message *message = kit->messages, *next; message; message = next) {
        next = message->next;
        if (!message->blob)
            free(message->message.data);
        free(message);
    }
}
