/* SPDX-License-Identifier: MIT */
/*
 * words - counts the words of texts, in shards: each word is always counted by the same worker.
 */
#include "behaviours.h"

WEIR_PLUGIN_OF("words", "1.0.0", &words_split, &words_count, &words_report);
