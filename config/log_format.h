/* SPDX-License-Identifier: MIT */
/*
 * config/log_format.h - how a line of the log is written: the choices of host.log.format, which
 * host/log carries out.
 */
#ifndef CONFIG_LOG_FORMAT_H
#define CONFIG_LOG_FORMAT_H

/* name, word in a file */
#define LOG_FORMAT_LIST(X)                                                                         \
    X(LOGFMT, "logfmt")                                                                            \
    X(JSON, "json")                                                                                \
    X(TEXT, "text") /* `12:34:56.789 warning pool#1: what happened key=value`, in local time */    \
    X(AUTO, "auto") /* text on a terminal, else logfmt */
enum log_format {
#define LOG_FORMAT_NAME(name, word) LOG_##name,
    LOG_FORMAT_LIST(LOG_FORMAT_NAME)
#undef LOG_FORMAT_NAME
};

#endif
