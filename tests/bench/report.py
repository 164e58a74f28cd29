#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints what gpu.sh measured as tables: latencies of networks, and single kernels beside other libraries.

Usage: report.py FOLDER
FOLDER holds latency/NETWORK.json (headrace bench --json), kernels.json (kernel_bench --benchmark_out) and stages.txt;
what is missing is left out with a word.
"""
import json
import pathlib
import sys

TOOLS = ("headrace", "onednn", "clblast")


def print_table(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join([row[0].ljust(widths[0])] + [cell.rjust(w) for cell, w in zip(row[1:], widths[1:])]))


def read(path):
    """The JSON of a file, or nothing where a stage did not get so far."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def print_latencies(folder):
    rows = [["network", "median ms", "min ms", "p95 ms", "load ms"]]
    for path in sorted(folder.glob("latency/*.json")):
        figures = read(path)
        columns = ("median_ms", "min_ms", "p95_ms", "load_ms")
        rows.append([path.stem] + [f"{figures[name]:.2f}" if figures else "failed" for name in columns])
    print("\n== latency, f32, batch 1\n")
    print_table(rows)


def by_shape(report):
    """{shape: {tool: row}} in the order of the run."""
    shapes = {}
    for row in report["benchmarks"]:
        shape, tool = row["name"].removesuffix("/manual_time").rsplit("/", 1)
        if row.get("run_type", "iteration") == "iteration":
            shapes.setdefault(shape, {})[tool] = row
    return shapes


def cell(row, counter, form):
    if row is None:
        return "-"
    return "failed" if row.get("error_occurred") else format(row[counter], form) if counter in row else "-"


def print_kernels(report):
    context, shapes = report["context"], by_shape(report)
    print(f"\n== kernels on {context['device']} ({context['driver']})\n")
    print(f"multiply-adds {context['peak_gflops']} GFLOP/s, copying in memory {context['memory_gbytes']} GB/s, in the cache "
          f"{context['cache_gbytes']} GB/s")
    print(f"oneDNN: {context['onednn']}; CLBlast: {context['clblast']}\n")
    others = [tool for tool in TOOLS[1:] if any(tool in tools for tools in shapes.values())]
    rows = [["kernel", "us", "GFLOP/s", "GB/s", "of peak"] + [f"{tool} us" for tool in others]]
    for shape, tools in shapes.items():
        own = tools.get("headrace")
        rows.append([shape, cell(own, "real_time", ".1f"), cell(own, "GFLOP/s", ".1f"), cell(own, "GB/s", ".1f"),
                     cell(own, "of_peak", ".2f")] + [cell(tools.get(tool), "real_time", ".1f") for tool in others])
    print_table(rows)


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    folder = pathlib.Path(sys.argv[1])
    print_latencies(folder)
    kernels = read(folder / "kernels.json")
    if kernels:
        print_kernels(kernels)
    else:
        print("\nno figures of kernels: see kernels.log")
    stages = folder / "stages.txt"
    if stages.exists():
        print("\n== what ran\n\n" + stages.read_text(encoding="utf-8").rstrip())


if __name__ == "__main__":
    main()
