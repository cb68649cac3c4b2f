/* SPDX-License-Identifier: MIT */
/*
 * Goal: nothing that a process writes into the memory that it shares with the host makes the host
 * read outside of it, or take more than a piece; positions and sizes that cannot be are refused.
 * Method: the input is a list of steps: the process puts a record, words of the memory are
 * rewritten, the host reads or puts. The rest of the input is also unpacked as a call.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weir/status.h>

#include "fuzz.h"
#include "host/isolation/parcel.h"
#include "host/isolation/segment.h"
#include "trial.h"

#define STEP 9u         /* bytes of a step: what, where, value */
#define POSITIONS 1024u /* the words before the rings */

/* Where the value goes: among the positions, or among the first records of a ring. */
static size_t place_of(uint32_t where)
{
    size_t rings = segment_size() - 2 * SEGMENT_RING;
    size_t offset = (where >> 2) % 4096;

    if (where % 4 == 0)
        return offset % (rings < POSITIONS ? rings : POSITIONS);
    return rings + (where % 4 == 1 ? 0 : SEGMENT_RING) + offset;
}

static void read_all(struct segment_end *host, char *piece)
{
    struct segment_record record;
    int got = 1;

    /* A reader that is given nonsense for ever stops with it: each record moves it on. */
    for (int i = 0; got == 1 && i < 1000; i++) {
        uint64_t before = host->read;

        got = segment_get(host, &record, piece);
        if (got != 1)
            continue;
        trial_must(record.bytes <= SEGMENT_PIECE, "more than a piece");
        trial_must(host->read > before && host->read <= host->seen_tail, "outside of the ring");
    }
    trial_must(got == 1 || got == 0 || got == WEIR_EINVALID, "another answer");
}

static void carry_out(const uint8_t *step, struct segment_end *host, struct segment_end *process,
                      char *piece)
{
    uint32_t where, value;
    char *memory = (char *)host->segment;

    memcpy(&where, step + 1, sizeof where);
    memcpy(&value, step + 5, sizeof value);
    switch (step[0] % 4) {
    case 0:
        (void)segment_put(process, value | 1, where, piece, where % 300);
        break;
    case 1:
        memcpy(memory + (place_of(where) & ~(size_t)3), &value, sizeof value);
        break;
    case 2:
        read_all(host, piece);
        break;
    default:
        (void)segment_put(host, 1, where, piece, value % SEGMENT_PIECE);
        (void)segment_must_ring(host, false);
        break;
    }
}

static void unpack(const uint8_t *data, size_t size)
{
    char *bytes = trial_copy(data, size);
    struct unparcel from = unparcel_of(bytes, size);
    size_t count;

    while (!from.wrong && from.at < from.end) {
        (void)unparcel_number(&from);
        (void)strlen(unparcel_text(&from));
        (void)unparcel_bytes(&from, &count);
        trial_must(count <= size, "bytes that are not there");
    }
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *piece = calloc(1, SEGMENT_PIECE);
    struct segment *segment = NULL;
    struct segment_end host, process;
    int descriptor = segment_create(&segment);

    trial_must(piece && descriptor >= 0, "no memory");
    (void)close(descriptor);
    segment_begin(&host, segment, true);
    segment_begin(&process, segment, false);
    for (size_t at = 0; at + STEP <= size; at += STEP)
        carry_out(data + at, &host, &process, piece);
    read_all(&host, piece);
    segment_unmap(segment);
    free(piece);
    unpack(data, size);
    return 0;
}
