/* SPDX-License-Identifier: MIT */
#include "lost_writes.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../support/wait_limit.h"

#define FOUND_BY_LIBRARIES __attribute__((visibility("default")))

FOUND_BY_LIBRARIES int fdatasync(int descriptor);
FOUND_BY_LIBRARIES int fsync(int descriptor);
FOUND_BY_LIBRARIES ssize_t pwrite64(int descriptor, const void *data, size_t size, off_t at);
FOUND_BY_LIBRARIES int ftruncate64(int descriptor, off_t size);

#define BLOCK 4096u
#define BLOCKS 16384u /* of a file: 64 MiB */
/* Two queues, each with its WAL, journal, lock and shared memory, and some that were replaced. */
#define FILES 16u

struct file {
    dev_t device;
    ino_t inode;
    size_t size; /* on the disk */
    size_t used; /* from there on all bytes are 0 */
    bool is_dirty[BLOCKS];
    char bytes[BLOCKS * BLOCK];
};

struct disk {
    pthread_mutex_t lock;
    struct file files[FILES];
    uint32_t count;
    pthread_cond_t wake;
    bool is_to_hold, is_holding;
    uint32_t syncs, fail_from, fail_count, failed;
};

static struct disk *locked(void)
{
    static struct disk disk = { .lock = PTHREAD_MUTEX_INITIALIZER,
                                .wake = PTHREAD_COND_INITIALIZER };

    (void)pthread_mutex_lock(&disk.lock);
    return &disk;
}

static void unlock(struct disk *disk)
{
    (void)pthread_mutex_unlock(&disk->lock);
}

static struct file *find(struct disk *disk, const struct stat *about)
{
    for (uint32_t i = 0; i < disk->count; i++)
        if (disk->files[i].device == about->st_dev && disk->files[i].inode == about->st_ino)
            return &disk->files[i];
    return NULL;
}

/* NULL: no plain file. */
static struct file *file_of(struct disk *disk, int descriptor)
{
    struct stat about;
    struct file *file;

    if (fstat(descriptor, &about) < 0 || !S_ISREG(about.st_mode))
        return NULL;
    file = find(disk, &about);
    if (file)
        return file;
    assert(disk->count < FILES);
    file = &disk->files[disk->count++];
    memset(file->is_dirty, 0, sizeof file->is_dirty);
    memset(file->bytes, 0, file->used);
    file->size = file->used = 0;
    file->device = about.st_dev;
    file->inode = about.st_ino;
    return file;
}

/* --- the calls of SQLite ---------------------------------------------------------------------- */

ssize_t pwrite64(int descriptor, const void *data, size_t size, off_t at)
{
    ssize_t written = syscall(SYS_pwrite64, descriptor, data, size, at);
    struct disk *disk = locked();
    struct file *file = written > 0 ? file_of(disk, descriptor) : NULL;

    if (file) {
        assert((size_t)at + (size_t)written <= sizeof file->bytes);
        for (size_t i = (size_t)at / BLOCK; i * BLOCK < (size_t)at + (size_t)written; i++)
            file->is_dirty[i] = true;
    }
    unlock(disk);
    return written;
}

/* The worst case: at once, before all that was written before. */
int ftruncate64(int descriptor, off_t size)
{
    int status = (int)syscall(SYS_ftruncate, descriptor, size);
    struct disk *disk = locked();
    struct file *file = status == 0 ? file_of(disk, descriptor) : NULL;

    if (file) {
        assert((size_t)size <= sizeof file->bytes);
        if ((size_t)size < file->size)
            memset(file->bytes + size, 0, file->size - (size_t)size);
        file->size = (size_t)size;
    }
    unlock(disk);
    return status;
}

static void write_back(struct file *file, int descriptor)
{
    struct stat about = { .st_size = 0 };

    (void)fstat(descriptor, &about);
    for (size_t i = 0; i < BLOCKS; i++) {
        if (!file->is_dirty[i])
            continue;
        (void)!pread(descriptor, file->bytes + i * BLOCK, BLOCK, (off_t)(i * BLOCK));
        if (file->used < (i + 1) * BLOCK)
            file->used = (i + 1) * BLOCK;
    }
    file->size = (size_t)about.st_size;
}

/* Gives the lock back. */
static int sync_or_fail_locked(struct disk *disk, long call, int descriptor)
{
    struct file *file = file_of(disk, descriptor);
    uint32_t number = ++disk->syncs;
    bool fails = disk->fail_from > 0 && number >= disk->fail_from &&
                 number - disk->fail_from < disk->fail_count;

    if (file && !fails)
        write_back(file, descriptor);
    if (file)
        memset(file->is_dirty, 0, sizeof file->is_dirty);
    disk->failed += fails;
    unlock(disk);
    if (!fails)
        return (int)syscall(call, descriptor);
    errno = EIO;
    return -1;
}

static void hold(struct disk *disk)
{
    uint64_t limit = wait_limit_ms();
    struct timespec until;
    int status = 0;

    disk->is_to_hold = false;
    disk->is_holding = true;
    (void)pthread_cond_broadcast(&disk->wake);
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += (time_t)(limit / 1000);
    while (disk->is_holding && status == 0)
        status = pthread_cond_timedwait(&disk->wake, &disk->lock, &until);
    disk->is_holding = false;
}

static int sync_or_fail(long call, int descriptor)
{
    struct disk *disk = locked();

    if (disk->is_to_hold)
        hold(disk);
    return sync_or_fail_locked(disk, call, descriptor);
}

int fdatasync(int descriptor)
{
    return sync_or_fail(SYS_fdatasync, descriptor);
}

int fsync(int descriptor)
{
    return sync_or_fail(SYS_fsync, descriptor);
}

/* --- for the test ----------------------------------------------------------------------------- */

void lost_writes_begin(void)
{
    struct disk *disk = locked();

    disk->count = 0;
    disk->fail_from = disk->fail_count = disk->failed = 0;
    unlock(disk);
}

void lost_writes_fail(uint32_t nth, uint32_t count)
{
    struct disk *disk = locked();

    disk->fail_from = nth > 0 ? disk->syncs + nth : 0;
    disk->fail_count = count;
    disk->failed = 0;
    unlock(disk);
}

void lost_writes_hold(void)
{
    struct disk *disk = locked();

    disk->is_to_hold = true;
    unlock(disk);
}

void lost_writes_go_on(void)
{
    struct disk *disk = locked();

    disk->is_to_hold = disk->is_holding = false;
    (void)pthread_cond_broadcast(&disk->wake);
    unlock(disk);
}

void lost_writes_step(void)
{
    struct disk *disk = locked();

    disk->is_holding = false;
    disk->is_to_hold = true;
    (void)pthread_cond_broadcast(&disk->wake);
    unlock(disk);
}

void lost_writes_wait_holding(void)
{
    struct disk *disk = locked();

    while (!disk->is_holding)
        (void)pthread_cond_wait(&disk->wake, &disk->lock);
    unlock(disk);
}

bool lost_writes_is_holding(void)
{
    struct disk *disk = locked();
    bool is_holding = disk->is_holding;

    unlock(disk);
    return is_holding;
}

uint32_t lost_writes_failed(void)
{
    struct disk *disk = locked();
    uint32_t failed = disk->failed;

    unlock(disk);
    return failed;
}

void lost_writes_save(const char *path, const char *as)
{
    struct disk *disk = locked();
    FILE *stream = fopen(as, "we");
    struct file *file = NULL;
    struct stat about;

    assert(stream);
    if (stat(path, &about) == 0)
        file = find(disk, &about);
    if (file)
        (void)fwrite(file->bytes, 1, file->size, stream);
    (void)fclose(stream);
    unlock(disk);
}
