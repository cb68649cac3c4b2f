# SPDX-License-Identifier: MIT
"""The plot of a sitting, as SVG: for each row how many times as long as Weir each peer takes."""
import math
from html import escape

WIDTH, LEFT, GAP, ROW, TOP, BOTTOM = 960, 100, 24, 22, 84, 40
PANEL = (WIDTH - LEFT - 2 * GAP) // 2
COLOURS = ("#d95f02", "#7570b3", "#1b9e77", "#e7298a", "#66a61e", "#a6761d", "#666666", "#999999",
           "#1f78b4")
LOW, HIGH = 0.1, 1000.0  # of the axis; what lies beyond stands at its end


def place(ratio, left):
    """Where a ratio stands in the panel that begins there."""
    ratio = min(max(ratio, LOW), HIGH)
    part = math.log(ratio / LOW) / math.log(HIGH / LOW)
    return left + GAP / 2 + part * (PANEL - GAP)


def words(x, y, text, anchor="start", weight="normal"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-weight="{weight}">'
            f'{escape(text)}</text>')


def axis(left, height, title):
    out = [words(left + PANEL / 2, TOP - 22, title, "middle", "bold")]
    for power in range(-1, 4):
        x = place(10 ** power, left)
        colour = "#1f4e9c" if power == 0 else "#dddddd"
        out.append(f'<line x1="{x:.1f}" y1="{TOP - 12}" x2="{x:.1f}" y2="{height - BOTTOM}" '
                   f'stroke="{colour}" stroke-width="{1.5 if power == 0 else 1}"/>')
        out.append(words(x, height - BOTTOM + 16, f"{10 ** power:g}", "middle"))
    return out


def dots(line, left, y, colours, titles):
    out = []
    for name, figure in line.peers.items():
        x = place(figure / line.weir, left)
        out.append(f'<circle cx="{x:.1f}" cy="{y}" r="4.5" fill="{colours[name]}" '
                   f'fill-opacity="0.85"><title>{escape(titles[name])}: '
                   f'{figure / line.weir:.2f}</title></circle>')
    return out


def legend(colours, titles):
    out, x, y = [], 12.0, 18
    for name, colour in colours.items():
        width = 22 + 6.3 * len(titles[name])
        if x + width > WIDTH - 12:
            x, y = 12.0, y + 18
        out.append(f'<circle cx="{x + 5:.1f}" cy="{y - 4}" r="4.5" fill="{colour}"/>')
        out.append(words(x + 14, y, titles[name]))
        x += width
    return out


def svg(lines, titles):
    lines = [line for line in lines if line.peers]
    names = list(dict.fromkeys(line.row.name for line in lines))
    used = [name for name in titles if any(name in line.peers for line in lines)]
    colours = dict(zip(used, COLOURS))
    height = TOP + ROW * len(names) + BOTTOM
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
           f'viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{height}" fill="white"/>', *legend(colours, titles)]
    for cpus, title in ((1, "one thread"), (2, "two threads")):
        left = LEFT + (cpus - 1) * (PANEL + GAP)
        out += axis(left, height, title)
        for line in (line for line in lines if line.cpus == cpus):
            y = TOP + ROW * names.index(line.row.name) + ROW // 2
            out += dots(line, left, y, colours, titles)
    for index, name in enumerate(names):
        out.append(words(LEFT - 8, TOP + ROW * index + ROW // 2 + 4, name, "end"))
    out.append(words(WIDTH / 2, height - 8, "times what Weir takes for the same row; right of the "
                     "blue line Weir is faster", "middle"))
    return "\n".join(out + ["</svg>", ""])
