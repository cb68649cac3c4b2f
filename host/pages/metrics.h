/* SPDX-License-Identifier: MIT */
/*
 * pages/metrics.h - the figures of a running host in Prometheus' text format 0.0.4.
 *
 * Labels are bounded: pools, sources, states, reasons; never a worker or a message. Messages are
 * counted at the pools that have workers, so a sum over pools counts each message once; refusals
 * are counted at the level that refused.
 */
#ifndef HOST_PAGES_METRICS_H
#define HOST_PAGES_METRICS_H

#include "host/pages/overview_figures.h"

#define METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

void metrics_write(const struct overview *overview, FILE *stream);

#endif
