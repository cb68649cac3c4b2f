/* SPDX-License-Identifier: MIT */
/* `weir scale POOL N|auto`: changes the number of workers of a running pool. */
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "base/clock.h"
#include "base/text.h"
#include "config/reader.h"
#include "config/settings.h"
#include "host/command/control_client.h"

#define LETTER_WAIT 'w'
#define LETTER_TIMEOUT 't'
#define SIZE_TEXT_SIZE sizeof "18446744073709551615"
#define WAIT_MS 60000u /* longer than the usual `open_timeout` and `remove.timeout` */
#define CHECK_MS 50    /* between two checks: too short for people to notice */

/* The parsed arguments. */
struct request {
    struct control_client client;
    bool waits;
    uint64_t timeout_ms;
};

static int take_timeout(struct request *request, const char *text)
{
    if (text_parse_duration(text, &request->timeout_ms) == TEXT_OK &&
        request->timeout_ms <= UINT32_MAX)
        return COMMAND_GO_ON;
    return command_usage_error(request->client.invocation,
                               "--timeout is a time such as 500ms or 30s, not %s", text);
}

static int take(void *context, char letter, const char *argument)
{
    struct request *request = context;

    if (letter == LETTER_TIMEOUT)
        return take_timeout(request, argument);
    if (letter != LETTER_WAIT)
        return control_client_take(&request->client, letter, argument);
    request->waits = true;
    return COMMAND_GO_ON;
}

static int scale(const struct control_client *client, const char *pool, const char *size)
{
    char after[sizeof "/scale?size=" + SIZE_TEXT_SIZE];

    (void)snprintf(after, sizeof after, "/scale?size=%s", size);
    return control_client_ask_of(client, true, "/pools/", pool, after);
}

/* --- waiting -------------------------------------------------------------------------------- */

/* Figures of a pool. */
struct width {
    uint64_t target, live, starting, retiring, stopped;
};

static bool read_figure(const struct config_node *root, const char *key, uint64_t *out)
{
    const struct config_node *node = config_find(root, key);

    return node && node->kind == CONFIG_SCALAR && text_parse_u64(node->text, out) == TEXT_OK;
}

/* The answer is JSON, which is YAML, too. */
static bool read_width(const struct answer *answer, struct width *out)
{
    struct config_tree *tree = NULL;
    struct report report;
    bool is_read = false;

    report_init(&report);
    if (config_read_text("answer", answer->text, answer->size, NULL, &report, &tree) == 0) {
        is_read = read_figure(tree->root, "target", &out->target) &&
                  read_figure(tree->root, "live", &out->live) &&
                  read_figure(tree->root, "starting", &out->starting) &&
                  read_figure(tree->root, "retiring", &out->retiring) &&
                  read_figure(tree->root, "stopped", &out->stopped);
        config_tree_destroy(tree);
    }
    report_finish(&report);
    return is_read;
}

static int look(const struct request *request, const char *pool, struct width *out)
{
    struct control_client client = request->client;
    char *target = control_client_target("/pools/", pool, "");
    struct answer answer;
    int code;

    if (!target)
        return EX_SOFTWARE;
    client.json = true;
    code = control_client_fetch(&client, false, target, CONTROL_CLIENT_TIMEOUT_S, &answer);
    if (code == EX_OK && !read_width(&answer, out))
        code = EX_PROTOCOL;
    exchange_finish(&answer);
    free(target);
    return code;
}

/* True when there is nothing to wait for: stopped workers do not open. */
static bool is_over(const struct width *width)
{
    return width->starting <= width->stopped && width->retiring == 0;
}

static bool is_wide(const struct width *width)
{
    return width->live == width->target && width->starting == 0 && width->retiring == 0;
}

static int report_narrow(const struct request *request, const char *pool, const struct width *width,
                         uint64_t waited_ms)
{
    uint64_t opening = width->starting > width->stopped ? width->starting - width->stopped : 0;
    char time[48];

    text_format_duration(waited_ms, time, sizeof time);
    fprintf(request->client.invocation->err,
            "weir scale: after %s %s has %ju of %ju workers open, %ju opening, %ju stopped and "
            "%ju leaving; `weir status --members %s` lists them, and the log has the reason of "
            "each failure\n",
            time, pool, (uintmax_t)width->live, (uintmax_t)width->target, (uintmax_t)opening,
            (uintmax_t)width->stopped, (uintmax_t)width->retiring, pool);
    return EX_TEMPFAIL;
}

static int wait_until_wide(const struct request *request, const char *pool)
{
    struct clock clock = clock_monotonic();
    uint64_t began_ns = clock_now_ns(&clock);
    uint64_t due_ns = clock_after_ms(&clock, request->timeout_ms);
    struct width width;
    int code;

    while ((code = look(request, pool, &width)) == EX_OK && !is_wide(&width)) {
        if (is_over(&width) || clock_now_ns(&clock) >= due_ns)
            return report_narrow(request, pool, &width,
                                 (clock_now_ns(&clock) - began_ns) / 1000000u);
        (void)poll(NULL, 0, CHECK_MS); /* a command gets no wake-up */
    }
    return code;
}

/* --- the command ---------------------------------------------------------------------------- */

/* The size as the host reads it: "auto", or a number without leading zeros. */
static bool read_size(const char *text, char out[SIZE_TEXT_SIZE])
{
    uint64_t size;

    if (strcmp(text, "auto") == 0) {
        (void)snprintf(out, SIZE_TEXT_SIZE, "%s", text);
        return true;
    }
    if (text_parse_u64(text, &size) != TEXT_OK || size > SETTINGS_POOL_SIZE_MAX)
        return false;
    (void)snprintf(out, SIZE_TEXT_SIZE, "%" PRIu64, size);
    return true;
}

static int run(const struct invocation *invocation)
{
    struct request request = { .client = { .invocation = invocation }, .timeout_ms = WAIT_MS };
    int first;
    int code = command_parse(invocation, take, &request, &first);
    char size[SIZE_TEXT_SIZE];
    const char *pool;

    if (code != COMMAND_GO_ON)
        return code;
    if (invocation->argc - first != 2)
        return command_usage_error(invocation, "takes a pool, and a number of workers or auto");
    pool = invocation->argv[first];
    if (!read_size(invocation->argv[first + 1], size))
        return command_usage_error(invocation, "a pool has 0..%u workers, or auto, not %s",
                                   SETTINGS_POOL_SIZE_MAX, invocation->argv[first + 1]);
    code = scale(&request.client, pool, size);
    return code == EX_OK && request.waits ? wait_until_wide(&request, pool) : code;
}

static const struct command_option options[] = {
    CONTROL_CLIENT_OPTIONS,
    { "wait", LETTER_WAIT, NULL, "return when the pool is as wide as its target" },
    { "timeout", LETTER_TIMEOUT, "TIME", "of --wait, such as 30s; default 1m" },
    { NULL, 0, NULL, NULL },
};

const struct command command_scale = {
    .name = "scale",
    .arguments = "POOL N|auto",
    .summary = "set the number of workers of a running pool",
    .details =
        "If `size` of the file is {min, max}, N must be within; if it is one number, the next\n"
        "reload sets that number again. A pool with `scale` in the file keeps the size N: it no\n"
        "longer changes its size by itself until `weir scale POOL auto` or a reload. With --wait\n"
        "the command returns when all workers are open and all workers that leave have ended.\n"
        "Exit code: 0; 65 N is outside the bounds, or the pool has no `scale` for `auto`; 66\n"
        "no such pool; 75 --wait has taken too long;\n" CONTROL_CLIENT_CODES,
    .options = options,
    .run = run,
};
