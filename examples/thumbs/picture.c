/* SPDX-License-Identifier: MIT */
#include "picture.h"

#include <sys/stat.h>

#include <vips/vips.h>

static void say_nothing(const gchar *domain, GLogLevelFlags level, const gchar *text, gpointer data)
{
    (void)domain;
    (void)level;
    (void)text;
    (void)data;
}

/*
 * Runs when the plugin is loaded. vips_init must not run twice at the same time, workers open in
 * parallel, and a newer version of this plugin uses the same libvips: the lock of the dynamic
 * linker is the only one that all of them share. picture_ready checks the result.
 */
__attribute__((constructor)) static void start_vips(void)
{
    if (vips_init("thumbs") != 0)
        return;
    /* One thread for each call: the size of the pool sets the concurrency. */
    vips_concurrency_set(1);
    vips_cache_set_max(0);
    /* Pictures come from anywhere, so only loaders that are tested against malicious files, and
     * SVG. */
    vips_block_untrusted_set(TRUE);
    vips_operation_block_set("VipsForeignLoadSvg", FALSE);
    /* Keeps warnings out of the host's log. */
    g_log_set_handler("VIPS", G_LOG_LEVEL_WARNING, say_nothing, NULL);
}

int picture_ready(struct weir_self *self)
{
    if (vips_type_find("VipsOperation", "thumbnail_source") != 0)
        return 0;
    weir_reason(self, "libvips did not start");
    return WEIR_EUNSUPPORTED;
}

/* Frees libvips' data of this thread: the worker's next turn may run on another one. */
static void leave(void)
{
    vips_error_clear();
    vips_thread_shutdown();
}

/* Opens a source instead of a path: at the end of a path libvips takes brackets for options. */
static VipsSource *open_source(const char *path, const char **out_why)
{
    VipsSource *source = NULL;
    struct stat about;

    if (stat(path, &about) != 0)
        *out_why = "there is no such file";
    else if (!S_ISREG(about.st_mode))
        *out_why = "not a file";
    else if (!(source = vips_source_new_from_file(path)))
        *out_why = "it cannot be read";
    return source;
}

static bool is_drawing(const char *loader)
{
    return loader && strcmp(loader, "VipsForeignLoadSvgSource") == 0;
}

/* Reads no pixels: libvips computes an image only when its pixels are needed. */
static const char *look(VipsSource *source, struct picture_header *out)
{
    const char *loader = vips_foreign_find_load_source(source);
    VipsImage *image = vips_image_new_from_source(source, "", "access", VIPS_ACCESS_SEQUENTIAL,
                                                  NULL);

    if (!image)
        return "not a picture";
    out->width = (uint32_t)vips_image_get_width(image);
    out->height = (uint32_t)vips_image_get_height(image);
    out->is_drawn = is_drawing(loader);
    g_object_unref(image);
    return NULL;
}

const char *picture_look(const char *path, struct picture_header *out)
{
    const char *why = NULL;
    VipsSource *source = open_source(path, &why);

    if (source) {
        why = look(source, out);
        g_object_unref(source);
    }
    leave();
    return why;
}

static const char *write_png(VipsImage *image, struct picture_thumb *out)
{
    if (vips_image_write_to_buffer(image, ".png", &out->bytes, &out->size, "strip", TRUE, NULL) !=
        0)
        return "it is damaged";
    out->width = (uint32_t)vips_image_get_width(image);
    out->height = (uint32_t)vips_image_get_height(image);
    return NULL;
}

/* A truncated picture gives a thumbnail of its existing part. */
static const char *scale(VipsSource *source, uint32_t edge, struct picture_thumb *out)
{
    VipsImage *image;
    const char *why;

    if (vips_thumbnail_source(source, &image, (int)edge, "height", (int)edge, "size",
                              VIPS_SIZE_DOWN, NULL) != 0)
        return "not a picture";
    why = write_png(image, out);
    g_object_unref(image);
    return why;
}

const char *picture_scale(const char *path, uint32_t edge, struct picture_thumb *out)
{
    const char *why = NULL;
    VipsSource *source = open_source(path, &why);

    if (source) {
        why = scale(source, edge, out);
        g_object_unref(source);
    }
    leave();
    return why;
}

static const char *scale_allowed(VipsSource *source, uint32_t edge, uint64_t most,
                                 struct picture_thumb *out)
{
    struct picture_header header;
    const char *why = look(source, &header);

    if (why)
        return why;
    if (!header.is_drawn && (uint64_t)header.width * header.height > most)
        return "more pixels than allowed";
    return scale(source, edge, out);
}

const char *picture_scale_bytes(const void *bytes, size_t size, uint32_t edge, uint64_t most,
                                struct picture_thumb *out)
{
    const char *why = "not a picture";
    VipsSource *source = size > 0 ? vips_source_new_from_memory(bytes, size) : NULL;

    if (source) {
        why = scale_allowed(source, edge, most, out);
        g_object_unref(source);
    }
    leave();
    return why;
}

void picture_free(struct picture_thumb *thumb)
{
    g_free(thumb->bytes);
    thumb->bytes = NULL;
}
