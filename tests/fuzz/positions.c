/* SPDX-License-Identifier: MIT */
/*
 * Goal:   no bytes in a file of a position harm a source: they are a position, which is saved and
 *         loaded again as the same, or they are refused with a reason.
 * Method: the input as the file of weir/settling.h, as the bookmark of files.tail, and as the
 *         position of files.lines.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weir/plugin.h>
#include <weir/settling.h>

#include "fuzz.h"
#include "plugins/files/bookmark.h"
#include "plugins/files/position.h"
#include "trial.h"

/* --- a place ---------------------------------------------------------------------------------- */

#define LAST "18446744073709551615" /* of 64 bits */
#define LAST_SIZE (sizeof LAST - 1)

/* A file of one number and a line end, as weir_settling_save writes it, and nothing else. */
static bool is_a_place(const uint8_t *data, size_t size)
{
    size_t digits = size - 1;

    if (size < 2 || data[digits] != '\n' || (data[0] == '0' && digits > 1))
        return false;
    for (size_t i = 0; i < digits; i++)
        if (data[i] < '0' || data[i] > '9')
            return false;
    return digits < LAST_SIZE || (digits == LAST_SIZE && memcmp(data, LAST, LAST_SIZE) <= 0);
}

static void load_a_place(const uint8_t *data, size_t size)
{
    uint64_t place = 1, again = 2;
    int error;

    trial_write(data, size);
    error = weir_settling_load(trial_path(), &place);
    trial_must(error == 0 || (error == EINVAL && place == 0), "a refusal without its reason");
    trial_must((error == 0) == is_a_place(data, size), "what is a place is not clear");
    if (error != 0)
        return;
    trial_must(weir_settling_save(trial_path(), place) == 0 &&
                   weir_settling_load(trial_path(), &again) == 0 && again == place,
               "a place has changed");
}

/* --- a bookmark ------------------------------------------------------------------------------- */

static bool is_same_text(const char *left, const char *right)
{
    return left && right ? strcmp(left, right) == 0 : left == right;
}

static void compare(const struct bookmark_entry *left, const struct bookmark_entry *right)
{
    trial_must(is_same_text(left->path, right->path) && is_same_text(left->folder, right->folder),
               "a name has changed");
    trial_must(left->device == right->device && left->inode == right->inode &&
                   left->offset == right->offset && left->number == right->number &&
                   left->size == right->size && left->print.end == right->print.end &&
                   left->print.size == right->print.size && left->print.hash == right->print.hash,
               "a number has changed");
}

/* Reads all entries and adds them to another one. Returns the last answer. */
static int copy(const struct bookmark *from, struct bookmark *to, uint64_t *out_count)
{
    struct bookmark_entry entry;
    size_t place = 0, before = 0;
    int more;

    *out_count = 0;
    while ((more = bookmark_next(from, &place, &entry)) > 0) {
        trial_must(place > before && place <= from->size, "an entry outside its bookmark");
        trial_must(entry.path && entry.path[0], "an entry without a name");
        before = place;
        trial_must(bookmark_add(to, &entry) == 0, "an entry cannot be added");
        bookmark_entry_finish(&entry);
        ++*out_count;
    }
    trial_must(more == 0 || more == WEIR_EINVALID, "neither read nor refused");
    return more;
}

static void compare_all(const struct bookmark *left, const struct bookmark *right, uint64_t count)
{
    struct bookmark_entry one, other;
    size_t left_place = 0, right_place = 0;

    for (uint64_t i = 0; i < count; i++) {
        trial_must(bookmark_next(left, &left_place, &one) == 1 &&
                       bookmark_next(right, &right_place, &other) == 1,
                   "an entry is missing");
        compare(&one, &other);
        bookmark_entry_finish(&one);
        bookmark_entry_finish(&other);
    }
    trial_must(bookmark_next(right, &right_place, &other) == 0, "an entry too many");
}

static void load_a_bookmark(const uint8_t *data, size_t size)
{
    struct bookmark given = { .text = NULL }, written = { .text = NULL }, again = { .text = NULL };
    uint64_t count;
    int error;

    trial_write(data, size);
    error = bookmark_load(&given, trial_path());
    trial_must(error == (size == 0 ? ENODATA : 0), "a file of any bytes cannot be read");
    if (error == 0 && bookmark_begin(&written) == 0) {
        /* Format 2 has no size: the one that says so is written, of 20 digits. */
        if (copy(&given, &written, &count) == 0 && count > 0 && data[11] != '1')
            trial_must(written.size <= given.size + (data[11] == '2' ? 21 * count : 0),
                       "a number was read that is not there");
        compare_all(&given, &written, count);
        trial_must(bookmark_save(&written, trial_path()) == 0 &&
                       bookmark_load(&again, trial_path()) == 0 && again.size == written.size &&
                       memcmp(again.text, written.text, again.size) == 0,
                   "a bookmark has changed");
    }
    bookmark_finish(&given);
    bookmark_finish(&written);
    bookmark_finish(&again);
}

/* --- the position of files.lines -------------------------------------------------------------- */

#define PATHS 3u

static void unpack(const uint8_t *data, size_t size)
{
    char *const paths[PATHS] = { "/a", "/b/c", "/logs/today" };
    bool done[PATHS] = { false }, again_done[PATHS] = { false };
    struct position_here here, again;
    char *given = trial_copy(data, size), *names[PATHS];
    size_t packed_size = 0, count = 0;
    void *packed;

    if (position_unpack(given, size, &here)) {
        trial_must(position_mark(given, size, paths, PATHS, done) == 0, "memory is out");
        for (size_t i = 0; i < PATHS; i++)
            if (done[i])
                names[count++] = paths[i];
        packed = position_pack(&here, names, count, &packed_size);
        trial_must(packed && position_unpack(packed, packed_size, &again) &&
                       position_mark(packed, packed_size, paths, PATHS, again_done) == 0,
                   "a position that was packed is none");
        trial_must(is_same_text(here.path, again.path) && here.offset == again.offset &&
                       here.number == again.number && memcmp(done, again_done, sizeof done) == 0,
                   "a position has changed");
        free(packed);
    }
    free(given);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    load_a_place(data, size);
    load_a_bookmark(data, size);
    unpack(data, size);
    return 0;
}
