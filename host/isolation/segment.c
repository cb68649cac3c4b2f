/* SPDX-License-Identifier: MIT */
#include "host/isolation/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weir/status.h>

#define FILL 0u /* the kind of the record that fills the rest of a ring */
#define ALIGNMENT 16u

/* What a side sleeps for. */
enum waits {
    AWAKE,
    FOR_RECORDS,
    FOR_ROOM,
};

/* One direction. The positions only grow. */
struct way {
    alignas(64) _Atomic uint64_t tail; /* written by the writer */
    alignas(64) _Atomic uint64_t head; /* written by the reader */
};

struct segment {
    struct way down;
    struct way up;
    /* enum waits. Set by a side that is about to sleep, cleared by the one that rings its bell. */
    alignas(64) _Atomic uint32_t host_sleeps;
    alignas(64) _Atomic uint32_t process_sleeps;
    alignas(64) _Atomic uint64_t begun;    /* written by the process */
    alignas(64) _Atomic uint64_t recalled; /* written by the host */
    alignas(64) unsigned char down_bytes[SEGMENT_RING];
    unsigned char up_bytes[SEGMENT_RING];
};

size_t segment_size(void)
{
    return sizeof(struct segment);
}

static struct segment *map(int descriptor)
{
    void *mapped = mmap(NULL, sizeof(struct segment), PROT_READ | PROT_WRITE, MAP_SHARED,
                        descriptor, 0);

    return mapped == MAP_FAILED ? NULL : mapped;
}

static int give_up(int descriptor)
{
    int error = errno;

    (void)close(descriptor);
    errno = error;
    return -1;
}

int segment_create(struct segment **out)
{
    int descriptor = memfd_create("weir worker", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (descriptor < 0)
        return -1;
    if (ftruncate(descriptor, sizeof(struct segment)) != 0 ||
        fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        return give_up(descriptor);
    *out = map(descriptor);
    return *out ? descriptor : give_up(descriptor);
}

struct segment *segment_map(int descriptor)
{
    struct stat status;

    if (fstat(descriptor, &status) != 0 || (uint64_t)status.st_size != sizeof(struct segment))
        return NULL;
    return map(descriptor);
}

void segment_unmap(struct segment *segment)
{
    if (segment)
        (void)munmap(segment, sizeof *segment);
}

void segment_begin(struct segment_end *end, struct segment *segment, bool is_host)
{
    *end = (struct segment_end){ .segment = segment, .is_host = is_host };
}

static struct way *way_out(const struct segment_end *end)
{
    return end->is_host ? &end->segment->down : &end->segment->up;
}

static struct way *way_in(const struct segment_end *end)
{
    return end->is_host ? &end->segment->up : &end->segment->down;
}

static unsigned char *bytes_out(const struct segment_end *end)
{
    return end->is_host ? end->segment->down_bytes : end->segment->up_bytes;
}

static const unsigned char *bytes_in(const struct segment_end *end)
{
    return end->is_host ? end->segment->up_bytes : end->segment->down_bytes;
}

/* False: the other side says that it has read what was never written. */
static bool look_at_head(struct segment_end *end)
{
    /* [S1] pairs with the store of head in segment_get: the bytes before it are not read again.
     * Sequentially consistent: see segment_may_sleep. */
    uint64_t head = atomic_load(&way_out(end)->head);

    if (head < end->seen_head || head > end->written)
        return false;
    end->seen_head = head;
    return true;
}

/* The bytes to skip before a record of `size`, so that it does not go around the end of the ring.
 */
static uint32_t fill_before(uint64_t position, uint32_t size)
{
    uint32_t rest = SEGMENT_RING - (uint32_t)(position & (SEGMENT_RING - 1));

    return rest < size ? rest : 0;
}

static void write_record(struct segment_end *end, const struct segment_record *record,
                         const void *bytes)
{
    unsigned char *at = bytes_out(end) + (end->written & (SEGMENT_RING - 1));
    size_t header = record->kind == FILL ? ALIGNMENT : sizeof *record;

    memcpy(at, record, header);
    if (record->bytes)
        memcpy(at + header, bytes, record->bytes);
    end->written += record->size;
}

int segment_put(struct segment_end *end, uint32_t kind, uint64_t number, const void *bytes,
                uint32_t size)
{
    uint32_t whole = ((uint32_t)sizeof(struct segment_record) + size + ALIGNMENT - 1) &
                     ~(ALIGNMENT - 1);
    uint32_t fill = fill_before(end->written, whole);

    if (end->written + fill + whole - end->seen_head > SEGMENT_RING && !look_at_head(end))
        return WEIR_EINVALID;
    if (end->written + fill + whole - end->seen_head > SEGMENT_RING)
        return WEIR_EFULL;
    if (fill)
        write_record(end, &(struct segment_record){ .size = fill, .kind = FILL }, NULL);
    write_record(
        end,
        &(struct segment_record){ .size = whole, .kind = kind, .number = number, .bytes = size },
        bytes);
    /* [S2] pairs with the load of tail in look_at_tail. */
    atomic_store(&way_out(end)->tail, end->written);
    return WEIR_OK;
}

static bool look_at_tail(struct segment_end *end)
{
    /* [S2] pairs with the store in segment_put: the record is there. */
    uint64_t tail = atomic_load(&way_in(end)->tail);

    if (tail < end->seen_tail || tail - end->read > SEGMENT_RING || tail % ALIGNMENT)
        return false;
    end->seen_tail = tail;
    return true;
}

/* The header at the own position, copied once and checked. */
static bool read_header(struct segment_end *end, struct segment_record *out)
{
    uint32_t offset = (uint32_t)(end->read & (SEGMENT_RING - 1));
    uint32_t rest = SEGMENT_RING - offset;
    uint64_t there = end->seen_tail - end->read;

    *out = (struct segment_record){ 0 };
    memcpy(out, bytes_in(end) + offset, ALIGNMENT);
    /* The compiler must not read the memory a second time: it may have changed. */
    atomic_signal_fence(memory_order_seq_cst);
    if (out->size < ALIGNMENT || out->size % ALIGNMENT || out->size > rest || out->size > there)
        return false;
    if (out->kind == FILL)
        return out->size == rest;
    if (out->size < sizeof *out)
        return false;
    memcpy(&out->bytes, bytes_in(end) + offset + offsetof(struct segment_record, bytes),
           sizeof out->bytes);
    atomic_signal_fence(memory_order_seq_cst);
    return out->bytes <= SEGMENT_PIECE && out->bytes <= out->size - sizeof *out;
}

static void release(struct segment_end *end, uint32_t size)
{
    end->read += size;
    /* [S1] pairs with the load in look_at_head. */
    atomic_store(&way_in(end)->head, end->read);
}

int segment_get(struct segment_end *end, struct segment_record *out, void *bytes)
{
    for (;;) {
        if (end->read == end->seen_tail && !look_at_tail(end))
            return WEIR_EINVALID;
        if (end->read == end->seen_tail)
            return 0;
        if (!read_header(end, out))
            return WEIR_EINVALID;
        if (out->kind != FILL) {
            memcpy(bytes, bytes_in(end) + (end->read & (SEGMENT_RING - 1)) + sizeof *out,
                   out->bytes);
            release(end, out->size);
            return 1;
        }
        release(end, out->size);
    }
}

static _Atomic uint32_t *sleeps(const struct segment_end *end, bool other)
{
    return end->is_host != other ? &end->segment->host_sleeps : &end->segment->process_sleeps;
}

/*
 * Sequentially consistent, with the stores of tail and head and the exchange of segment_must_ring:
 * either this side sees the new position, or the other one sees that this side sleeps.
 */
bool segment_may_sleep(struct segment_end *end, bool awaits_room)
{
    atomic_store(sleeps(end, false), awaits_room ? FOR_ROOM : FOR_RECORDS);
    if (awaits_room ? atomic_load(&way_out(end)->head) == end->seen_head
                    : atomic_load(&way_in(end)->tail) == end->read)
        return true;
    atomic_store(sleeps(end, false), AWAKE);
    return false;
}

bool segment_must_ring(struct segment_end *end, bool has_room)
{
    uint32_t waits = atomic_load(sleeps(end, true));

    if (waits == AWAKE || (has_room && waits == FOR_RECORDS))
        return false;
    return atomic_exchange(sleeps(end, true), AWAKE) != AWAKE;
}

/* Relaxed, all four: the host reads `begun` when the process has ended, and a process that sees a
 * recall late begins one message more. */
void segment_begin_number(struct segment_end *end, uint64_t number)
{
    atomic_store_explicit(&end->segment->begun, number, memory_order_relaxed);
}

uint64_t segment_begun(const struct segment_end *end)
{
    return atomic_load_explicit(&end->segment->begun, memory_order_relaxed);
}

void segment_recall(struct segment_end *end, uint64_t number)
{
    atomic_store_explicit(&end->segment->recalled, number, memory_order_relaxed);
}

uint64_t segment_recalled(const struct segment_end *end)
{
    return atomic_load_explicit(&end->segment->recalled, memory_order_relaxed);
}
