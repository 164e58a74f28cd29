#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws kernel_bench's JSON as a roofline: operations per second over operations per byte, under the device's limits.

Usage: roofline.py KERNELS.json OUT.svg     (KERNELS.json: kernel_bench --benchmark_out=KERNELS.json)
One dot per shape. Operators that only move data have no operations, so no dot. A pointer on a dot shows its name.
"""
import json
import math
import pathlib
import sys
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 1000, 640
LEFT, RIGHT, TOP, BOTTOM = 84, 210, 92, 72  # margins of the plot; the legend stands in the right one
FONT = "Inter, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif"
INK, MUTED, GRID, FAINT = "#1f2937", "#6b7280", "#d1d5db", "#eef0f3"
# Okabe and Ito's colours, which colour-blind readers tell apart.
KINDS = {
    "convolution": ("#0072b2", {"convolution"}),
    "convolution 1x1": ("#56b4e9", {"pointwise"}),
    "depthwise": ("#e69f00", {"depthwise"}),
    "matrix product": ("#d55e00", {"matmul"}),
    "pooling": ("#009e73", {"pool"}),
    "softmax, norm, reduce": ("#cc79a7", {"softmax", "layernorm", "reduce"}),
    "element-wise": ("#4b5563", {"elementwise"}),
}


class Axis:
    """A logarithmic axis from `low` to `high` over the pixels from `start` to `end`."""

    def __init__(self, values, start, end):
        self.low, self.high = step_below(min(values)), 1 / step_below(1 / max(values))
        self.start, self.end = start, end

    def __call__(self, value):
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self):
        """(value, is a power of ten) of every grid line."""
        for exponent in range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1):
            for digit in range(1, 10):
                value = digit * 10.0**exponent
                if self.low * 0.999 <= value <= self.high * 1.001:
                    yield value, digit == 1


def step_below(value):
    """The largest 1, 2 or 5 times a power of ten that is not above."""
    power = 10.0 ** math.floor(math.log10(value))
    return max(digit * power for digit in (1, 2, 5) if digit * power <= value * 1.0001)


def number(value):
    return f"{value:.0f}" if value >= 99.5 else f"{value:.3g}"


def text(x, y, content, size=13, color=INK, anchor="start", extra=""):
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{color}" text-anchor="{anchor}" {extra}>'
            f"{escape(content)}</text>")


def line(x1, y1, x2, y2, color, width=1.0, extra=""):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{color}" stroke-width="{width}" {extra}/>'


def draw_grid(x, y):
    parts = []
    for value, is_major in sorted(x.ticks(), key=lambda tick: tick[1]):
        parts.append(line(x(value), y.start, x(value), y.end, GRID if is_major else FAINT))
        if is_major:
            parts.append(text(x(value), y.start + 22, number(value), color=MUTED, anchor="middle"))
    for value, is_major in sorted(y.ticks(), key=lambda tick: tick[1]):
        parts.append(line(x.start, y(value), x.end, y(value), GRID if is_major else FAINT))
        if is_major:
            parts.append(text(x.start - 10, y(value) + 4.5, number(value), color=MUTED, anchor="end"))
    middle = (y.start + y.end) / 2
    parts.append(text((x.start + x.end) / 2, y.start + 50, "operations per byte of the tensors (FLOP/byte)", 14,
                      anchor="middle"))
    parts.append(text(26, middle, "speed (GFLOP/s)", 14, anchor="middle", extra=f'transform="rotate(-90 26 {middle:.1f})"'))
    return parts


HALO = 'paint-order="stroke" stroke="#ffffff" stroke-width="4" stroke-linejoin="round"'  # labels stay readable over dots


def draw_slope(x, y, rate, peak, dash=""):
    """The limit that bytes per second set: it ends where the peak begins."""
    begin, end = max(x.low, y.low / rate), min(peak / rate, x.high)
    return line(x(begin), y(begin * rate), x(end), y(end * rate), INK, 1.8, f'stroke-linecap="round" {dash}')


def label_slope(x, y, rate, peak, label, is_above):
    end = min(peak / rate, x.high)
    at_x, at_y = x(end), y(end * rate)
    angle = math.degrees(math.atan2(y(2 * end * rate) - at_y, x(2 * end) - at_x))
    turn = f'transform="rotate({angle:.2f} {at_x:.1f} {at_y:.1f}) translate(-14 {-9 if is_above else 19})"'
    return text(at_x, at_y, label, anchor="end", extra=f"{turn} {HALO}")


def read_limits(context):
    return [float(context[name]) for name in ("peak_gflops", "memory_gbytes", "cache_gbytes")]


def draw_limits(x, y, context):
    peak, memory, cache = read_limits(context)
    return [draw_slope(x, y, memory, peak), draw_slope(x, y, cache, peak, 'stroke-dasharray="6 5"'),
            line(x(max(x.low, peak / max(memory, cache))), y(peak), x.end, y(peak), INK, 1.8, 'stroke-linecap="round"')]


def label_limits(x, y, context):
    peak, memory, cache = read_limits(context)
    return [label_slope(x, y, memory, peak, f"copying in memory: {number(memory)} GB/s", False),
            label_slope(x, y, cache, peak, f"copying in the cache: {number(cache)} GB/s", True),
            text(x.end - 6, y(peak) - 9, f"multiply-adds: {number(peak)} GFLOP/s", anchor="end", extra=HALO)]


def draw_dots(x, y, rows):
    parts = []
    for row in rows:
        color = next((color for color, kinds in KINDS.values() if row["kind"] in kinds), INK)
        hint = f"{row['name']}: {number(row['gflops'])} GFLOP/s, {row['us']:.1f} us"
        parts.append(f'<circle cx="{x(row["intensity"]):.1f}" cy="{y(row["gflops"]):.1f}" r="6" fill="{color}" '
                     f'fill-opacity="0.85" stroke="#ffffff" stroke-width="1.4"><title>{escape(hint)}</title></circle>')
    return parts


def draw_legend(rows):
    left, top = WIDTH - RIGHT + 26, TOP + 14
    parts = []
    for label, (color, kinds) in KINDS.items():
        if any(row["kind"] in kinds for row in rows):
            parts.append(f'<circle cx="{left}" cy="{top - 4.5:.1f}" r="6" fill="{color}"/>')
            parts.append(text(left + 16, top, label, 13))
            top += 26
    return parts


def draw(context, rows):
    peak = read_limits(context)[0]
    x = Axis([row["intensity"] / 1.3 for row in rows] + [row["intensity"] * 1.3 for row in rows], LEFT, WIDTH - RIGHT)
    y = Axis([row["gflops"] / 1.3 for row in rows] + [peak * 1.3], HEIGHT - BOTTOM, TOP)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
             f'font-family="{FONT}">',
             "<!-- SPDX-License-Identifier: Apache-2.0; made by tests/bench/roofline.py -->",
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
             text(LEFT, 40, "What each kernel reaches of what the device can do", 20, extra='font-weight="600"'),
             text(LEFT, 64, f"{context['device']} · {context['driver']} · f32 · one dot per shape", 13, MUTED)]
    parts += draw_grid(x, y) + draw_limits(x, y, context) + draw_dots(x, y, rows)
    parts += label_limits(x, y, context) + draw_legend(rows)
    return "\n".join(parts + ["</svg>"]) + "\n"


def read_rows(report):
    """Headrace's rows that compute something."""
    rows = []
    for row in report["benchmarks"]:
        kind, network, sizes, tool = row["name"].split("/")[:4]
        if tool == "headrace" and row.get("run_type", "iteration") == "iteration" and "GFLOP/s" in row:
            rows.append({"kind": kind, "name": f"{network} {sizes}", "intensity": row["flop_per_byte"],
                         "gflops": row["GFLOP/s"], "us": row["real_time"]})
    return rows


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    source, target = map(pathlib.Path, sys.argv[1:])
    try:
        report = json.loads(source.read_text(encoding="utf-8"))
        rows = read_rows(report)
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"roofline: error: {source} is not what kernel_bench writes: {error}")
    if not rows:
        sys.exit(f"roofline: error: {source} has no row of headrace with operations")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(draw(report["context"], rows), encoding="utf-8")


if __name__ == "__main__":
    main()
