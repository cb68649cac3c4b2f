/* SPDX-License-Identifier: MIT */
#include "tail_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weir/testkit.h>

#include "../host/suite.h"

void fixture_start(struct fixture *f)
{
    f->kit = weir_kit_create(&weir_plugin_v1, "tail");
    f->seen = 0;
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->kit);
    CU_ASSERT_EQUAL_FATAL(weir_kit_open_args(f->kit, f->args), 0);
}

void fixture_open_with(struct fixture *f, const char *glob, const char *more)
{
    char path[512];

    (void)snprintf(path, sizeof path, "%s", scratch_path(&f->scratch, glob));
    (void)snprintf(f->args, sizeof f->args, "paths: ['%s']\nposition: '%s'\n%s", path,
                   scratch_path(&f->scratch, "position"), more);
    fixture_start(f);
}

void fixture_begin(struct fixture *f, const char *glob, const char *more)
{
    scratch_init(&f->scratch);
    fixture_open_with(f, glob, more);
}

void fixture_finish(struct fixture *f)
{
    CU_ASSERT_EQUAL(weir_kit_destroy(f->kit), 0);
    scratch_finish(&f->scratch);
}

void fixture_append_to(struct fixture *f, const char *name, const char *text)
{
    FILE *stream = fopen(scratch_path(&f->scratch, name), "ae");

    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    CU_ASSERT_TRUE(fputs(text, stream) >= 0);
    CU_ASSERT_EQUAL(fclose(stream), 0);
}

void fixture_move(struct fixture *f, const char *from, const char *to)
{
    char path[512];

    (void)snprintf(path, sizeof path, "%s", scratch_path(&f->scratch, from));
    CU_ASSERT_EQUAL(rename(path, scratch_path(&f->scratch, to)), 0);
}

void fixture_look(struct fixture *f)
{
    weir_kit_advance(f->kit, POLL_MS);
    CU_ASSERT_EQUAL(weir_kit_produce_all(f->kit, 3), WEIR_WAIT);
}

const struct files_line *fixture_line_at(struct fixture *f, size_t index)
{
    const struct weir_message *message = weir_kit_emitted(f->kit, 0, index);

    return message ? files_line_get(message) : NULL;
}

void fixture_expect(struct fixture *f, const char *text)
{
    char got[4096] = "";
    const struct files_line *line;

    fixture_look(f);
    for (; (line = fixture_line_at(f, f->seen)); f->seen++)
        (void)snprintf(got + strlen(got), sizeof got - strlen(got), "%s\n", files_line_text(line));
    if (strcmp(got, text) != 0)
        (void)printf("\ngot \"%s\", not \"%s\" ", got, text);
    CU_ASSERT_STRING_EQUAL(got, text);
}

void fixture_settle(struct fixture *f, uint64_t token, enum weir_result result, const char *reason)
{
    struct weir_outcome outcome = {
        .token = token, .result = result, .attempt = 1, .reason = reason, .delay_ms = 100
    };

    CU_ASSERT_EQUAL(weir_kit_tell(f->kit, &outcome), 0);
}

void fixture_done(struct fixture *f, size_t index)
{
    fixture_settle(f, weir_kit_sent(f->kit, index)->token, WEIR_OUTCOME_DONE, NULL);
}

void fixture_crash(struct fixture *f)
{
    char *saved = scratch_read(&f->scratch, "position");

    CU_ASSERT_EQUAL(weir_kit_destroy(f->kit), 0);
    if (saved)
        (void)scratch_write(&f->scratch, "position", saved);
    else
        (void)unlink(scratch_path(&f->scratch, "position"));
    free(saved);
    fixture_start(f);
}

void fixture_restart(struct fixture *f)
{
    CU_ASSERT_EQUAL(weir_kit_destroy(f->kit), 0);
    fixture_start(f);
}
