/* SPDX-License-Identifier: MIT */
#include "picture.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>
#include <png.h>

static uint64_t sum_of(const unsigned char *bytes, size_t count)
{
    uint64_t sum = 1;

    for (size_t i = 0; i < count; i++)
        sum += bytes[i];
    return sum;
}

static uint64_t sum_jpeg(FILE *file)
{
    struct jpeg_decompress_struct reader;
    struct jpeg_error_mgr errors;
    uint64_t sum = 1;
    JSAMPROW row;

    reader.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&reader);
    jpeg_stdio_src(&reader, file);
    (void)jpeg_read_header(&reader, TRUE);
    (void)jpeg_start_decompress(&reader);
    row = malloc((size_t)reader.output_width * (size_t)reader.output_components);
    while (row && reader.output_scanline < reader.output_height) {
        (void)jpeg_read_scanlines(&reader, &row, 1);
        sum += sum_of(row, (size_t)reader.output_width * (size_t)reader.output_components);
    }
    (void)jpeg_finish_decompress(&reader);
    jpeg_destroy_decompress(&reader);
    free(row);
    return sum;
}

static uint64_t sum_png(FILE *file)
{
    png_structp reader = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop about = png_create_info_struct(reader);
    uint64_t sum = 1;
    png_bytep row;

    png_init_io(reader, file);
    png_read_info(reader, about);
    row = malloc(png_get_rowbytes(reader, about));
    for (png_uint_32 i = 0; row && i < png_get_image_height(reader, about); i++) {
        png_read_row(reader, row, NULL);
        sum += sum_of(row, png_get_rowbytes(reader, about));
    }
    png_read_end(reader, NULL);
    png_destroy_read_struct(&reader, &about, NULL);
    free(row);
    return sum;
}

uint64_t picture_sum(const char *path)
{
    FILE *file = fopen(path, "rb");
    int first = file ? fgetc(file) : EOF;
    uint64_t sum = 0;

    if (file)
        rewind(file);
    if (first == 0xFF)
        sum = sum_jpeg(file);
    else if (first == 0x89)
        sum = sum_png(file);
    if (file)
        (void)fclose(file);
    return sum;
}

/* --- making one ------------------------------------------------------------------------------- */

static void fill(unsigned char *row, unsigned width, unsigned line)
{
    for (unsigned i = 0; i < 3 * width; i++)
        row[i] = (unsigned char)((i * i / 7 + line * line / 5) % 256);
}

static void make_jpeg(FILE *file, unsigned char *row, unsigned width, unsigned height)
{
    struct jpeg_compress_struct writer;
    struct jpeg_error_mgr errors;

    writer.err = jpeg_std_error(&errors);
    jpeg_create_compress(&writer);
    jpeg_stdio_dest(&writer, file);
    writer.image_width = width;
    writer.image_height = height;
    writer.input_components = 3;
    writer.in_color_space = JCS_RGB;
    jpeg_set_defaults(&writer);
    jpeg_start_compress(&writer, TRUE);
    while (writer.next_scanline < height) {
        fill(row, width, writer.next_scanline);
        (void)jpeg_write_scanlines(&writer, &row, 1);
    }
    jpeg_finish_compress(&writer);
    jpeg_destroy_compress(&writer);
}

static void make_png(FILE *file, unsigned char *row, unsigned width, unsigned height)
{
    png_structp writer = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop about = png_create_info_struct(writer);

    png_init_io(writer, file);
    png_set_IHDR(writer, about, width, height, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(writer, about);
    for (unsigned line = 0; line < height; line++) {
        fill(row, width, line);
        png_write_row(writer, row);
    }
    png_write_end(writer, NULL);
    png_destroy_write_struct(&writer, &about);
}

int picture_make(const char *path, int is_png, unsigned width, unsigned height)
{
    FILE *file = fopen(path, "wb");
    unsigned char *row = calloc(3, width);

    if (file && row && is_png)
        make_png(file, row, width, height);
    else if (file && row)
        make_jpeg(file, row, width, height);
    free(row);
    return file && row ? fclose(file) : -1;
}
