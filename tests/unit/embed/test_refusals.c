/* SPDX-License-Identifier: MIT */
/*
 * Goal: an option that is not valid is refused, and the log says which one and why; no field that
 * is reserved may be set in any struct of options. Shows promises E18, E19 and E24.
 *
 * Method: a table of wrong options for each struct. The log of the program notes the last line of
 * its kind.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "unit/host/suite.h"

#include <weir/runtime.h>

#define TEXT 128

/* The last refusal in the log. */
struct noted {
    char component[TEXT];
    char option[TEXT];
    char reason[TEXT];
};

static void copy(char *to, const char *from)
{
    size_t length = strnlen(from, TEXT - 1);

    memcpy(to, from, length);
    to[length] = '\0';
}

static void note(void *context, enum weir_log_level level, const char *component, const char *event,
                 const struct weir_field *fields)
{
    struct noted *noted = context;

    if (strcmp(event, "option is not valid") != 0)
        return;
    CU_ASSERT_EQUAL(level, WEIR_LOG_ERROR);
    copy(noted->component, component);
    for (; fields->key; fields++)
        copy(strcmp(fields->key, "option") == 0 ? noted->option : noted->reason,
             fields->value.string);
}

static int handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    (void)self;
    (void)state;
    (void)message;
    return WEIR_DONE;
}

static const struct weir_behaviour worker = { .name = "worker", .handle = handle };
static const struct weir_behaviour keyed = { .name = "keyed",
                                             .handle = handle,
                                             .flags = WEIR_KEYED };
static const struct weir_behaviour idle = { .name = "idle" };
static const struct weir_behaviour tuned = { .name = "tuned",
                                             .handle = handle,
                                             .settings_size = 8 };

static struct weir_runtime_options options_of(struct noted *noted)
{
    struct weir_runtime_options options = WEIR_RUNTIME_OPTIONS;

    *noted = (struct noted){ .option = "" };
    options.log = note;
    options.log_context = noted;
    return options;
}

static struct weir_runtime *create(struct noted *noted)
{
    struct weir_runtime_options options = options_of(noted);
    struct weir_runtime *runtime = NULL;

    CU_ASSERT_EQUAL_FATAL(weir_runtime_create(&options, &runtime), 0);
    return runtime;
}

static void expect(const struct noted *noted, const char *component, const char *option)
{
    CU_ASSERT_STRING_EQUAL(noted->component, component);
    CU_ASSERT_STRING_EQUAL(noted->option, option);
    CU_ASSERT_TRUE(strlen(noted->reason) > 5);
}

/* --- each option ----------------------------------------------------------------------------- */

static const char *const no_event[] = { "" };
static const struct weir_binding wrong_output = { .when_full = 99 };
static const struct weir_binding output = { 0 };
static char long_path[TEXT];

/* One of an older program, which has nothing behind its first field. */
static const uint64_t short_behaviour;
#define SHORT ((const struct weir_behaviour *)(const void *)&short_behaviour)
#define SIZE .size = sizeof(struct weir_pool_options)
#define BEHAVIOUR_SIZE .behaviour_size = sizeof(struct weir_behaviour)
#define BINDING_SIZE .binding_size = sizeof(struct weir_binding)
#define SIZES SIZE, BEHAVIOUR_SIZE, BINDING_SIZE
#define PATH .path = "pool"
#define POOL SIZES, PATH
#define WORKERS POOL, .behaviour = &worker

/* Each is wrong in one option. */
static const struct {
    const char *option;
    struct weir_pool_options options;
} pools[] = {
    { "path", { SIZES, .behaviour = &worker } },
    { "path", { SIZES, .behaviour = &worker, .path = "" } },
    { "path", { SIZES, .behaviour = &worker, .path = long_path } },
    { "behaviour_size", { SIZE, BINDING_SIZE, PATH, .behaviour = SHORT, .behaviour_size = 8 } },
    { "behaviour_size", { SIZE, BINDING_SIZE, PATH, .manager = SHORT, .behaviour_size = 8 } },
    { "behaviour", { POOL, .behaviour = &idle } },
    { "manager", { WORKERS, .manager = &idle } },
    { "route", { WORKERS, .route = 99 } },
    { "route", { POOL, .route = WEIR_ROUTE_PULL } },
    { "route", { POOL, .behaviour = &keyed } },
    { "remove", { WORKERS, .remove = 99 } },
    { "workers", { WORKERS, .workers = 65537 } },
    { "workers_max", { WORKERS, .workers_max = 65537 } },
    { "workers_min", { WORKERS, .workers_min = 3, .workers_max = 2 } },
    { "workers", { WORKERS, .workers = 3, .workers_max = 2 } },
    { "workers", { WORKERS, .workers_min = 2, .workers_max = 3 } },
    { "subscribe", { WORKERS, .subscribe_count = 1 } },
    { "subscribe", { WORKERS, .subscribe_count = 1, .subscribe = no_event } },
    { "log_level", { WORKERS, .log_level = 99 } },
    { "restart_then", { WORKERS, .restart_then = 99 } },
    { "restart_within_ms", { WORKERS, .restart_within_ms = UINT64_MAX } },
    { "restart_backoff_ms_max", { WORKERS, .restart_backoff_ms_max = UINT64_MAX } },
    { "restart_backoff_ms_min", { WORKERS, .restart_backoff_ms_min = 60000 } },
    { "retry_max", { POOL, .retry_max = 1 } },
    { "retry_max", { WORKERS, .retry_max = 10001 } },
    { "retry_backoff_ms_min", { WORKERS, .retry_backoff_ms_min = 2 } },
    { "retry_backoff_ms_min", { WORKERS, .retry_backoff_ms_max = 2 } },
    { "retry_backoff_ms_max",
      { WORKERS, .retry_backoff_ms_min = 1, .retry_backoff_ms_max = 3600001 } },
    { "retry_for_ms", { WORKERS, .retry_for_ms = 1 } },
    { "retry_for_ms",
      { WORKERS, .retry_backoff_ms_min = 1, .retry_backoff_ms_max = 1,
        .retry_for_ms = UINT64_MAX } },
    { "scale", { WORKERS, .scale = 99 } },
    { "scale", { WORKERS, .scale = WEIR_SCALE_BY_WAIT } },
    { "scale", { POOL, .scale = WEIR_SCALE_BY_WAIT, .workers_max = 2 } },
    { "scale",
      { WORKERS, .scale = WEIR_SCALE_BY_WAIT, .workers_max = 2, .route = WEIR_ROUTE_BROADCAST } },
    { "scale_wait_ms", { WORKERS, .scale_wait_ms = UINT64_MAX } },
    { "scale_idle_ms", { WORKERS, .scale_idle_ms = UINT64_MAX } },
    { "lease", { WORKERS, .lease = 2 } },
    { "lease_timeout_ms", { WORKERS, .lease = 1, .lease_timeout_ms = UINT64_MAX - 1 } },
    { "route", { WORKERS, .lease = 1, .route = WEIR_ROUTE_HASH } },
    { "route", { POOL, .lease = 1, .route = WEIR_ROUTE_HASH } },
    { "limit", { WORKERS, .lease = 1, .limit = WEIR_UNBUFFERED } },
    { "output_count", { WORKERS, .outputs = &output, .output_count = 1025 } },
    { "outputs", { WORKERS, .output_count = 1 } },
    { "binding_size",
      { SIZE, BEHAVIOUR_SIZE, PATH, .behaviour = &worker, .outputs = &output, .output_count = 1,
        .binding_size = 4 } },
    { "outputs[].when_full", { WORKERS, .outputs = &wrong_output, .output_count = 1 } },
    { "settings", { POOL, .behaviour = &tuned } },
    { "manager_settings", { WORKERS, .manager = &tuned } },
    { "size", { .size = 8 } },
};

/* promise E18, promise E24 */
static void test_log_names_the_option_of_a_pool(void)
{
    struct noted noted;
    struct weir_runtime *runtime = create(&noted);

    memset(long_path, 'p', sizeof long_path - 1);
    for (size_t i = 0; i < sizeof pools / sizeof *pools; i++) {
        const struct weir_pool_options *options = &pools[i].options;
        bool has_path = options->size > 8 && options->path;
        weir_pid pid = 7;

        noted = (struct noted){ .option = "" };
        CU_ASSERT_EQUAL(weir_runtime_add_pool(runtime, options, &pid), WEIR_EINVALID);
        CU_ASSERT_EQUAL(pid, 7);
        expect(&noted, has_path ? options->path : "runtime", pools[i].option);
    }
    weir_runtime_destroy(runtime);
}

#define ACTOR_SIZE .size = sizeof(struct weir_actor_options)
#define ACTOR ACTOR_SIZE, BEHAVIOUR_SIZE, BINDING_SIZE

static const struct {
    const char *option;
    struct weir_actor_options options;
} actors[] = {
    { "behaviour", { ACTOR } },
    { "behaviour", { ACTOR, .behaviour = &idle } },
    { "behaviour_size", { ACTOR_SIZE, .behaviour = SHORT, .behaviour_size = 8 } },
    { "name", { ACTOR, .behaviour = &worker, .name = long_path } },
    { "outputs", { ACTOR, .behaviour = &worker, .output_count = 1 } },
    { "settings", { ACTOR, .behaviour = &tuned } },
    { "size", { .size = 8 } },
};

/* promise E18, promise E24 */
static void test_log_names_the_option_of_an_actor(void)
{
    struct noted noted;
    struct weir_runtime *runtime = create(&noted);
    char longer[2 * TEXT] = "";

    memset(longer, 'n', TEXT);
    for (size_t i = 0; i < sizeof actors / sizeof *actors; i++) {
        struct weir_actor_options options = actors[i].options;
        weir_pid pid;

        options.name = options.name ? longer : NULL;
        noted = (struct noted){ .option = "" };
        CU_ASSERT_EQUAL(weir_runtime_add_actor(runtime, &options, &pid), WEIR_EINVALID);
        CU_ASSERT_STRING_EQUAL(noted.option, actors[i].option);
    }
    weir_runtime_destroy(runtime);
}

static int begin_wait(void *context, int descriptor, uint32_t events, uint64_t token)
{
    (void)context;
    (void)descriptor;
    (void)events;
    (void)token;
    return WEIR_EUNSUPPORTED;
}

static void end_wait(void *context, int descriptor, uint64_t token)
{
    (void)context;
    (void)descriptor;
    (void)token;
}

static struct weir_poller poller_of(void)
{
    return (struct weir_poller){ .size = sizeof(struct weir_poller),
                                 .begin = begin_wait,
                                 .end = end_wait };
}

/* promise E18 */
static void test_log_names_the_option_of_a_runtime(void)
{
    static const char *const names[] = { "threads", "threads",      "log_level", "turn_warning_ms",
                                         "poller",  "poller->size", NULL };

    for (uint32_t i = 0; names[i]; i++) {
        struct noted noted;
        struct weir_runtime_options options = options_of(&noted);
        struct weir_poller poller = poller_of();
        struct weir_runtime *runtime = NULL;

        options.poller = &poller;
        options.threads = i == 0 ? 0 : i == 1 ? 1025 : 1;
        options.log_level = i == 2 ? 99 : 0;
        options.turn_warning_ms = i == 3 ? UINT64_MAX : 0;
        poller.begin = i == 4 ? NULL : begin_wait;
        poller.size = i == 5 ? 8 : sizeof poller;
        CU_ASSERT_EQUAL(weir_runtime_create(&options, &runtime), WEIR_EINVALID);
        expect(&noted, "runtime", names[i]);
    }
}

/* promise E18: what an option names is not there. */
static void test_log_names_what_is_not_there(void)
{
    struct weir_pool_options pool = WEIR_POOL_OPTIONS;
    struct weir_actor_options actor = WEIR_ACTOR_OPTIONS;
    struct noted noted;
    struct weir_runtime *runtime = create(&noted);
    weir_pid pid;

    pool.path = "pool";
    pool.behaviour = actor.behaviour = &worker;
    pool.dispatcher = actor.dispatcher = "nowhere";
    CU_ASSERT_EQUAL(weir_runtime_add_pool(runtime, &pool, &pid), WEIR_EUNKNOWN);
    expect(&noted, "pool", "dispatcher");
    CU_ASSERT_EQUAL(weir_runtime_add_actor(runtime, &actor, &pid), WEIR_EUNKNOWN);
    expect(&noted, "runtime", "dispatcher");
    pool.dispatcher = NULL;
    pool.parent = 12345;
    CU_ASSERT_EQUAL(weir_runtime_add_pool(runtime, &pool, &pid), WEIR_EUNKNOWN);
    expect(&noted, "pool", "parent");
    weir_runtime_destroy(runtime);
}

/* promise E18: what is no struct that begins with its size. */
static void test_log_names_what_else_is_not_valid(void)
{
    const struct weir_rate slow = { .messages = 1, .per_ms = UINT64_MAX };
    const struct weir_rate rate = { .messages = 1 };
    struct weir_pool_options options = WEIR_POOL_OPTIONS;
    struct noted noted;
    struct weir_runtime *runtime = create(&noted);
    weir_pid pid, tasks;

    options.path = "pool";
    options.behaviour = &worker;
    CU_ASSERT_EQUAL(weir_runtime_add_pool(runtime, &options, &pid), 0);
    CU_ASSERT_EQUAL(weir_runtime_bind(runtime, pid, &wrong_output, 1), WEIR_EINVALID);
    expect(&noted, "runtime", "outputs[].when_full");
    CU_ASSERT_EQUAL(weir_runtime_set_rate(runtime, pid, 0, &slow), WEIR_EINVALID);
    expect(&noted, "runtime", "rate");
    CU_ASSERT_EQUAL(weir_runtime_set_rate(runtime, pid, 3, &rate), WEIR_EINVALID);
    expect(&noted, "runtime", "output");
    CU_ASSERT_EQUAL(weir_runtime_add_dispatcher(runtime, "", 1, 0), WEIR_EINVALID);
    expect(&noted, "runtime", "name");
    CU_ASSERT_EQUAL(weir_runtime_add_dispatcher(runtime, "more", 0, 0), WEIR_EINVALID);
    expect(&noted, "runtime", "threads");
    CU_ASSERT_EQUAL(weir_runtime_add_task_pool(runtime, &options, &tasks), WEIR_EINVALID);
    expect(&noted, "runtime", "behaviour");
    options.behaviour = NULL;
    options.route = WEIR_ROUTE_HASH;
    CU_ASSERT_EQUAL(weir_runtime_add_task_pool(runtime, &options, &tasks), WEIR_EINVALID);
    expect(&noted, "runtime", "route");
    weir_runtime_destroy(runtime);
}

/* --- reserved -------------------------------------------------------------------------------- */

enum owner { OF_RUNTIME, OF_POLLER, OF_POOL, OF_ACTOR, OF_OUTPUT };

/* Each reserved field of the structs of options. */
static const struct {
    enum owner owner;
    size_t offset;
    const char *option;
} reserved[] = {
    { OF_RUNTIME, offsetof(struct weir_runtime_options, reserved), "reserved" },
    { OF_RUNTIME, offsetof(struct weir_runtime_options, reserved_2), "reserved" },
    { OF_RUNTIME, offsetof(struct weir_runtime_options, reserved_3), "reserved" },
    { OF_POLLER, offsetof(struct weir_poller, reserved), "poller->reserved" },
    { OF_POOL, offsetof(struct weir_pool_options, reserved), "reserved" },
    { OF_POOL, offsetof(struct weir_pool_options, reserved_2), "reserved" },
    { OF_POOL, offsetof(struct weir_pool_options, reserved_3), "reserved" },
    { OF_POOL, offsetof(struct weir_pool_options, reserved_4), "reserved" },
    { OF_ACTOR, offsetof(struct weir_actor_options, reserved), "reserved" },
    { OF_OUTPUT, offsetof(struct weir_binding, reserved), "outputs[].reserved" },
};

struct all_options {
    struct weir_runtime_options runtime;
    struct weir_poller poller;
    struct weir_pool_options pool;
    struct weir_actor_options actor;
    struct weir_binding output;
};

static void set(struct all_options *all, enum owner owner, size_t offset)
{
    char *const structs[] = { (char *)&all->runtime, (char *)&all->poller, (char *)&all->pool,
                              (char *)&all->actor, (char *)&all->output };
    const uint32_t one = 1;

    memcpy(structs[owner] + offset, &one, sizeof one);
}

/* The status of the first call that fails. */
static int use_all(const struct all_options *all)
{
    struct weir_runtime *runtime;
    int status = weir_runtime_create(&all->runtime, &runtime);
    weir_pid pid;

    if (status != 0)
        return status;
    status = weir_runtime_add_pool(runtime, &all->pool, &pid);
    if (status == 0)
        status = weir_runtime_add_actor(runtime, &all->actor, &pid);
    weir_runtime_destroy(runtime);
    return status;
}

/* promise E19 */
static void test_reserved_fields_are_refused(void)
{
    for (size_t i = 0; i <= sizeof reserved / sizeof *reserved; i++) {
        struct noted noted;
        struct all_options all = { .runtime = options_of(&noted),
                                   .poller = poller_of(),
                                   .pool = WEIR_POOL_OPTIONS,
                                   .actor = WEIR_ACTOR_OPTIONS };
        bool is_right = i == sizeof reserved / sizeof *reserved;

        all.runtime.poller = &all.poller;
        all.pool.path = "pool";
        all.pool.behaviour = &worker;
        all.pool.outputs = &all.output;
        all.pool.output_count = 1;
        all.actor.behaviour = &worker;
        if (!is_right)
            set(&all, reserved[i].owner, reserved[i].offset);
        CU_ASSERT_EQUAL(use_all(&all), is_right ? 0 : WEIR_EINVALID);
        CU_ASSERT_STRING_EQUAL(noted.option, is_right ? "" : reserved[i].option);
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "pools", test_log_names_the_option_of_a_pool },
        { "actors", test_log_names_the_option_of_an_actor },
        { "runtimes", test_log_names_the_option_of_a_runtime },
        { "not there", test_log_names_what_is_not_there },
        { "others", test_log_names_what_else_is_not_valid },
        { "reserved", test_reserved_fields_are_refused },
        CU_TEST_INFO_NULL,
    };

    return suite_run("refusals", tests);
}
