#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs the operator tests' kernels under Oclgrind, which simulates a device and reports reads and writes outside buffers,
# data races between work-items and wrong uses of the API. Small cases only: it needs milliseconds for an instruction of
# a large work-group.
#   tests/oclgrind.sh OPS_TEST    the program, e.g. build/release/bin/ops_test; exit code 77 where oclgrind is missing
set -euo pipefail

program=$1
command -v oclgrind > /dev/null || { echo "tests/oclgrind.sh: oclgrind is not installed (apt-get install oclgrind)"; exit 77; }
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Oclgrind takes the place of the OpenCL loader. It does not know all of LLVM's intrinsics that optimizing introduces.
unset HEADRACE_REQUIRE_DEVICES HEADRACE_TEST_DEVICE
HEADRACE_QUICK_CASES=${HEADRACE_QUICK_CASES:-2} oclgrind --data-races --check-api --build-options -cl-opt-disable \
  --log "$log" "$program" --gtest_brief=1 --gtest_filter='-*ConvGridTest.Sampled*:*ConvGridTest.Edges*:*WinogradTest*'
if [ -s "$log" ]; then
  head -c 10000 "$log"
  echo "tests/oclgrind.sh: error: Oclgrind found $(grep -c 'Kernel:' "$log" || true) faults"
  exit 1
fi
