/* SPDX-License-Identifier: MIT */
/*
 * job.h - the types that the parts of the packer share.
 */
#ifndef PACK_JOB_H
#define PACK_JOB_H

#include <stdint.h>

#define JOB_NAME_MAX 256 /* NAME_MAX and a NUL */

/* Settings for all workers; they live as long as the runtime. */
struct job_settings {
    int from;  /* descriptor of the source folder */
    int to;    /* descriptor of the target folder */
    int level; /* of zlib, 1..9 */
};

/* One file on its way: from main to compress, to verify, to index. Each part fills in its
 * fields. */
struct job {
    char name[JOB_NAME_MAX]; /* in the folder */
    uint64_t size;           /* compress */
    uint64_t packed_size;    /* compress */
    uint32_t crc;            /* compress: crc32 of the source file */
};

/* `NAME.gz`, or with `part` the temporary name until it has been verified. */
#define JOB_PACKED_MAX (JOB_NAME_MAX + 16)
void job_packed_name(const struct job *job, int part, char out[JOB_PACKED_MAX]);

#endif
