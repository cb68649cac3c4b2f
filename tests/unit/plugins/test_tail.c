/*
 * Goal:   files.tail sends each line of files that grow once, over rotation and truncation, and its
 *         position stays before the first line that is not settled. Shows promise B15.
 * Method: files that the test writes and renames, followed by the source in the test kit. The test
 *         moves the clock by one look after each change, and settles lines as it likes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weir/testkit.h>

#include "../../../plugins/files/bookmark.h"
#include "../../../plugins/files/files.h"
#include "../host/suite.h"
#include "scratch.h"

extern const struct weir_plugin weir_plugin_v1;

#define POLL_MS 250u

struct fixture {
    struct scratch scratch;
    struct weir_kit *kit;
    size_t seen; /* lines that `expect` has taken */
    char args[1024];
};

static void start(struct fixture *f)
{
    f->kit = weir_kit_create(&weir_plugin_v1, "tail");
    f->seen = 0;
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->kit);
    CU_ASSERT_EQUAL_FATAL(weir_kit_open_args(f->kit, f->args), 0);
}

static void open_with(struct fixture *f, const char *glob, const char *more)
{
    char path[512];

    (void)snprintf(path, sizeof path, "%s", scratch_path(&f->scratch, glob));
    (void)snprintf(f->args, sizeof f->args, "paths: ['%s']\nposition: '%s'\n%s", path,
                   scratch_path(&f->scratch, "position"), more);
    start(f);
}

static void begin(struct fixture *f, const char *glob, const char *more)
{
    scratch_init(&f->scratch);
    open_with(f, glob, more);
}

static void finish(struct fixture *f)
{
    CU_ASSERT_EQUAL(weir_kit_destroy(f->kit), 0);
    scratch_finish(&f->scratch);
}

static void append_to(struct fixture *f, const char *name, const char *text)
{
    FILE *stream = fopen(scratch_path(&f->scratch, name), "ae");

    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    CU_ASSERT_TRUE(fputs(text, stream) >= 0);
    CU_ASSERT_EQUAL(fclose(stream), 0);
}

static void move(struct fixture *f, const char *from, const char *to)
{
    char path[512];

    (void)snprintf(path, sizeof path, "%s", scratch_path(&f->scratch, from));
    CU_ASSERT_EQUAL(rename(path, scratch_path(&f->scratch, to)), 0);
}

static void look(struct fixture *f)
{
    weir_kit_advance(f->kit, POLL_MS);
    CU_ASSERT_EQUAL(weir_kit_produce_all(f->kit, 3), WEIR_WAIT);
}

static const struct files_line *line_at(struct fixture *f, size_t index)
{
    const struct weir_message *message = weir_kit_emitted(f->kit, 0, index);

    return message ? files_line_get(message) : NULL;
}

/* The next lines are these, each with a line end, and no others. */
static void expect(struct fixture *f, const char *text)
{
    char got[4096] = "";
    const struct files_line *line;

    look(f);
    for (; (line = line_at(f, f->seen)); f->seen++)
        (void)snprintf(got + strlen(got), sizeof got - strlen(got), "%s\n", files_line_text(line));
    if (strcmp(got, text) != 0)
        (void)printf("\ngot \"%s\", not \"%s\" ", got, text);
    CU_ASSERT_STRING_EQUAL(got, text);
}

static void settle(struct fixture *f, uint64_t token, enum weir_result result, const char *reason)
{
    struct weir_outcome outcome = {
        .token = token, .result = result, .attempt = 1, .reason = reason, .delay_ms = 100
    };

    CU_ASSERT_EQUAL(weir_kit_tell(f->kit, &outcome), 0);
}

/* Settles the line that was sent as number `index`. */
static void done(struct fixture *f, size_t index)
{
    settle(f, weir_kit_sent(f->kit, index)->token, WEIR_OUTCOME_DONE, NULL);
}

/* kill -9: the source saves nothing, and another one begins. */
static void crash(struct fixture *f)
{
    char *saved = scratch_read(&f->scratch, "position");

    CU_ASSERT_EQUAL(weir_kit_destroy(f->kit), 0);
    if (saved)
        (void)scratch_write(&f->scratch, "position", saved);
    else
        (void)unlink(scratch_path(&f->scratch, "position"));
    free(saved);
    start(f);
}

/* --- growth ----------------------------------------------------------------------------------- */

static void test_lines_come_as_files_grow(void)
{
    struct fixture f;

    begin(&f, "*.log", "");
    expect(&f, "");
    append_to(&f, "a.log", "one\ntwo\n");
    expect(&f, "one\ntwo\n");
    append_to(&f, "a.log", "thr");
    expect(&f, "");
    append_to(&f, "a.log", "ee\r\n\nfive\n");
    expect(&f, "three\n\nfive\n");
    CU_ASSERT_EQUAL(line_at(&f, 4)->number, 5);
    CU_ASSERT_EQUAL(line_at(&f, 4)->offset, 16);
    CU_ASSERT_STRING_EQUAL(files_line_name(line_at(&f, 4)), scratch_path(&f.scratch, "a.log"));
    append_to(&f, "b.log", "other\n");
    expect(&f, "other\n");
    append_to(&f, "a.log", "six\n");
    expect(&f, "six\n");
    CU_ASSERT_EQUAL(weir_kit_emitted(f.kit, 0, 0)->key, weir_kit_emitted(f.kit, 0, 6)->key);
    CU_ASSERT_NOT_EQUAL(weir_kit_emitted(f.kit, 0, 0)->key, weir_kit_emitted(f.kit, 0, 5)->key);
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_inspect(f.kit, NULL), "files=2\nbehind_bytes=0\n"));
    finish(&f);
}

static void test_from_end_is_for_files_of_the_start(void)
{
    struct fixture f;

    scratch_init(&f.scratch);
    append_to(&f, "a.log", "old\nhalf");
    open_with(&f, "*.log", "from: end");
    expect(&f, "");
    append_to(&f, "a.log", " of it\nnew\n");
    append_to(&f, "b.log", "first\n");
    expect(&f, " of it\nnew\nfirst\n");
    finish(&f);
}

static void test_line_that_is_too_long_is_skipped(void)
{
    struct fixture f;
    char *text = malloc(FILES_LINE_MAX + 2);

    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    memset(text, 'x', FILES_LINE_MAX + 1);
    text[FILES_LINE_MAX + 1] = '\0';
    begin(&f, "*.log", "");
    append_to(&f, "a.log", "one\n");
    append_to(&f, "a.log", text);
    expect(&f, "one\n");
    append_to(&f, "a.log", "tail\nthree\n");
    expect(&f, "three\n");
    CU_ASSERT_EQUAL(line_at(&f, 1)->number, 3);
    CU_ASSERT_TRUE(weir_kit_has_logged(f.kit, WEIR_LOG_WARNING, "line too long, skipped"));
    CU_ASSERT_EQUAL(weir_kit_exit_status(f.kit), 1);
    free(text);
    finish(&f);
}

/* --- rotation --------------------------------------------------------------------------------- */

static void test_renamed_file_is_read_to_its_end_before_the_new_one(void)
{
    struct fixture f;

    begin(&f, "a.log", "rotate_wait: 1s");
    append_to(&f, "a.log", "one\n");
    expect(&f, "one\n");
    append_to(&f, "a.log", "two\n");
    move(&f, "a.log", "a.log.1");
    append_to(&f, "a.log", "three\n");
    expect(&f, "two\nthree\n");
    append_to(&f, "a.log.1", "late\n");
    append_to(&f, "a.log", "four\n");
    expect(&f, "late\nfour\n");
    append_to(&f, "a.log.1", "half");
    expect(&f, "");
    for (int i = 0; i < 5; i++)
        look(&f);
    expect(&f, "half\n"); /* it grows no more */
    for (size_t i = 0; i < 7; i++)
        if (weir_kit_emitted(f.kit, 0, i))
            done(&f, i);
    look(&f);
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_inspect(f.kit, NULL), "files=1\n"));
    finish(&f);
}

static void test_renamed_file_that_still_matches_is_read_once(void)
{
    struct fixture f;

    begin(&f, "a.log*", "rotate_wait: 0s");
    append_to(&f, "a.log", "one\n");
    expect(&f, "one\n");
    done(&f, 0);
    for (int i = 0; i < 3; i++) {
        move(&f, "a.log", "a.log.1");
        append_to(&f, "a.log", "next\n");
        expect(&f, "next\n");
        done(&f, (size_t)i + 1);
        expect(&f, "");
    }
    finish(&f);
}

static void test_truncated_file_is_read_from_its_start(void)
{
    struct fixture f;

    begin(&f, "a.log", "");
    append_to(&f, "a.log", "one\ntwo\n");
    expect(&f, "one\ntwo\n");
    (void)scratch_write(&f.scratch, "a.log", "new\n");
    expect(&f, "new\n");
    /* As long as before, or longer. */
    (void)scratch_write(&f.scratch, "a.log", "NEW\n");
    expect(&f, "NEW\n");
    (void)scratch_write(&f.scratch, "a.log", "again, and longer\n");
    expect(&f, "again, and longer\n");
    CU_ASSERT_TRUE(weir_kit_has_logged(f.kit, WEIR_LOG_INFO, "file was truncated"));
    finish(&f);
}

/* --- the position ----------------------------------------------------------------------------- */

static void save(struct fixture *f)
{
    for (int i = 0; i < 5; i++)
        look(f);
}

static void test_position_stays_before_the_first_line_that_is_not_settled(void)
{
    struct fixture f;

    begin(&f, "a.log", "");
    append_to(&f, "a.log", "one\ntwo\nthree\nfour\n");
    expect(&f, "one\ntwo\nthree\nfour\n");
    done(&f, 0);
    done(&f, 2);
    save(&f);
    crash(&f);
    expect(&f, "two\nthree\nfour\n");
    CU_ASSERT_EQUAL(line_at(&f, 0)->number, 2);
    for (size_t i = 0; i < 3; i++)
        done(&f, i);
    save(&f);
    crash(&f);
    expect(&f, "");
    append_to(&f, "a.log", "five\n");
    expect(&f, "five\n");
    CU_ASSERT_EQUAL(line_at(&f, 0)->number, 5);
    finish(&f);
}

static void test_file_that_was_renamed_meanwhile_is_found(void)
{
    struct fixture f;

    begin(&f, "a.log", "");
    append_to(&f, "a.log", "one\ntwo\n");
    expect(&f, "one\ntwo\n");
    done(&f, 0);
    save(&f);
    move(&f, "a.log", "moved");
    append_to(&f, "moved", "three\n");
    append_to(&f, "a.log", "four\n");
    crash(&f);
    expect(&f, "two\nthree\nfour\n");
    finish(&f);
}

static void test_file_that_was_replaced_or_is_gone_is_told(void)
{
    struct fixture f;

    begin(&f, "a.log", "");
    append_to(&f, "a.log", "one\ntwo\n");
    expect(&f, "one\ntwo\n");
    done(&f, 0);
    save(&f);
    (void)scratch_write(&f.scratch, "a.log", "other content, same inode\n");
    crash(&f);
    CU_ASSERT_TRUE(weir_kit_has_logged(f.kit, WEIR_LOG_WARNING, "file of the position is gone"));
    CU_ASSERT_EQUAL(weir_kit_exit_status(f.kit), 1);
    expect(&f, "other content, same inode\n");
    finish(&f);
}

static void test_reload_continues_where_the_source_ended(void)
{
    struct fixture f;
    struct weir_kit *old;
    const void *position;
    size_t size;

    scratch_init(&f.scratch);
    (void)snprintf(f.args, sizeof f.args, "paths: ['%s']", scratch_path(&f.scratch, "a.log"));
    start(&f);
    append_to(&f, "a.log", "one\ntwo\n");
    expect(&f, "one\ntwo\n");
    done(&f, 0);
    done(&f, 1);
    weir_kit_close(f.kit, WEIR_END_REPLACED);
    position = weir_kit_left(f.kit, &size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(position);
    old = f.kit;
    start(&f);
    weir_kit_resume(f.kit, position, size);
    append_to(&f, "a.log", "three\n");
    expect(&f, "three\n");
    weir_kit_resume(f.kit, "nonsense", 8);
    CU_ASSERT_EQUAL(weir_kit_destroy(old), 0);
    finish(&f);
}

static void test_position_that_is_none_refuses_to_open(void)
{
    static const char *const texts[] = { "x", "weir files 1\nx", "weir files 1\n1 2 3 4 5 6 a\n",
                                         "weir files 1\n1 2 3 4 5 99 a\n",
                                         "weir files 1\n1 2 3 999 5 1 a\n" };
    struct fixture f;

    begin(&f, "a.log", "");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        CU_ASSERT_EQUAL(weir_kit_destroy(f.kit), 0);
        (void)scratch_write(&f.scratch, "position", texts[i]);
        f.kit = weir_kit_create(&weir_plugin_v1, "tail");
        CU_ASSERT_EQUAL(weir_kit_open_args(f.kit, f.args), WEIR_EINVALID);
        CU_ASSERT_STRING_EQUAL(weir_kit_reason(f.kit), "the file of the position is none");
    }
    finish(&f);
}

static void test_names_of_any_bytes_are_in_the_position(void)
{
    struct fixture f;

    begin(&f, "a*", "");
    append_to(&f, "a b\nc 1", "one\ntwo\n");
    append_to(&f, "a", "three\n");
    look(&f);
    CU_ASSERT_EQUAL(weir_kit_sent_count(f.kit), 3);
    for (size_t i = 0; i < 3; i++)
        done(&f, i);
    save(&f);
    crash(&f);
    append_to(&f, "a b\nc 1", "four\n");
    expect(&f, "four\n");
    finish(&f);
}

/* --- outcomes and room ------------------------------------------------------------------------ */

static void test_lines_that_were_not_handled_come_again(void)
{
    struct fixture f;

    begin(&f, "a.log", "");
    append_to(&f, "a.log", "one\ntwo\nthree\n");
    expect(&f, "one\ntwo\nthree\n");
    settle(&f, weir_kit_sent(f.kit, 0)->token, WEIR_OUTCOME_RETRY, NULL);
    settle(&f, weir_kit_sent(f.kit, 1)->token, WEIR_OUTCOME_DEAD, "removed");
    settle(&f, weir_kit_sent(f.kit, 2)->token, WEIR_OUTCOME_DEAD, "rejected");
    expect(&f, "one\n");
    CU_ASSERT_EQUAL(weir_kit_emitted(f.kit, 0, 3)->attempt, 2);
    for (int i = 0; i < 3; i++)
        look(&f);
    expect(&f, "two\n");
    finish(&f);
}

static void test_source_waits_for_room_and_for_outcomes(void)
{
    struct fixture f;

    begin(&f, "a.log", "unsettled: 2");
    append_to(&f, "a.log", "one\ntwo\nthree\nfour\n");
    expect(&f, "one\ntwo\n");
    expect(&f, "");
    done(&f, 0);
    expect(&f, "three\n");
    done(&f, 1);
    weir_kit_limit(f.kit, 0, WEIR_EFULL);
    weir_kit_advance(f.kit, POLL_MS);
    CU_ASSERT_EQUAL(weir_kit_produce(f.kit, 3), WEIR_MORE);
    weir_kit_limit(f.kit, UINT32_MAX, 0);
    expect(&f, "four\n");
    finish(&f);
}

static void test_memory_that_is_out_loses_no_line(void)
{
    for (uint32_t nth = 1; nth <= 4; nth++) {
        struct fixture f;

        begin(&f, "a.log", "");
        append_to(&f, "a.log", "one\ntwo\n");
        weir_kit_advance(f.kit, POLL_MS);
        weir_kit_fail_allocation(f.kit, nth);
        CU_ASSERT_TRUE(weir_kit_produce(f.kit, 3) != WEIR_END);
        expect(&f, "one\ntwo\n");
        finish(&f);
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "growth", test_lines_come_as_files_grow },
        { "from: end", test_from_end_is_for_files_of_the_start },
        { "too long", test_line_that_is_too_long_is_skipped },
        { "rotation", test_renamed_file_is_read_to_its_end_before_the_new_one },
        { "rotation within the globs", test_renamed_file_that_still_matches_is_read_once },
        { "truncation", test_truncated_file_is_read_from_its_start },
        { "position", test_position_stays_before_the_first_line_that_is_not_settled },
        { "renamed meanwhile", test_file_that_was_renamed_meanwhile_is_found },
        { "replaced meanwhile", test_file_that_was_replaced_or_is_gone_is_told },
        { "reload", test_reload_continues_where_the_source_ended },
        { "no position", test_position_that_is_none_refuses_to_open },
        { "names of any bytes", test_names_of_any_bytes_are_in_the_position },
        { "lines that come again", test_lines_that_were_not_handled_come_again },
        { "room", test_source_waits_for_room_and_for_outcomes },
        { "memory", test_memory_that_is_out_loses_no_line },
        CU_TEST_INFO_NULL,
    };

    return suite_run("plugin files.tail", tests);
}
