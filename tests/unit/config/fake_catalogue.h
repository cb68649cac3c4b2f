/* SPDX-License-Identifier: MIT */
/*
 * fake_catalogue.h - behaviours for tests of the language: tables without code behind them.
 *
 * Made to have every kind of option, outputs required and not, a source, a blocking behaviour, a
 * `check`, and live options. Everything is constant.
 */
#ifndef TESTS_UNIT_CONFIG_FAKE_CATALOGUE_H
#define TESTS_UNIT_CONFIG_FAKE_CATALOGUE_H

#include "config/catalogue.h"

/* The settings of thumb.scale: one field of each kind. */
struct fake_scale {
    bool keep;
    uint32_t threads;
    uint64_t max_pixels;
    int64_t offset;
    double quality;
    uint64_t cache;
    uint64_t patience;
    const char *label;
    uint32_t format;
    struct weir_list sizes;
    struct weir_map headers;
    const char *token;
};

extern const struct catalogue fake_catalogue;
/* The same behaviours as plugins of another content, version 2.0.0. */
extern const struct catalogue fake_catalogue_newer;

#endif
