/* SPDX-License-Identifier: MIT */
#include "host/run/ending.h"

#include <inttypes.h>
#include <stdio.h>
#include <sysexits.h>

#include "base/plural.h"

#define TEXT_SIZE 512

void ending_look(struct ending *ending, struct assembly *assembly)
{
    struct accounts_totals totals;
    struct runtime_figures figures;

    accounts_totals(assembly, &totals);
    runtime_figures(assembly->runtime, &figures);
    ending->has_escalated = figures.escalated;
    ending->is_finite = totals.sources > 0 && totals.endless_sources == 0;
    ending->asked = figures.exit_status;
    accounts_log_ledger(assembly, &ending->accounts);
}

int ending_exit_code(const struct ending *ending)
{
    if (ending->has_escalated)
        return EX_SOFTWARE;
    if (!ending->is_complete)
        return EX_TEMPFAIL;
    if (ending->lost_bytes)
        return EX_IOERR;
    if (ending->asked != EX_OK)
        return ending->asked;
    if (!ending->accounts.is_balanced)
        return EX_SOFTWARE;
    if (ending->is_finite && !ending->allows_dead && dead_letters_total(&ending->accounts.dead))
        return EX_DATAERR;
    return EX_OK;
}

static void print_dead(FILE *stream, const struct dead_letters_figures *dead)
{
    const char *before = " (";
    uint64_t total = dead_letters_total(dead);

    fprintf(stream, "%" PRIu64 " %s dead", total, plural(total, "message is", "messages are"));
    for (int reason = 0; reason < DEAD_REASONS; reason++) {
        if (!dead->counts[reason])
            continue;
        fprintf(stream, "%s%" PRIu64 " %s", before, dead->counts[reason],
                dead_reason_name((enum dead_reason)reason));
        before = ", ";
    }
    fputc(')', stream);
}

/* "3 messages are dead (2 rejected, 1 crashed); workers failed 2 times"; "" when all went well. */
static void describe(const struct ending *ending, char text[TEXT_SIZE])
{
    const struct accounts_result *accounts = &ending->accounts;
    FILE *stream = fmemopen(text, TEXT_SIZE, "w");
    const char *before = "";

    text[0] = '\0';
    if (!stream)
        return;
    if (dead_letters_total(&accounts->dead)) {
        print_dead(stream, &accounts->dead);
        before = "; ";
    }
    if (accounts->restarts) {
        fprintf(stream, "%sworkers failed %" PRIu64 " %s", before, accounts->restarts,
                plural(accounts->restarts, "time", "times"));
        before = "; ";
    }
    if (ending->asked != EX_OK) {
        fprintf(stream, "%sexit code %d was asked for (see the warnings)", before, ending->asked);
        before = "; ";
    }
    if (ending->lost_bytes) {
        fprintf(stream, "%s%" PRIu64 " printed %s lost", before, ending->lost_bytes,
                plural(ending->lost_bytes, "byte was", "bytes were"));
        before = "; ";
    }
    if (!accounts->is_balanced)
        fprintf(stream, "%sthe ledger does not balance", before);
    (void)fclose(stream);
}

void ending_log(const struct ending *ending, const struct log_sink *sink, int exit_code)
{
    char text[TEXT_SIZE];

    describe(ending, text);
    if (ending->lost_bytes)
        log_answer(sink, WEIR_LOG_ERROR, "host", "printed text was lost",
                   weir_uint("bytes", ending->lost_bytes),
                   weir_str("reason", "standard output could not be written"));
    if (text[0])
        log_answer(sink, WEIR_LOG_WARNING, "host", "ended", weir_int("exit", exit_code),
                   weir_str("but", text));
    else
        log_answer(sink, WEIR_LOG_INFO, "host", "ended", weir_int("exit", exit_code));
}
