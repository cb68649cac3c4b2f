/* SPDX-License-Identifier: MIT */
/*
 * tail_fixture.h - files.tail in the test kit, and files that a test writes and renames.
 *
 * Life: fixture_begin, or scratch_init and fixture_start, .. fixture_finish. Every failure here
 * fails the test.
 */
#ifndef TAIL_FIXTURE_H
#define TAIL_FIXTURE_H

#include <weir/plugin.h>

#include "../../../plugins/files/files.h"
#include "scratch.h"

struct weir_kit;

extern const struct weir_plugin weir_plugin_v1;

#define POLL_MS 250u

struct fixture {
    struct scratch scratch;
    struct weir_kit *kit;
    size_t seen;     /* lines that fixture_expect has taken */
    char args[1024]; /* YAML */
};

/* Opens the source with `args`. */
void fixture_start(struct fixture *f);
/* Opens it for a glob below the scratch directory, with a position file and `more` options. */
void fixture_open_with(struct fixture *f, const char *glob, const char *more);
/* Likewise, after scratch_init. */
void fixture_begin(struct fixture *f, const char *glob, const char *more);
void fixture_finish(struct fixture *f);
void fixture_append_to(struct fixture *f, const char *name, const char *text);
void fixture_move(struct fixture *f, const char *from, const char *to);
/* Moves the clock to the next check of the files. */
void fixture_look(struct fixture *f);
/* The line that was sent as number `index`; NULL = none. Borrowed. */
const struct files_line *fixture_line_at(struct fixture *f, size_t index);
/* The next lines are these, each with a line end, and no others. */
void fixture_expect(struct fixture *f, const char *text);
void fixture_settle(struct fixture *f, uint64_t token, enum weir_result result, const char *reason);
/* Settles the line that was sent as number `index`. */
void fixture_done(struct fixture *f, size_t index);
/* kill -9: the source saves nothing, and another one begins. */
void fixture_crash(struct fixture *f);
/* The source ends in order, and another one begins. */
void fixture_restart(struct fixture *f);

#endif
