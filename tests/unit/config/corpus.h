/* SPDX-License-Identifier: MIT */
/*
 * corpus.h - the files of tests/config, read into memory, and mutants of them.
 *
 * A mutant is a file with one to three small changes: lines that are removed, doubled, copied from
 * another file, swapped or indented otherwise; changed words and numbers; wrong bytes; an early
 * end. Equal seeds make equal mutants.
 */
#ifndef TESTS_UNIT_CONFIG_CORPUS_H
#define TESTS_UNIT_CONFIG_CORPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct corpus_file {
    char *name;
    char *text; /* owned */
    size_t size;
};

struct corpus {
    size_t count;
    size_t good_count;         /* the first ones */
    struct corpus_file *files; /* owned */
};

/* Reads tests/config/good and tests/config/bad, which must exist. */
void corpus_init(struct corpus *corpus);
void corpus_finish(struct corpus *corpus);

struct mutant {
    const char *name; /* of the file that it was; borrowed from the corpus */
    char *text;       /* owned */
    size_t size;
};

/* Makes a mutant; `random` is the state of the generator. */
void mutant_make(const struct corpus *corpus, uint64_t *random, struct mutant *out);
void mutant_finish(struct mutant *mutant);

/* The environment of all files: ${SIZE}, ${MANY}, ${EMPTY}; for config_source. */
const char *corpus_variable(void *context, const char *name);

#endif
