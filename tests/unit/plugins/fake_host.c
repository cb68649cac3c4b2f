#include "fake_host.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <CUnit/CUnit.h>

#include "base/options.h"

extern const struct weir_plugin weir_plugin_v1;

static struct fake_host *fake_of(struct weir_self *self)
{
    return (struct fake_host *)(void *)self;
}

static const struct weir_tag *find_tag(struct fake_host *fake, const char *name)
{
    size_t i = 0;

    while (i < FAKE_TAGS_MAX && fake->tags[i].name && strcmp(fake->tags[i].name, name) != 0)
        i++;
    CU_ASSERT_FATAL(i < FAKE_TAGS_MAX);
    fake->tags[i].name = name;
    return &fake->tags[i];
}

/* --- the table -------------------------------------------------------------------------------- */

static const struct weir_tag *host_tag(struct weir_self *self, const char *name)
{
    return find_tag(fake_of(self), name);
}

static struct weir_message *make_message(const struct weir_tag *tag, size_t size)
{
    struct weir_message *message = calloc(1, sizeof *message);

    CU_ASSERT_PTR_NOT_NULL_FATAL(message);
    message->tag = tag;
    message->size = size;
    message->kind = WEIR_MESSAGE;
    message->attempt = 1;
    message->data = calloc(1, size ? size : 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(message->data);
    return message;
}

static void free_message(struct weir_message *message)
{
    free(message->data);
    free(message);
}

static struct weir_message *host_message_new(struct weir_self *self, const struct weir_tag *tag,
                                             size_t size)
{
    struct fake_host *fake = fake_of(self);

    if (fake->message_room == 0)
        return NULL;
    fake->message_room--;
    fake->messages++;
    return make_message(tag, size);
}

static void host_message_free(struct weir_self *self, struct weir_message *message)
{
    if (!message)
        return;
    fake_of(self)->messages--;
    free_message(message);
}

static int host_emit(struct weir_self *self, uint32_t output, struct weir_message *message)
{
    struct fake_host *fake = fake_of(self);

    if (fake->emit_room == 0)
        return fake->emit_status;
    CU_ASSERT_FATAL(fake->emit_count < FAKE_MAX);
    fake->emit_room--;
    fake->messages--;
    fake->emits[fake->emit_count++] = (struct fake_emit){ output, message };
    return 0;
}

static int host_after(struct weir_self *self, uint64_t delay_ms, weir_tick *tick, void *context,
                      uint64_t *out_timer)
{
    struct fake_host *fake = fake_of(self);

    (void)delay_ms;
    (void)context;
    (void)out_timer;
    CU_ASSERT_PTR_NOT_NULL(tick);
    if (fake->no_timers)
        return WEIR_ENOMEM;
    fake->timers++;
    return 0;
}

static void host_retry_after(struct weir_self *self, uint64_t delay_ms)
{
    fake_of(self)->retry_ms = delay_ms;
}

static void host_reason(struct weir_self *self, const char *text)
{
    struct fake_host *fake = fake_of(self);

    (void)snprintf(fake->reason, sizeof fake->reason, "%s", text);
}

static weir_pid host_pid(struct weir_self *self)
{
    return 0x100u + fake_of(self)->index;
}

static uint32_t host_index(struct weir_self *self)
{
    return fake_of(self)->index;
}

static void write_field(FILE *out, const struct weir_field *field)
{
    switch (field->kind) {
    case WEIR_STRING:
        (void)fprintf(out, " %s=%s", field->key, field->value.string);
        break;
    case WEIR_I64:
        (void)fprintf(out, " %s=%" PRId64, field->key, field->value.integer);
        break;
    case WEIR_U64:
        (void)fprintf(out, " %s=%" PRIu64, field->key, field->value.natural);
        break;
    default:
        (void)fprintf(out, " %s=%g", field->key, field->value.real);
        break;
    }
}

static void host_log(struct weir_self *self, enum weir_log_level level, const char *event,
                     const struct weir_field *fields)
{
    struct fake_host *fake = fake_of(self);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    CU_ASSERT_FATAL(fake->log_count < FAKE_MAX);
    (void)fprintf(out, "%s", event);
    for (; fields->key; fields++)
        write_field(out, fields);
    (void)fclose(out);
    fake->logs[fake->log_count++] = (struct fake_log){ level, text };
}

static void host_progress(struct weir_self *self, const char *unit, uint64_t done, uint64_t total)
{
    struct fake_host *fake = fake_of(self);
    size_t i = 0;

    while (i < FAKE_UNITS_MAX && fake->progress[i].unit &&
           strcmp(fake->progress[i].unit, unit) != 0)
        i++;
    CU_ASSERT_FATAL(i < FAKE_UNITS_MAX);
    fake->progress[i] = (struct fake_progress){ unit, done, total };
}

static void host_exit_status(struct weir_self *self, int status)
{
    struct fake_host *fake = fake_of(self);

    if (status > fake->exit_status)
        fake->exit_status = status;
}

static void host_print(struct weir_self *self, const char *text, size_t size)
{
    struct fake_host *fake = fake_of(self);
    char *grown = realloc(fake->printed, fake->printed_size + size + 1);

    CU_ASSERT_PTR_NOT_NULL_FATAL(grown);
    memcpy(grown + fake->printed_size, text, size);
    fake->printed = grown;
    fake->printed_size += size;
    grown[fake->printed_size] = '\0';
}

/* Calls that no bundled plugin makes are NULL: to make one is to crash the test. */
static const struct weir_host table = {
    .size = sizeof table,
    .tag = host_tag,
    .message_new = host_message_new,
    .message_free = host_message_free,
    .emit = host_emit,
    .retry_after = host_retry_after,
    .reason = host_reason,
    .after = host_after,
    .pid = host_pid,
    .index = host_index,
    .log = host_log,
    .progress = host_progress,
    .exit_status = host_exit_status,
    .print = host_print,
};

/* --- life ------------------------------------------------------------------------------------- */

static const struct weir_behaviour *find_behaviour(const char *name)
{
    const struct weir_behaviour *behaviour = weir_plugin_v1.behaviours;

    while (behaviour->name && strcmp(behaviour->name, name) != 0)
        behaviour++;
    CU_ASSERT_PTR_NOT_NULL_FATAL(behaviour->name);
    return behaviour;
}

struct fake_host *fake_start(const char *behaviour)
{
    struct fake_host *fake = calloc(1, sizeof *fake);

    CU_ASSERT_PTR_NOT_NULL_FATAL(fake);
    fake->table = table;
    fake->self.host = &fake->table;
    fake->behaviour = find_behaviour(behaviour);
    fake->emit_room = fake->message_room = UINT32_MAX;
    fake->emit_status = WEIR_EFULL;
    fake->printed = calloc(1, 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(fake->printed);
    return fake;
}

void fake_finish(struct fake_host *fake)
{
    if (!fake)
        return;
    fake_close(fake, WEIR_END_SHUTDOWN);
    CU_ASSERT_EQUAL(fake->messages, 0);
    for (size_t i = 0; i < fake->emit_count; i++)
        free_message(fake->emits[i].message);
    for (size_t i = 0; i < fake->log_count; i++)
        free(fake->logs[i].text);
    free(fake->printed);
    free(fake->state);
    options_destroy(fake->options);
    free(fake);
}

static struct fake_option *option_named(struct fake_host *fake, const char *name)
{
    for (size_t i = 0; i < fake->given_count; i++) {
        if (strcmp(fake->given[i].name, name) == 0)
            return &fake->given[i];
    }
    CU_ASSERT_FATAL(fake->given_count < FAKE_OPTIONS_MAX);
    fake->given[fake->given_count].name = name;
    return &fake->given[fake->given_count++];
}

void fake_set(struct fake_host *fake, const char *name, const char *text)
{
    option_named(fake, name)->texts[0] = text;
}

void fake_set_item(struct fake_host *fake, const char *name, const char *text)
{
    struct fake_option *option = option_named(fake, name);

    option->list = true;
    CU_ASSERT_FATAL(option->count < FAKE_ITEMS_MAX);
    if (text)
        option->texts[option->count++] = text;
}

static void shape_value(const struct fake_option *given, struct option_text *items,
                        struct option_value *value)
{
    for (size_t i = 0; i < given->count; i++)
        items[i] = (struct option_text){ .text = given->texts[i] };
    *value = (struct option_value){ .name = given->name, .shape = OPTION_SCALAR };
    value->scalar.text = given->texts[0];
    if (given->list) {
        value->shape = OPTION_LIST;
        value->items = items;
        value->count = given->count;
    }
}

static int parse_options(struct fake_host *fake, struct report *report)
{
    struct option_text items[FAKE_OPTIONS_MAX][FAKE_ITEMS_MAX];
    struct option_value values[FAKE_OPTIONS_MAX];
    const struct option_place place = { .path = "args" };

    for (size_t i = 0; i < fake->given_count; i++)
        shape_value(&fake->given[i], items[i], &values[i]);
    return options_parse(fake->behaviour->options, fake->behaviour->settings_size, values,
                         fake->given_count, &place, report, &fake->options);
}

struct check_report {
    struct weir_report report; /* first: found again from a weir_report */
    int status;
};

static void check_error(struct weir_report *report, const char *option, const char *reason)
{
    (void)option;
    (void)reason;
    ((struct check_report *)(void *)report)->status = WEIR_EINVALID;
}

static int run_check(const struct fake_host *fake)
{
    struct check_report check = { .report = { check_error } };

    if (fake->behaviour->check)
        fake->behaviour->check(options_settings(fake->options), &check.report);
    return check.status;
}

static int run_open(struct fake_host *fake)
{
    size_t size = (fake->behaviour->state_size + 15u) / 16u * 16u;
    int status;

    fake->state = aligned_alloc(16, size ? size : 16);
    CU_ASSERT_PTR_NOT_NULL_FATAL(fake->state);
    memset(fake->state, 0, size);
    if (!fake->behaviour->open)
        return 0;
    status = fake->behaviour->open(&fake->self, options_settings(fake->options), fake->state);
    return status;
}

int fake_open(struct fake_host *fake)
{
    struct report report;
    int status;

    report_init(&report);
    status = parse_options(fake, &report);
    report_finish(&report);
    if (status == 0)
        status = run_check(fake);
    if (status == 0)
        status = run_open(fake);
    fake->is_open = status == 0;
    return status;
}

void fake_close(struct fake_host *fake, enum weir_end_reason reason)
{
    if (fake->is_open && fake->behaviour->close)
        fake->behaviour->close(&fake->self, fake->state, (int)reason);
    fake->is_open = false;
}

/* --- running ---------------------------------------------------------------------------------- */

int fake_produce(struct fake_host *fake, uint32_t credit)
{
    size_t before = fake->emit_count;
    int produced = fake->behaviour->produce(&fake->self, fake->state, credit);

    CU_ASSERT(fake->emit_count - before <= credit);
    return produced;
}

int fake_produce_all(struct fake_host *fake, uint32_t credit)
{
    int produced = WEIR_MORE;

    while (produced == WEIR_MORE)
        produced = fake_produce(fake, credit);
    return produced;
}

int fake_handle_again(struct fake_host *fake, const char *tag, const void *data, size_t size,
                      uint16_t attempt)
{
    struct weir_message *message = make_message(tag ? find_tag(fake, tag) : NULL, size);
    int verdict;

    if (size > 0)
        memcpy(message->data, data, size);
    message->attempt = attempt;
    fake->reason[0] = '\0';
    verdict = fake->behaviour->handle(&fake->self, fake->state, message);
    free_message(message);
    return verdict;
}

int fake_handle(struct fake_host *fake, const char *tag, const void *data, size_t size)
{
    return fake_handle_again(fake, tag, data, size, 1);
}

struct fake_progress fake_progress(const struct fake_host *fake, const char *unit)
{
    for (size_t i = 0; i < FAKE_UNITS_MAX && fake->progress[i].unit; i++) {
        if (strcmp(fake->progress[i].unit, unit) == 0)
            return fake->progress[i];
    }
    return (struct fake_progress){ 0 };
}

bool fake_logged(const struct fake_host *fake, enum weir_log_level level, const char *part)
{
    for (size_t i = 0; i < fake->log_count; i++) {
        if (fake->logs[i].level == level && strstr(fake->logs[i].text, part))
            return true;
    }
    return false;
}
