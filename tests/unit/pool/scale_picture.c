/* SPDX-License-Identifier: MIT */
#include "unit/pool/scale_picture.h"

#include <stdlib.h>

#define S_NS UINT64_C(1000000000)

#define LEFT 40u
#define PLOT_WIDTH 600u /* 2 for each second */
#define PLOT_HEIGHT 96u /* 6 for each worker */
#define PANEL_HEIGHT 150u
#define WIDTH (LEFT + PLOT_WIDTH + 50u)
#define MAX_WORKERS 16u
#define RATE_MAX 640u

void scale_picture_world(struct scale_world *world)
{
    *world = (struct scale_world){
        .law = { .wait_ns = S_NS / 20,
                 .idle_ns = 30 * S_NS,
                 .open_ns = 10 * S_NS,
                 .min = 2,
                 .max = MAX_WORKERS },
        .service_ms = 50,
        .open_ms = 100,
        .target_at_start = 2,
    };
}

static uint32_t x_of(uint32_t second)
{
    return LEFT + second * (PLOT_WIDTH / SCALE_WORLD_SECONDS);
}

static void draw_line(FILE *stream, const char *class, const uint32_t *values, uint32_t largest,
                      uint32_t bottom)
{
    fprintf(stream, "<polyline class=\"%s\" points=\"", class);
    for (uint32_t i = 0; i < SCALE_WORLD_SECONDS; i++) {
        uint32_t value = values[i] < largest ? values[i] : largest;
        uint32_t y = bottom - value * PLOT_HEIGHT / largest;

        /* Two points for each second, only where the value changes. */
        if (i > 0 && i + 1 < SCALE_WORLD_SECONDS && values[i] == values[i - 1] &&
            values[i] == values[i + 1])
            continue;
        fprintf(stream, "%u,%u %u,%u ", x_of(i), y, x_of(i + 1), y);
    }
    fputs("\"/>\n", stream);
}

static void draw_axes(FILE *stream, uint32_t bottom)
{
    fprintf(stream, "<path class=\"axis\" d=\"M%u %uV%uH%u\"/>\n", LEFT, bottom - PLOT_HEIGHT,
            bottom, LEFT + PLOT_WIDTH);
    for (uint32_t workers = 0; workers <= MAX_WORKERS; workers += 8)
        fprintf(stream, "<text x=\"%u\" y=\"%u\" text-anchor=\"end\">%u</text>\n", LEFT - 4,
                bottom + 4 - workers * PLOT_HEIGHT / MAX_WORKERS, workers);
    for (uint32_t second = 0; second <= SCALE_WORLD_SECONDS; second += 60)
        fprintf(stream, "<text x=\"%u\" y=\"%u\" text-anchor=\"middle\">%u s</text>\n",
                x_of(second), bottom + 14, second);
}

static void draw(FILE *stream, const struct scale_load *load, uint32_t top)
{
    struct scale_world *world = calloc(1, sizeof *world);
    uint32_t bottom = top + 22 + PLOT_HEIGHT;

    if (!world)
        abort();
    scale_picture_world(world);
    scale_world_run(world, load);
    fprintf(stream,
            "<text class=\"title\" x=\"%u\" y=\"%u\">%s: longest wait %u.%02u s, %u growths, "
            "%u workers left, %u reversals</text>\n",
            LEFT, top + 12, load->name, (uint32_t)(world->longest_ms / 1000),
            (uint32_t)(world->longest_ms % 1000 / 10), world->growths, world->leavers,
            world->reversals);
    draw_axes(stream, bottom);
    draw_line(stream, "load", world->rates, RATE_MAX, bottom);
    draw_line(stream, "target", world->targets, MAX_WORKERS, bottom);
    free(world);
}

void scale_picture_write(FILE *stream)
{
    uint32_t panels = 0;

    while (scale_loads[panels].name)
        panels++;
    fprintf(stream,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %u %u\" "
            "font-family=\"sans-serif\" font-size=\"10\">\n"
            "<style>.title{font-size:11px;font-weight:bold}.axis{fill:none;stroke:#888}"
            ".load{fill:none;stroke:#e08a1e;stroke-width:1}"
            ".target{fill:none;stroke:#1f5fa8;stroke-width:2}</style>\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
            "<text x=\"%u\" y=\"14\">blue: workers wanted, of 2..16; orange: messages that "
            "arrive in a second (full height: %u); a message takes 50 ms</text>\n",
            WIDTH, 20 + panels * PANEL_HEIGHT, LEFT, RATE_MAX);
    for (uint32_t i = 0; i < panels; i++)
        draw(stream, &scale_loads[i], 20 + i * PANEL_HEIGHT);
    fputs("</svg>\n", stream);
}
