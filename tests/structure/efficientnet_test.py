# SPDX-License-Identifier: Apache-2.0
"""EfficientNet-Lite0 with trained weights through the sample, against what ONNX Runtime answered for the same pictures.

Usage: efficientnet_test.py FOLDER_OF_PROGRAMS FOLDER_OF_THE_NETWORK DEVICE
DEVICE is CPU, pocl, intel_cpu or fpga_emu; one that is missing fails where HEADRACE_REQUIRE_DEVICES names it, else the
exit code is 77 (skipped).
"""
import json
import os
import pathlib
import re
import subprocess
import sys

TOLERANCE = 1e-3  # design.md, section 8: whole networks
PRINTED = 1e-4    # the sample prints four decimals
SKIPPED = 77
KINDS = {"pocl": lambda d: "POCL" in d["aliases"],
         "intel_cpu": lambda d: d["type"] == "OpenCL CPU" and d["platform"].startswith("Intel"),
         "fpga_emu": lambda d: "FPGA Emulation" in d["platform"]}


def find_device(programs, kind):
    listed = subprocess.run([programs / "headrace", "devices", "--json"], check=True, capture_output=True)
    names = [d["name"] for d in json.loads(listed.stdout)["devices"] if KINDS[kind](d) and not d["problem"]]
    if names:
        return names[0]
    sys.exit(f"no {kind} device" if kind in os.environ.get("HEADRACE_REQUIRE_DEVICES", "").split(",") else SKIPPED)


def sample_environment():
    """Debian's OpenCV brings an older TBB than Intel's OpenCL runtimes need, and a process has room for one: without
    theirs in front, the loader drops their platforms and CL.n means another device."""
    folders = []
    for icd in sorted(pathlib.Path(os.environ.get("OCL_ICD_VENDORS", "/etc/OpenCL/vendors")).glob("*.icd")):
        folder = pathlib.Path(icd.read_text(encoding="utf-8").strip()).parent
        if (folder / "libtbb.so.12").exists():
            folders.append(str(folder))
    return {**os.environ, "LD_LIBRARY_PATH": ":".join(folders + [os.environ.get("LD_LIBRARY_PATH", "")])}


def read_rows(text):
    """Returns {picture: [(class, score, label)]}."""
    pictures, rows = {}, []
    for line in text.splitlines():
        if head := re.match(r"^(.*) \([\d.]+ ms\)$", line):
            rows = pictures.setdefault(pathlib.Path(head[1]).name, [])
        elif row := re.match(r"^ +(\d+) +(\d\.\d+)  (.*)$", line):
            rows.append((int(row[1]), float(row[2]), row[3]))
    return pictures


def main():
    programs, network, kind = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    device = "CPU" if kind == "CPU" else f"HETERO:{find_device(programs, kind)},CPU"
    expected = json.loads((network / "expected.json").read_text(encoding="utf-8"))["pictures"]
    command = [programs / "classification_sample", "-m", network / "efficientnet-lite0.xml", "-d", device, "-nt", "5",
               "-l", network / "labels.txt", "-i", *[network / name for name in expected]]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=sample_environment())
    print(done.stdout, done.stderr)
    if done.returncode != 0:
        sys.exit(1)
    actual = read_rows(done.stdout)
    faults = []
    for name, rows in expected.items():
        given = actual.get(name, [])
        if [row["class"] for row in rows] != [row[0] for row in given] or rows[0]["label"] != given[0][2]:
            faults.append(f"{name}: classes {given}, expected {rows}")
            continue
        faults += [f"{name}: class {row['class']} has {mine[1]}, expected {row['score']:.5f}"
                   for row, mine in zip(rows, given) if not abs(row["score"] - mine[1]) <= TOLERANCE + PRINTED]
    sys.exit("\n".join(faults) if faults else 0)


if __name__ == "__main__":
    main()
