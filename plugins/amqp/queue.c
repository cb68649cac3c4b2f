/* SPDX-License-Identifier: MIT */
#include "queue.h"

#include <inttypes.h>
#include <string.h>

#define ARGUMENTS_MAX 8u
#define DEAD_NAME_MAX 256u
#define RETRY_NAME_MAX 256u
#define QUEUE_RETRY_MIN_MS UINT64_C(128)

/* The arguments of a queue. */
struct arguments {
    amqp_table_entry_t entries[ARGUMENTS_MAX];
    int count;
};

bool queue_is_name(const char *name)
{
    size_t size = strlen(name);

    return size > 0 && size <= QUEUE_NAME_MAX && strncmp(name, "amq.", 4) != 0;
}

static void add_text(struct arguments *arguments, const char *name, const char *text)
{
    amqp_table_entry_t *entry = &arguments->entries[arguments->count++];

    entry->key = amqp_cstring_bytes(name);
    entry->value.kind = AMQP_FIELD_KIND_UTF8;
    entry->value.value.bytes = amqp_cstring_bytes(text);
}

static void add_number(struct arguments *arguments, const char *name, int64_t number)
{
    amqp_table_entry_t *entry = &arguments->entries[arguments->count++];

    entry->key = amqp_cstring_bytes(name);
    entry->value.kind = AMQP_FIELD_KIND_I64;
    entry->value.value.i64 = number;
}

static amqp_table_t table_of(struct arguments *arguments)
{
    return (amqp_table_t){ arguments->count, arguments->entries };
}

/* --- errors ----------------------------------------------------------------------------------- */

/* Copies what stands between two quotes after `words`. */
static bool copy_quoted(const char *said, const char *words, char *out, size_t size)
{
    const char *start = strstr(said, words), *end;

    if (!start)
        return false;
    start += strlen(words);
    if (strncmp(start, "none", 4) == 0) {
        (void)snprintf(out, size, "absent");
        return true;
    }
    start = strchr(start, '\'');
    end = start ? strchr(start + 1, '\'') : NULL;
    if (!end)
        return false;
    (void)snprintf(out, size, "%.*s", (int)(end - start - 1), start + 1);
    return true;
}

bool queue_explain(const char *said, char *out, size_t size)
{
    char name[64], ours[128], theirs[128];

    if (!copy_quoted(said, "inequivalent arg ", name, sizeof name) ||
        !copy_quoted(said, "received ", ours, sizeof ours) ||
        !copy_quoted(said, "but current is ", theirs, sizeof theirs))
        return false;
    (void)snprintf(out, size, "%s: %s here, %s at the server", name, ours, theirs);
    return true;
}

/* Says which queue differs, and in what. */
static int check_answer(struct link *link, const char *name)
{
    char reason[LINK_ERROR_MAX];
    int status = link_check(link, name);

    if (status != 0 && queue_explain(link->error, reason, sizeof reason))
        return link_fail(link, "%.180s (queue %.180s)", reason, name);
    return status;
}

/* --- declaring -------------------------------------------------------------------------------- */

static int declare(struct link *link, const char *name, struct arguments *arguments)
{
    (void)amqp_queue_declare(link->connection, LINK_CHANNEL, amqp_cstring_bytes(name), 0, 1, 0, 0,
                             table_of(arguments));
    return check_answer(link, name);
}

static int find_queue(struct link *link, const char *name, bool *out_exists)
{
    (void)amqp_queue_declare(link->connection, LINK_CHANNEL, amqp_cstring_bytes(name), 1, 1, 0, 0,
                             amqp_empty_table);
    return link_check_presence(link, name, out_exists);
}

static int find_exchange(struct link *link, const char *name, bool *out_exists)
{
    (void)amqp_exchange_declare(link->connection, LINK_CHANNEL, amqp_cstring_bytes(name),
                                amqp_cstring_bytes("direct"), 1, 1, 0, 0, amqp_empty_table);
    return link_check_presence(link, name, out_exists);
}

static int check_queue(struct link *link, const char *name)
{
    bool exists = false;
    int status = find_queue(link, name, &exists);

    return status == 0 && !exists ? link_fail(link, "queue %s does not exist", name) : status;
}

int queue_check_dead_letters(struct link *link, const char *name)
{
    char dead[DEAD_NAME_MAX] = "";
    bool exists = false;
    int status;

    (void)settings_dead_name(link->settings, name, dead, sizeof dead);
    status = find_exchange(link, dead, &exists);
    if (status != 0 || exists)
        return status;
    link->is_refused = true;
    return link_fail(link, "exchange %s, for the dead letters of %.150s, does not exist", dead,
                     name);
}

static int declare_work(struct link *link, const char *name, const char *dead)
{
    const struct amqp_settings *settings = link->settings;
    struct arguments arguments = { .count = 0 };

    add_text(&arguments, "x-queue-type", "quorum");
    add_number(&arguments, "x-max-length", settings->limit);
    add_text(&arguments, "x-overflow", "reject-publish");
    add_number(&arguments, "x-delivery-limit", settings->delivery_limit);
    add_text(&arguments, "x-dead-letter-exchange", dead);
    add_text(&arguments, "x-dead-letter-strategy", "at-least-once");
    return declare(link, name, &arguments);
}

/* Declares the queue and that of its dead letters. Sets *out_is_new when one of them is new, or
 * another host waits for that. */
static int declare_queues(struct link *link, const char *name, bool *out_is_new)
{
    struct arguments arguments = { .count = 0 };
    bool has_queue = false, has_exchange = false;
    char dead[DEAD_NAME_MAX];
    int status;

    if (settings_dead_name(link->settings, name, dead, sizeof dead) < 0)
        return link_fail(link, "the name of the queue is too long"); /* `check` reported it */
    status = find_queue(link, name, &has_queue);
    if (status == 0)
        status = find_exchange(link, dead, &has_exchange);
    *out_is_new |= !has_queue || !has_exchange;
    add_text(&arguments, "x-queue-type", "quorum");
    if (status == 0)
        status = declare(link, dead, &arguments);
    return status == 0 ? declare_work(link, name, dead) : status;
}

static int declare_exchange(struct link *link, const char *name)
{
    char dead[DEAD_NAME_MAX] = "";
    int status;

    (void)settings_dead_name(link->settings, name, dead, sizeof dead);
    (void)amqp_exchange_declare(link->connection, LINK_CHANNEL, amqp_cstring_bytes(dead),
                                amqp_cstring_bytes("direct"), 0, 1, 0, 0, amqp_empty_table);
    status = check_answer(link, dead);
    if (status != 0)
        return status;
    (void)amqp_queue_bind(link->connection, LINK_CHANNEL, amqp_cstring_bytes(dead),
                          amqp_cstring_bytes(dead), amqp_cstring_bytes(name), amqp_empty_table);
    return link_check(link, dead);
}

int queue_declare_all(struct link *link, const char *const *names, uint32_t count)
{
    const struct amqp_settings *settings = link->settings;
    bool is_new = false;
    int status = 0;

    for (uint32_t i = 0; status == 0 && i < count; i++)
        status = settings->declare ? declare_queues(link, names[i], &is_new)
                                   : check_queue(link, names[i]);
    if (status == 0 && is_new)
        status = link_rest(link, settings->new_queue);
    for (uint32_t i = 0; status == 0 && settings->declare && i < count; i++)
        status = declare_exchange(link, names[i]);
    return status;
}

/* --- without waiting -------------------------------------------------------------------------- */

static int send_declare(struct link *link, amqp_channel_t channel, amqp_queue_declare_t *method)
{
    int status = amqp_send_method(link->connection, channel, AMQP_QUEUE_DECLARE_METHOD, method);

    return status == AMQP_STATUS_OK ? 0 : link_fail(link, "%s", amqp_error_string2(status));
}

int queue_ask_length(struct link *link, const char *name)
{
    amqp_queue_declare_t method = { .queue = amqp_cstring_bytes(name), .passive = 1 };

    return send_declare(link, LINK_CHANNEL, &method);
}

uint32_t queue_retry_step(uint64_t delay_ms)
{
    uint32_t step = 0;

    while (step + 1 < QUEUE_RETRY_STEPS && (QUEUE_RETRY_MIN_MS << step) < delay_ms)
        step++;
    return step;
}

void queue_name_retry(const char *name, uint32_t step, char *out, size_t size)
{
    (void)snprintf(out, size, "%s.retry.%" PRIu64, name, QUEUE_RETRY_MIN_MS << step);
}

/* A queue of this kind loses nothing on its way back: it keeps a piece while QUEUE is full. */
int queue_declare_retry(struct link *link, const char *name, uint32_t step)
{
    struct arguments arguments = { .count = 0 };
    amqp_queue_declare_t method = { .durable = 1 };
    char retry[RETRY_NAME_MAX];

    queue_name_retry(name, step, retry, sizeof retry);
    add_text(&arguments, "x-queue-type", "quorum");
    add_text(&arguments, "x-overflow", "reject-publish");
    add_text(&arguments, "x-dead-letter-exchange", "");
    add_text(&arguments, "x-dead-letter-routing-key", name);
    add_text(&arguments, "x-dead-letter-strategy", "at-least-once");
    method.queue = amqp_cstring_bytes(retry);
    method.arguments = table_of(&arguments);
    return send_declare(link, LINK_PUTS, &method);
}
