/* SPDX-License-Identifier: MIT */
/*
 * dead/dead_file.h - stores the dead letters of a host in a file: the store of face/dead_store.h.
 *
 * Dead letters wait in a buffer. A thread writes and syncs the whole buffer at once, and reports
 * up to which record the file is safe. So an append never waits for a disk, and many appends share
 * one sync. When the file cannot be written, the thread tries again each second. Meanwhile a dead
 * letter whose record an origin awaits stays in the buffer; other dead letters are not stored once
 * the buffer is full, and are counted as lost. The same holds for one pool alone when its share of
 * the file is used up (dead/dead_shares.h); the buffer of each pool is its own.
 *
 * Life: create, connect, then anything, end, destroy. The store, flush, figures and reopen: any
 * thread; the others: one thread at a time.
 */
#ifndef HOST_DEAD_FILE_H
#define HOST_DEAD_FILE_H

#include "base/report.h"
#include "config/settings.h"
#include "host/dead/dead_output.h"
#include "host/dead/dead_record.h"
#include "weir_core.h"

/* bytes of one pool that wait: some tenths of a second of a usual disk */
#define DEAD_FILE_BUFFER (4u << 20)

struct dead_file;

/* Borrows the sink. `date_us`: microseconds since 1970. WEIR_ENOMEM. */
int dead_file_create(const struct log_sink *sink, uint64_t (*date_us)(void),
                     struct dead_file **out);

/* The store for a runtime that is made next. Borrowed while the file lives. */
struct dead_store dead_file_store(struct dead_file *file);
/* Sets the runtime that is notified when records are stored. */
void dead_file_connect(struct dead_file *file, struct runtime *runtime);

/*
 * Opens the file that the settings name, unless the present file has that path. Logs how much of a
 * damaged end was cut off. `out_output` NULL: there is no file to set. WEIR_EINVALID, with the
 * mistake in `report`; WEIR_ENOMEM.
 */
int dead_file_prepare(struct dead_file *file, const struct settings *settings,
                      struct report *report, struct dead_output **out_output);
/* The settings are in force. Takes the prepared output; NULL: the present file stays, if the
 * settings name one. Records in the buffer go to the new file. */
void dead_file_commit(struct dead_file *file, const struct settings *settings,
                      struct dead_output *output);

/* The file may have been renamed: opens its path again. */
void dead_file_reopen(struct dead_file *file);

/* Waits until all is written that has room in the file. False: not in time, or not all had room. */
bool dead_file_flush(struct dead_file *file, uint32_t timeout_ms);

/* Marks the records of the messages that replays have sent again, also in files that were renamed
 * (dead/dead_marks.h); logs how many it does not find. Reads the files: for a thread that may wait
 * for a disk. */
void dead_file_mark(struct dead_file *file);
/* True when this process wrote the record. */
bool dead_file_id_is_own(const struct dead_file *file, const struct dead_id *id);

/* Writes the buffer, or discards it when the file cannot be written, and stores nothing from then
 * on. Call it before runtime_stop. NULL is allowed; legal twice. */
void dead_file_end(struct dead_file *file);
/* Ends it. NULL is allowed. */
void dead_file_destroy(struct dead_file *file);

struct dead_file_figures {
    char *path;       /* owned by the caller; NULL: no file */
    uint64_t size;    /* bytes */
    uint64_t records; /* in the file */
    uint64_t waiting; /* dead letters that are not stored yet */
    uint64_t lost;    /* not stored: no room */
    int error;        /* an errno of the last try; EFBIG: a share is used up; 0: neither */
};
void dead_file_figures(struct dead_file *file, struct dead_file_figures *out);

#endif
