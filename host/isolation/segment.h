/* SPDX-License-Identifier: MIT */
/*
 * isolation/segment.h - memory that the host shares with the process of one isolated worker: a ring
 * of records in each direction.
 *
 * A record is a header {size, kind, number} and up to SEGMENT_PIECE bytes, aligned to 16. Each side
 * keeps its own positions in its own memory. It trusts nothing that it reads: a header and the
 * bytes are copied once, and the copy is checked. So a process that writes nonsense gets its end,
 * and harms no one else. The memory is sealed: neither side can change its size.
 *
 * Life: segment_create (host) or segment_map (process), segment_begin .. segment_unmap. One thread
 * on each side.
 */
#ifndef HOST_ISOLATION_SEGMENT_H
#define HOST_ISOLATION_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEGMENT_RING (1u << 20)   /* bytes in each direction; a power of two */
#define SEGMENT_PIECE (64u << 10) /* bytes of one record; a message may have many records */

struct segment;

struct segment_record {
    uint32_t size; /* of the whole record, with this header: a multiple of 16 */
    uint32_t kind; /* not 0, which fills the rest of a ring */
    uint64_t number;
    uint32_t bytes; /* behind this header */
    uint32_t reserved[3];
};

/* The private view of one side. */
struct segment_end {
    struct segment *segment;
    bool is_host;
    uint64_t written;   /* own position of the way out */
    uint64_t read;      /* own position of the way in */
    uint64_t seen_head; /* the other's positions, as they were read last and checked */
    uint64_t seen_tail;
};

/* Returns the descriptor, owned; -1 and errno. */
int segment_create(struct segment **out);
/* The memory of a descriptor that segment_create returned; NULL: none, or of another size. */
struct segment *segment_map(int descriptor);
/* NULL is allowed. */
void segment_unmap(struct segment *segment);
/* Bytes of the whole memory. */
size_t segment_size(void);

void segment_begin(struct segment_end *end, struct segment *segment, bool is_host);

/* Writes a record and publishes it. WEIR_EFULL: no room now. WEIR_EINVALID: the other side's
 * position is nonsense. */
int segment_put(struct segment_end *end, uint32_t kind, uint64_t number, const void *bytes,
                uint32_t size);
/*
 * Copies the next record: its header to `out`, its bytes to `bytes`, which has SEGMENT_PIECE bytes.
 * 1: a record, checked. 0: there is none. WEIR_EINVALID: nonsense.
 */
int segment_get(struct segment_end *end, struct segment_record *out, void *bytes);

/* True: nothing has come and no room was made since, so this side may sleep until the other one
 * rings its bell. `awaits_room`: for room, not for records. */
bool segment_may_sleep(struct segment_end *end, bool awaits_room);
/* After put; or after get, with `has_room`. True: the other side sleeps and waits for that, and the
 * caller rings its bell. */
bool segment_must_ring(struct segment_end *end, bool has_room);

/*
 * Two numbers of messages, which count up. The process says which one it begins: the host reads it
 * when the process has ended, and believes it only about a message that the process has. The host
 * says up to which one the process shall begin none.
 */
void segment_begin_number(struct segment_end *end, uint64_t number);
uint64_t segment_begun(const struct segment_end *end);
void segment_recall(struct segment_end *end, uint64_t number);
uint64_t segment_recalled(const struct segment_end *end);

#endif
