/*
 * embed/use.h - a behaviour as an embedding program hands it over: copied, with its settings.
 */
#ifndef EMBED_USE_H
#define EMBED_USE_H

#include "actor/spec.h"
#include "actor/wiring.h"

#include <weir/runtime.h>

/* What the options of pools and actors have in common. */
struct use_options {
    const struct weir_behaviour *behaviour; /* borrowed until return */
    uint32_t behaviour_size;                /* what the program knows of it */
    const void *settings; /* borrowed; until the last use, if use_take_settings is called */
};

/* Of struct weir_behaviour in version 1.0: up to and with `close`. */
#define USE_BEHAVIOUR_SIZE_MIN (offsetof(struct weir_behaviour, close) + sizeof(void (*)(void)))

/* A spec with one reference. WEIR_EINVALID, WEIR_ENOMEM. */
int use_create_spec(const struct use_options *options, struct spec **out);

/* Takes the settings: `release` is called after the spec's last use. By who has a reference. */
void use_take_settings(struct spec *spec, void (*release)(void *settings));

/* Outputs as bindings; `count` may be 0. Returns owned. WEIR_EINVALID, WEIR_ENOMEM. */
int use_create_wiring(const struct weir_binding *outputs, uint32_t count, uint32_t binding_size,
                      struct wiring **out);

/* `size` bytes of `given`, as far as `known_size` reaches, over a zeroed struct. */
void use_copy(void *known, size_t known_size, const void *given, uint32_t size);

#endif
