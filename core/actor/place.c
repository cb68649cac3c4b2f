#include "actor/place.h"

#include <stdio.h>
#include <stdlib.h>

int place_create(const char *path, uint32_t index, struct place **out)
{
    struct place *place = calloc(1, sizeof *place);
    int length;

    if (!place)
        return WEIR_ENOMEM;
    length = snprintf(place->path, sizeof place->path, "%s", path);
    if (length < 0 || (size_t)length >= sizeof place->path) {
        free(place);
        return WEIR_EINVALID;
    }
    place->index = index;
    list_init(&place->link);
    list_init(&place->waiting);
    *out = place;
    return 0;
}

void place_destroy(struct place *place)
{
    if (!place)
        return;
    spec_unref(place->opened_with);
    spec_unref(place->respec);
    free(place);
}
