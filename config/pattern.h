/*
 * config/pattern.h - which files a pattern with `*`, `?` and `[...]` names, for a bounded effort.
 *
 * Each part between slashes may have wildcards; a leading dot is matched by a dot alone. Unlike
 * glob(3) it gives up: a pattern may lead through every folder of a machine. Not synchronised.
 */
#ifndef CONFIG_PATTERN_H
#define CONFIG_PATTERN_H

#include <stddef.h>
#include <stdint.h>

#define PATTERN_LOOKS_MAX 20000u /* names: far past what anybody keeps in one folder to include */

/* Paths, sorted. Life: pattern_find .. pattern_finish. */
struct pattern_matches {
    char **paths; /* owned */
    size_t count;
};

/*
 * Finds what is there under `pattern`, or under that very name when it is no pattern. `*looks` is
 * how many names may be looked at yet; it falls. WEIR_EINVALID: they were not enough. WEIR_ENOMEM.
 * Nothing is to be finished when it fails.
 */
int pattern_find(const char *pattern, uint32_t *looks, struct pattern_matches *out);
void pattern_finish(struct pattern_matches *matches);

#endif
