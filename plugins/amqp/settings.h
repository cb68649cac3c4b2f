/* SPDX-License-Identifier: MIT */
/*
 * settings.h - the options of both behaviours, and the behaviours.
 */
#ifndef SETTINGS_H
#define SETTINGS_H

#include <weir/plugin.h>

#define WINDOW_MAX 1000u

enum amqp_sasl {
    AMQP_SASL_BY_PASSWORD,
    AMQP_SASL_BY_CERTIFICATE,
};

enum amqp_id {
    AMQP_ID_OF_RUN,
    AMQP_ID_OF_KEY,
    AMQP_ID_OF_CONTENT,
};

enum amqp_message_key {
    AMQP_KEY_OF_PIECE,
    AMQP_KEY_OF_ID,
};

struct amqp_settings {
    /* the connection */
    struct weir_list servers;
    const char *user;
    const char *password;
    uint32_t sasl; /* enum amqp_sasl */
    const char *ca;
    const char *certificate; /* NULL = none */
    const char *key;         /* NULL = none */
    bool verify;
    bool must_connect;
    uint64_t heartbeat; /* milliseconds */
    uint64_t timeout;
    uint64_t backoff_max;
    /* the queue */
    const char *queue;
    bool declare;
    uint32_t limit;
    uint32_t delivery_limit;
    uint64_t new_queue;       /* milliseconds */
    const char *dead_letters; /* NULL = `queue`.dead */
    uint32_t window;
    /* amqp.consume */
    struct weir_list before;
    struct weir_list tags;
    uint32_t message_key; /* enum amqp_message_key */
    /* amqp.publish */
    uint32_t id; /* enum amqp_id */
    uint64_t refused_wait;
};

/* The rows that both behaviours have. */
#define SETTINGS_OF_BOTH                                                                           \
    WEIR_OPTION_LIST(struct amqp_settings, servers, .required = true, .min = 1, .max = 64,         \
                     .help = "amqp://host:5672/vhost or amqps://host:5671/vhost, tried in turn"),  \
        WEIR_OPTION_STRING(struct amqp_settings, user, .fallback = "guest",                        \
                           .help = "of the server"),                                               \
        WEIR_OPTION_STRING(struct amqp_settings, password, .fallback = "guest", .secret = true,    \
                           .help = "such as ${file:/run/credentials/amqp}"),                       \
        WEIR_OPTION_ENUM(struct amqp_settings, sasl, .fallback = "plain",                          \
                         .choices = settings_sasl,                                                 \
                         .help = "plain: user and password; external: the certificate"),           \
        WEIR_OPTION_STRING(struct amqp_settings, ca,                                               \
                           .fallback = "/etc/ssl/certs/ca-certificates.crt",                       \
                           .help = "PEM file: authorities that sign servers' certificates"),       \
        WEIR_OPTION_STRING(struct amqp_settings, certificate,                                      \
                           .help = "PEM file of the certificate that the server gets"),            \
        WEIR_OPTION_STRING(struct amqp_settings, key, .help = "PEM file of its private key"),      \
        WEIR_OPTION_BOOL(struct amqp_settings, verify, .fallback = "true",                         \
                         .help = "whether the certificate and its host name must be right"),       \
        WEIR_OPTION_BOOL(struct amqp_settings, must_connect, .fallback = "true",                   \
                         .help = "false: opens although no server can be reached"),                \
        WEIR_OPTION_DURATION(struct amqp_settings, heartbeat, .fallback = "10s", .min = 1000,      \
                             .max = 3600000,                                                       \
                             .help = "a connection that is silent for twice "                      \
                                     "this time is lost"),                                         \
        WEIR_OPTION_DURATION(struct amqp_settings, timeout, .fallback = "5s", .min = 100,          \
                             .max = 600000, .help = "of one step of connecting to one server"),    \
        WEIR_OPTION_DURATION(struct amqp_settings, backoff_max, .fallback = "30s", .min = 100,     \
                             .max = 3600000,                                                       \
                             .help = "between two tries to connect; it begins at 100ms"),          \
        WEIR_OPTION_STRING(struct amqp_settings, queue, .required = true, .help = "its name"),     \
        WEIR_OPTION_BOOL(struct amqp_settings, declare, .fallback = "true",                        \
                         .help = "false: the queue must be there, of whatever kind"),              \
        WEIR_OPTION_U32(struct amqp_settings, limit, .fallback = "10000", .min = 1,                \
                        .max = 1000000000, .help = "pieces that may wait in the queue"),           \
        WEIR_OPTION_U32(struct amqp_settings, delivery_limit, .fallback = "20", .min = 1,          \
                        .max = 60000,                                                              \
                        .help = "deliveries after the first, when no consumer settles a piece"),   \
        WEIR_OPTION_DURATION(struct amqp_settings, new_queue, .fallback = "2s", .max = 60000,      \
                             .help = "how long a queue rests after its declaration"),              \
        WEIR_OPTION_STRING(struct amqp_settings, dead_letters,                                     \
                           .help = "exchange, and its queue; default: QUEUE.dead")

extern const char *const settings_sasl[];
extern const struct weir_behaviour amqp_consume, amqp_publish;

/* A copy that outlives the behaviour, of all that a connection needs: everything but `tags`.
 * Returns owned; NULL: memory is out. */
struct amqp_settings *settings_copy(const struct amqp_settings *settings);
/* NULL is legal. */
void settings_free(struct amqp_settings *settings);
/* Checks what both behaviours have. */
void settings_check(const struct amqp_settings *settings, struct weir_report *report);
/* Writes the name of the exchange and queue of the dead letters of a queue. Returns its length, or
 * -1: it is too long. */
int settings_dead_name(const struct amqp_settings *settings, const char *queue, char *out,
                       size_t size);

#endif
