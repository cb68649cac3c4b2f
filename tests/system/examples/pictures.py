#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes pictures and looks at pictures, with nothing but Python: a second opinion on thumbnails.

pictures.py make FOLDER                    writes pictures whose four quarters have known colours
pictures.py count-large FOLDER PIXELS      how many PNG and JPEG files have at least so many pixels
pictures.py check FOLDER INTO PREFIX EDGE  every picture that can be read has its thumbnail in INTO,
                                           named after PREFIX and its name, which fits into EDGE
"""
import struct
import sys
import zlib
from pathlib import Path

QUARTERS = ((200, 30, 30), (30, 200, 30), (30, 30, 200), (220, 220, 40))
MADE = {"quarters wide.png": (3000, 2000), "quarters%tall.png": (60, 240),
        "quarters [n=-1].png": (300, 300), "quarters tiny.png": (4, 2)}
SIGNATURE = b"\x89PNG\r\n\x1a\n"


def chunk(kind, data):
    return (struct.pack(">I", len(data)) + kind + data +
            struct.pack(">I", zlib.crc32(kind + data)))


def write_png(path, width, height):
    """Four quarters, each of one colour."""
    def row(left, right):
        return b"\0" + bytes(left) * (width // 2) + bytes(right) * (width - width // 2)
    top, bottom = row(*QUARTERS[:2]), row(*QUARTERS[2:])
    rows = top * (height // 2) + bottom * (height - height // 2)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    path.write_bytes(SIGNATURE + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 1)) +
                     chunk(b"IEND", b""))


def png_size(data):
    return struct.unpack(">II", data[16:24])


def jpeg_size(data):
    """Width and height out of the frame header."""
    at = 2
    while data[at] == 0xFF:
        marker, length = data[at + 1], struct.unpack(">H", data[at + 2:at + 4])[0]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5:at + 9])
            return width, height
        at += 2 + length
    raise ValueError("no frame header")


def size_of(path):
    """(width, height); None of what has no pixels of its own, or is no picture."""
    data = path.read_bytes() if path.is_file() else b""
    if data.startswith(SIGNATURE):
        return png_size(data)
    return jpeg_size(data) if data.startswith(b"\xff\xd8") else None


def unfilter(kind, line, above, step):
    """One row of a PNG without its filter (PNG specification, 9.2)."""
    for i, byte in enumerate(line):
        left = line[i - step] if i >= step else 0
        corner = above[i - step] if i >= step else 0
        if kind == 1:
            guess = left
        elif kind == 2:
            guess = above[i]
        elif kind == 3:
            guess = (left + above[i]) // 2
        elif kind == 4:
            initial = left + above[i] - corner
            guess = min((left, above[i], corner), key=lambda x: abs(initial - x))
        else:
            guess = 0
        line[i] = (byte + guess) & 255
    return line


def png_rows(data):
    """The rows of a PNG of eight bits for each sample, and the bytes of a pixel."""
    width, height = png_size(data)
    depth, colour, _, _, interlaced = data[24:29]
    assert depth == 8 and not interlaced and colour in (2, 6), "another kind of PNG"
    step = 3 if colour == 2 else 4
    packed, at = b"", 8
    while at < len(data):
        length = struct.unpack(">I", data[at:at + 4])[0]
        if data[at + 4:at + 8] == b"IDAT":
            packed += data[at + 8:at + 8 + length]
        at += 12 + length
    raw, rows, above = zlib.decompress(packed), [], bytes(width * step)
    for y in range(height):
        start = y * (width * step + 1)
        line = bytearray(raw[start + 1:start + 1 + width * step])
        above = unfilter(raw[start], line, above, step)
        rows.append(above)
    return rows, step


def wrong_colours(data):
    """The first quarter whose middle has not its colour; None when all have."""
    rows, step = png_rows(data)
    width, height = png_size(data)
    for i, colour in enumerate(QUARTERS):
        x, y = width * (1 + 2 * (i % 2)) // 4, height * (1 + 2 * (i // 2)) // 4
        seen = tuple(rows[y][x * step:x * step + 3])
        if any(abs(a - b) > 3 for a, b in zip(seen, colour)):
            return f"quarter {i} is {seen}, not {colour}"
    return None


def wrong_size(picture, thumb, edge):
    """Why a thumbnail of this size is none of a picture of that size; None when it is."""
    longer = max(picture)
    wanted = [max(1, side * min(edge, longer) / longer) for side in picture]
    if any(abs(a - b) > 0.51 for a, b in zip(wanted, thumb)):
        return f"{picture} became {thumb}"
    return None


def mistakes(folder, into, prefix, edge):
    for path in sorted(folder.iterdir()):
        size = size_of(path)
        drawing = path.suffix == ".svg"
        if size is None and not drawing:
            continue
        name = (prefix + path.name).replace("%", "%25").replace("/", "%2F") + ".png"
        if not (into / name).is_file():
            yield f"{path.name}: no {name}"
            continue
        data = (into / name).read_bytes()
        if drawing and max(png_size(data)) != edge:
            yield f"{path.name}: {png_size(data)}"
        elif size and wrong_size(size, png_size(data), edge):
            yield f"{path.name}: {wrong_size(size, png_size(data), edge)}"
        elif path.name in MADE and wrong_colours(data):
            yield f"{path.name}: {wrong_colours(data)}"


def main():
    command, folder = sys.argv[1], Path(sys.argv[2])
    if command == "make":
        for name, size in MADE.items():
            write_png(folder / name, *size)
    elif command == "count-large":
        sizes = [size_of(path) for path in folder.iterdir()]
        print(sum(1 for size in sizes if size and size[0] * size[1] >= int(sys.argv[3])))
    elif command == "check":
        found = list(mistakes(folder, Path(sys.argv[3]), sys.argv[4], int(sys.argv[5])))
        print("\n".join(found), end="\n" if found else "", file=sys.stderr)
        return 1 if found else 0
    else:
        sys.exit(__doc__)
    return 0


if __name__ == "__main__":
    sys.exit(main())
