#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests and measures Headrace on a GPU, unattended: installs what is missing, builds preset release, runs the operator
# and device tests and the golden networks on the GPU alone, tunes for a minute, then prints latencies of the networks and of single kernels
# beside CLBlast. For Debian 12 or Ubuntu 24.04 with nothing but an OpenCL driver, as root or with sudo.
#
# Usage: tests/bench/gpu.sh [--device NAME] [--out FOLDER] [--networks FOLDER] [--minutes N]
#   --device    as `headrace devices` prints it (default: the first GPU)
#   --out       logs, figures as JSON, report.txt and roofline.svg (default: build/gpu)
#   --networks  what tests/golden/make_networks.py wrote (default: build/release/golden/networks; made where missing)
#   --minutes   when to stop (default: 10); what has not run by then is named in the report
# Exit code: 0 if everything ran and passed, else 1.
set -euo pipefail

usage() {
  sed -n '/^# Usage/,/^set/s/^# \{0,1\}//p' "$0"
  exit "$1"
}

fail() {
  echo "gpu.sh: error: $*" >&2
  exit 1
}

start_folder=$PWD
device='' out='' networks='' minutes=10
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage 0 ;;
    --device | --out | --networks | --minutes) [ $# -ge 2 ] || usage 2 >&2 ;;
    *) usage 2 >&2 ;;
  esac
  declare "${1#--}=$2"
  shift 2
done
[[ $minutes =~ ^[0-9]+$ ]] || fail "--minutes takes a whole number, got '$minutes'"
cd "$(dirname "$0")/../.."
. tools/setup.sh
from_start() { case $1 in /*) echo "$1" ;; *) echo "$start_folder/$1" ;; esac; }
out=$(from_start "${out:-$PWD/build/gpu}")
networks=$(from_start "${networks:-$PWD/build/release/golden/networks}")
bin=$PWD/build/release/bin
failures=()

# stage NAME SECONDS COMMAND...: runs it for so long at most, and not past the end; its output goes to a log.
stage() {
  local name=$1 limit=$2 left=$((minutes * 60 - SECONDS)) began=$SECONDS rc=0
  shift 2
  if [ "$left" -lt 5 ]; then
    echo "-- $name: not run, the $minutes minutes are over" | tee -a "$out/stages.txt"
    failures+=("$name")
    return
  fi
  [ -t 1 ] && printf -- '-- %s ...\r' "$name"
  timeout -k 10 "$((left < limit ? left : limit))" "$@" > "$out/$name.log" 2>&1 || rc=$?
  local verdict="passed, $((SECONDS - began)) s"
  [ $rc = 124 ] && verdict="stopped after $((SECONDS - began)) s, see $out/$name.log"
  [ $rc != 0 ] && [ $rc != 124 ] && verdict="FAILED, see $out/$name.log"
  [ $rc = 0 ] || failures+=("$name")
  [ -t 1 ] && printf '\033[K'
  echo "-- $name: $verdict" | tee -a "$out/stages.txt"
}

install() {
  local packages=()
  # Neither the pictures' library nor another OpenCL driver is needed here.
  for package in $HEADRACE_PACKAGES; do
    [[ $package =~ opencv|pocl|ccache ]] || packages+=("$package")
  done
  install_packages "${packages[@]}" libgtest-dev libgmock-dev libbenchmark-dev libclblast-dev
}

# Building takes the time that it takes: without it there is nothing to measure.
build() {
  local options=(-DHEADRACE_BUILD_TESTS=ON)
  [ -e build/release/CMakeCache.txt ] || options+=(-DHEADRACE_BUILD_SAMPLES=OFF)
  # The CPU fallback is written for oneDNN 2; newer systems have 3, and a GPU does without.
  [[ $(dpkg-query -W -f='${Version}' libdnnl-dev) == 2.* ]] || options+=(-DHEADRACE_WITH_ONEDNN=OFF)
  build_preset release headrace "${options[@]}"
  find_device
  build_preset release "headrace-builder ops_test device_test golden_test kernel_bench" "${options[@]}"
}

# Sets device to CL.n.
find_device() {
  local listed found
  listed=$("$bin/headrace" devices --json) || fail "no GPU: the OpenCL loader finds no driver"
  found=$(python3 -c '
import json, sys
wanted = sys.argv[1]
devices = [d for d in json.loads(sys.argv[2])["devices"] if d["name"].startswith("CL.") and not d["problem"]]
names = [d["name"] for d in devices if (wanted in (d["name"], *d["aliases"]) if wanted else d["type"] == "GPU")]
print(names[0] if names else "none among: " + (", ".join(d["name"] + " " + d["description"] for d in devices) or "-"))
' "$device" "$listed")
  case $found in
    CL.*) device=$found ;;
    *) fail "no ${device:-GPU}; OpenCL devices: ${found#none among: } (is its OpenCL driver installed?)" ;;
  esac
}

make_networks() {
  install_python samples/efficientnet/requirements.txt tests/requirements.txt
  stage make_networks 180 build/venv/bin/python tests/golden/make_networks.py "$networks"
}

measure_latencies() {
  local network name
  mkdir -p "$out/latency"
  for network in "$networks"/*.xml; do
    name=$(basename "$network" .xml)
    stage "latency_$name" 60 sh -c '"$1" bench "$2" -d "$3" -t 1 --json > "$4"' sh "$bin/headrace" "$network" "$device" \
      "$out/latency/$name.json"
  done
}

mkdir -p build
mkdir -p "$out"
# What an earlier run left, and nothing else that may lie in that folder.
rm -rf "${out:?}"/{home,latency,kernels.json,roofline.svg,report.txt,stages.txt}
install
build
say "testing and measuring $device: $("$bin/headrace" devices | grep "^$device ")"
# Caches of its own, empty: the figures do not depend on what ran before.
mkdir -p "$out/home"
export HEADRACE_CACHE_DIR=$out/home/cache HEADRACE_STATE_DIR=$out/home/state POCL_CACHE_DIR=$out/home/pocl
export HEADRACE_TEST_DEVICE=$device HEADRACE_GOLDEN_NETWORKS=$networks
unset HEADRACE_REQUIRE_DEVICES
stage device_test 120 "$bin/device_test"
[ -e "$networks/index.json" ] || make_networks
stage golden_networks 180 "$bin/golden_test" --gtest_filter='GoldenNetworksTest.*'
# Ends behind the shape that is being measured when its time is over: what it has by then counts.
stage tune 75 sh -c 'timeout -s INT 60 "$1" tune --all -d "$2" || [ $? = 124 ]' sh "$bin/headrace" "$device"
measure_latencies
stage kernels 180 "$bin/kernel_bench" --benchmark_min_time=0.05 --benchmark_out="$out/kernels.json"
stage roofline 30 python3 tests/bench/roofline.py "$out/kernels.json" "$out/roofline.svg"
# Last, since they take longest: by now the figures are there.
stage ops_test 300 "$bin/ops_test"
python3 tests/bench/report.py "$out" | tee "$out/report.txt"
say "results in $out, after $SECONDS s"
[ ${#failures[@]} = 0 ] || fail "not passed: ${failures[*]}"
