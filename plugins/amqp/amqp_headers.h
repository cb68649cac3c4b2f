/* SPDX-License-Identifier: MIT */
/*
 * amqp_headers.h - the headers of a piece of work in a queue, for programs that read or write such
 * queues with another client.
 *
 * The body of the AMQP message is the payload, byte for byte. Its `message-id` names the piece: a
 * piece that is published twice has the same id both times. The names below stand in its table of
 * headers.
 */
#ifndef AMQP_HEADERS_H
#define AMQP_HEADERS_H

#define AMQP_HEADER_TAG "weir-tag"         /* text: the tag with its version, as "files.line/1" */
#define AMQP_HEADER_KEY "weir-key"         /* integer: the key of the message; absent = none */
#define AMQP_HEADER_ATTEMPT "weir-attempt" /* integer: the attempt that the first delivery is */
#define AMQP_HEADER_LAYOUT "weir-layout"   /* text: of the payload's structs, as "little-64" */
#define AMQP_HEADER_REASON "weir-reason"   /* text, of a dead letter: why it is dead */
#define AMQP_HEADER_DETAIL "weir-detail"   /* text, of a dead letter: by the worker */
#define AMQP_HEADER_HOST "weir-host"       /* text, of a dead letter: the machine that had it */

/* The layout of the structs of this program: byte order and bits of a pointer. */
#define AMQP_LAYOUT                                                                                \
    (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? (sizeof(void *) == 8 ? "little-64" : "little-32") \
                                               : (sizeof(void *) == 8 ? "big-64" : "big-32"))

/* The tag of a message that another program has published, without AMQP_HEADER_TAG. */
#define AMQP_BYTES_TAG "amqp.bytes/1"

#endif
