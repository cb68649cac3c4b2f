/* SPDX-License-Identifier: MIT */
#include "unit/config/corpus.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "unit/host/workspace.h"

#define CHANGES_MAX 3
#define GROWTH_MAX 4096 /* bytes that the changes may add */

/* --- files ------------------------------------------------------------------------------------ */

void corpus_init(struct corpus *corpus)
{
    glob_t files;

    CU_ASSERT_EQUAL_FATAL(glob("tests/config/good/*.yaml", 0, NULL, &files), 0);
    corpus->good_count = files.gl_pathc;
    CU_ASSERT_EQUAL_FATAL(glob("tests/config/bad/*.yaml", GLOB_APPEND, NULL, &files), 0);
    corpus->count = files.gl_pathc;
    corpus->files = calloc(corpus->count, sizeof *corpus->files);
    CU_ASSERT_PTR_NOT_NULL_FATAL(corpus->files);
    for (size_t i = 0; i < corpus->count; i++) {
        corpus->files[i].name = strdup(files.gl_pathv[i]);
        corpus->files[i].text = workspace_read(files.gl_pathv[i], &corpus->files[i].size);
    }
    globfree(&files);
}

void corpus_finish(struct corpus *corpus)
{
    for (size_t i = 0; i < corpus->count; i++) {
        free(corpus->files[i].name);
        free(corpus->files[i].text);
    }
    free(corpus->files);
}

const char *corpus_variable(void *context, const char *name)
{
    (void)context;
    if (strcmp(name, "SIZE") == 0)
        return "3";
    if (strcmp(name, "MANY") == 0)
        return "many";
    return strcmp(name, "EMPTY") == 0 ? "" : NULL;
}

/* --- changes ---------------------------------------------------------------------------------- */

/* xorshift64*, good enough to choose by. */
static uint64_t draw(uint64_t *random, uint64_t below)
{
    *random ^= *random >> 12;
    *random ^= *random << 25;
    *random ^= *random >> 27;
    return below ? (*random * UINT64_C(2685821657736338717) >> 16) % below : 0;
}

/* Puts `put` in the place of `length` bytes at `at`. */
static void replace(struct mutant *mutant, size_t at, size_t length, const char *put, size_t size)
{
    memmove(mutant->text + at + size, mutant->text + at + length, mutant->size - at - length);
    if (size)
        memcpy(mutant->text + at, put, size);
    mutant->size += size - length;
    mutant->text[mutant->size] = '\0';
}

/* Any line: where it begins; its length with its end. */
static size_t any_line(const char *text, size_t size, uint64_t *random, size_t *out_length)
{
    size_t at = size ? (size_t)draw(random, size) : 0;
    const char *end;

    while (at > 0 && text[at - 1] != '\n')
        at--;
    end = memchr(text + at, '\n', size - at);
    *out_length = end ? (size_t)(end - text) + 1 - at : size - at;
    return at;
}

static void drop_line(struct mutant *mutant, uint64_t *random)
{
    size_t length;
    size_t at = any_line(mutant->text, mutant->size, random, &length);

    replace(mutant, at, length, NULL, 0);
}

/* A line of any file comes before any line. */
static void take_line(struct mutant *mutant, const struct corpus_file *from, uint64_t *random)
{
    size_t length;
    size_t at = any_line(mutant->text, mutant->size, random, &length);
    size_t begin = any_line(from->text, from->size, random, &length);

    if (length <= GROWTH_MAX / CHANGES_MAX)
        replace(mutant, at, 0, from->text + begin, length);
}

static void repeat_line(struct mutant *mutant, uint64_t *random)
{
    size_t length;
    size_t at = any_line(mutant->text, mutant->size, random, &length);
    char line[GROWTH_MAX / CHANGES_MAX];

    if (length > sizeof line)
        return;
    memcpy(line, mutant->text + at, length);
    replace(mutant, at, 0, line, length);
}

static void move_line(struct mutant *mutant, uint64_t *random)
{
    size_t length;
    size_t at = any_line(mutant->text, mutant->size, random, &length);
    char line[GROWTH_MAX / CHANGES_MAX];

    if (length > sizeof line)
        return;
    memcpy(line, mutant->text + at, length);
    replace(mutant, at, length, NULL, 0);
    replace(mutant, any_line(mutant->text, mutant->size, random, &at), 0, line, length);
}

static void indent_line(struct mutant *mutant, uint64_t *random)
{
    size_t length;
    size_t at = any_line(mutant->text, mutant->size, random, &length);
    size_t blanks = 1 + (size_t)draw(random, 4);

    if (draw(random, 2))
        replace(mutant, at, 0, "    ", blanks);
    else if (length > blanks && strspn(mutant->text + at, " ") >= blanks)
        replace(mutant, at, blanks, NULL, 0);
}

/* The next word at or after any place: its length is 0 when there is none. */
static size_t any_word(const struct mutant *mutant, const char *letters, uint64_t *random,
                       size_t *out_length)
{
    size_t at = mutant->size ? (size_t)draw(random, mutant->size) : 0;

    at += strcspn(mutant->text + at, letters);
    *out_length = strspn(mutant->text + at, letters);
    return at;
}

static void change_word(struct mutant *mutant, uint64_t *random)
{
    static const char *const words[] = {
        "use",         "args",        "size",        "min",         "max",           "members",
        "pool",        "pools",       "sources",     "dispatchers", "host",          "to",
        "outputs",     "mailbox",     "route",       "pull",        "hash",          "broadcast",
        "wait",        "reject",      "when_full",   "restart",     "remove",        "manager",
        "subscribe",   "fan_out",     "log",         "level",       "debug",         "threads",
        "auto",        "budget",      "dispatcher",  "default",     "blocking",      "true",
        "no",          "~",           "null",        "sink.null",   "integrity.md5", "thumb.scale",
        "files.lines", "count.words", "door.listen", "door.none",   "${SIZE}",       "${MANY}",
        "${EMPTY}",    "${NONE}",     "10s",         "64KiB",       "1..2",          "x-y",
    };
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz_.";
    const char *word = words[draw(random, sizeof words / sizeof words[0])];
    size_t length;
    size_t at = any_word(mutant, letters, random, &length);

    replace(mutant, at, length, word, strlen(word));
}

static void change_number(struct mutant *mutant, uint64_t *random)
{
    static const char *const numbers[] = {
        "0",
        "1",
        "-1",
        "2",
        "3",
        "7",
        "16",
        "64",
        "65536",
        "65537",
        "100000",
        "4294967296",
        "18446744073709551616",
        "0.5",
        "1e3",
        "0x10",
        "007",
        "1_000",
        "",
    };
    const char *number = numbers[draw(random, sizeof numbers / sizeof numbers[0])];
    size_t length;
    size_t at = any_word(mutant, "0123456789", random, &length);

    replace(mutant, at, length, number, strlen(number));
}

static void change_byte(struct mutant *mutant, uint64_t *random)
{
    static const char signs[] = "{}[]:,#&*|>'\"%@`!? \t\n-\\\x01\x7f\xc3\xff";
    size_t at = mutant->size ? (size_t)draw(random, mutant->size) : 0;
    bool instead = mutant->size && draw(random, 2);

    replace(mutant, at, instead, &signs[draw(random, sizeof signs - 1)], 1);
}

static void change(const struct corpus *corpus, struct mutant *mutant, uint64_t *random)
{
    switch (draw(random, 12)) {
    case 0:
        drop_line(mutant, random);
        break;
    case 1:
        repeat_line(mutant, random);
        break;
    case 2:
        move_line(mutant, random);
        break;
    case 3:
        indent_line(mutant, random);
        break;
    case 4:
    case 5:
        take_line(mutant, &corpus->files[draw(random, corpus->count)], random);
        break;
    case 6:
        change_byte(mutant, random);
        break;
    case 7:
        replace(mutant, mutant->size, 0, NULL, 0);
        mutant->size = (size_t)draw(random, mutant->size + 1);
        mutant->text[mutant->size] = '\0';
        break;
    case 8:
    case 9:
        change_number(mutant, random);
        break;
    default:
        change_word(mutant, random);
        break;
    }
}

void mutant_make(const struct corpus *corpus, uint64_t *random, struct mutant *out)
{
    const struct corpus_file *file;

    if (*random == 0)
        *random = 1; /* the one state that it cannot leave */
    /* Most changes make a file wrong, so half of the mutants come from good files. */
    file = &corpus->files[draw(random, draw(random, 2) ? corpus->count : corpus->good_count)];
    *out = (struct mutant){ file->name, malloc(file->size + GROWTH_MAX + 1), file->size };
    CU_ASSERT_PTR_NOT_NULL_FATAL(out->text);
    memcpy(out->text, file->text, file->size + 1);
    for (uint64_t i = 1 + draw(random, CHANGES_MAX); i > 0; i--)
        change(corpus, out, random);
}

void mutant_finish(struct mutant *mutant)
{
    free(mutant->text);
}
