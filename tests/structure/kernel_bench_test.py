# SPDX-License-Identifier: Apache-2.0
"""kernel_bench on one small shape, once, and what is made of its JSON.

Usage: kernel_bench_test.py FOLDER_OF_PROGRAMS
Without PoCL it fails where HEADRACE_REQUIRE_DEVICES names it, else the exit code is 77 (skipped).
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

ROOFLINE = pathlib.Path(__file__).resolve().parents[1] / "bench" / "roofline.py"
SKIPPED = 77
SHAPE = "pointwise/EfficientNet-Lite0/c320_7x7_o1280_k1x1_s1/"


def check(condition, what):
    if not condition:
        sys.exit(f"kernel_bench_test: {what}")


def check_numbers(report):
    context, rows = report["context"], report["benchmarks"]
    for name in ("peak_gflops", "memory_gbytes", "cache_gbytes"):
        check(float(context[name]) > 0, f"{name} is {context[name]}")
    check(context["clblast"] and context["onednn"], "nothing is said of the other libraries")
    check(any(row["name"].startswith(SHAPE + "headrace") for row in rows), f"no {SHAPE}headrace among {rows}")
    for row in rows:
        check("error_message" not in row, f"{row['name']}: {row.get('error_message')}")
        for counter in ("real_time", "GFLOP/s", "GB/s", "of_peak", "flop_per_byte"):
            check(row[counter] > 0, f"{row['name']}: {counter} is {row[counter]}")


def check_picture(report, folder):
    picture = pathlib.Path(folder) / "roofline.svg"
    subprocess.run([sys.executable, ROOFLINE, report, picture], check=True)
    drawn = xml.etree.ElementTree.parse(picture).getroot()
    check(len(drawn.findall(".//{*}circle/{*}title")) == 1, "the picture should have one dot")


def has_pocl(programs):
    listed = subprocess.run([programs / "headrace", "devices", "--json"], check=True, capture_output=True)
    return any("POCL" in device["aliases"] for device in json.loads(listed.stdout)["devices"])


def main():
    programs = pathlib.Path(sys.argv[1])
    if not has_pocl(programs):
        sys.exit("no PoCL" if "pocl" in os.environ.get("HEADRACE_REQUIRE_DEVICES", "").split(",") else SKIPPED)
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "kernels.json"
        subprocess.run([programs / "kernel_bench", "--device", "POCL", f"--benchmark_filter=^{SHAPE}",
                        "--benchmark_min_time=0", f"--benchmark_out={out}"], check=True)
        check_numbers(json.loads(out.read_text(encoding="utf-8")))
        check_picture(out, folder)
    wrong = subprocess.run([programs / "kernel_bench", "--device", "CL.99"], capture_output=True, text=True, check=False)
    check(wrong.returncode == 1 and wrong.stderr.startswith("kernel_bench: error: device 'CL.99'"), wrong.stderr)


if __name__ == "__main__":
    main()
