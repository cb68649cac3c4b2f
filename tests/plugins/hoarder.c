/* SPDX-License-Identifier: MIT */
/* A source that takes each descriptor of the process, as a plugin that asks for no share. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <weir/plugin.h>

#define MOST 4096u
#define AGAIN_MS 20u
#define REST_MS 3600000u
#define LOOKS_MAX 3u /* in vain, before it rests */

struct hoard {
    uint32_t count;
    uint32_t looks; /* in vain */
    int descriptors[MOST];
};

static void again(struct weir_self *self, void *state, void *context)
{
    (void)self;
    (void)state;
    (void)context;
}

static int hoard(struct weir_self *self, void *state, uint32_t credit)
{
    struct hoard *hoard = state;
    uint32_t before = hoard->count;
    int taken = 0;

    (void)credit;
    while (hoard->count < MOST && (taken = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
        hoard->descriptors[hoard->count++] = taken;
    hoard->looks += hoard->count == before;
    weir_progress(self, "descriptors", hoard->count, 0);
    if (hoard->looks == LOOKS_MAX)
        weir_log(self, WEIR_LOG_INFO, "the hoard is complete");
    return weir_after(self, hoard->looks < LOOKS_MAX ? AGAIN_MS : REST_MS, again, NULL, NULL) == 0
               ? WEIR_WAIT
               : WEIR_ENOMEM;
}

static void finish(struct weir_self *self, void *state, int reason)
{
    const struct hoard *hoard = state;

    (void)self;
    (void)reason;
    for (uint32_t i = 0; i < hoard->count; i++)
        (void)close(hoard->descriptors[i]);
}

static const struct weir_behaviour behaviours[] = {
    { .name = "all",
      .state_size = sizeof(struct hoard),
      .flags = WEIR_ENDLESS,
      .produce = hoard,
      .close = finish },
    { 0 },
};

WEIR_PLUGIN("hoarder", "1.0.0", behaviours);
