#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs the fuzzers, and the unit and device tests under AddressSanitizer and UndefinedBehaviorSanitizer, all from one
# build. The last part of tests/run.sh, which installs what this needs and makes the fuzzers' seeds.
#   HEADRACE_FUZZ_SECONDS   time for each fuzzer (default 60)
#   HEADRACE_TSAN=1         the threads' tests under ThreadSanitizer too: 8 more minutes on two cores, most of it building
#   HEADRACE_FUZZ_SEED      where its random numbers start (default 1: what it finds once it finds again; 0: anywhere)
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/setup.sh

fuzz_seconds=${HEADRACE_FUZZ_SECONDS:-60}
fuzz_seed=${HEADRACE_FUZZ_SEED:-1}
started=$SECONDS
took() { echo "-- $1 took $((SECONDS - started)) s so far"; }
export OCL_ICD_VENDORS=$PWD/build/icd HEADRACE_REQUIRE_DEVICES=pocl,intel_cpu,fpga_emu
export HEADRACE_CACHE_DIR=$PWD/build/test_home/cache HEADRACE_STATE_DIR=$PWD/build/test_home/state
export POCL_CACHE_DIR=$PWD/build/test_home/pocl

build_preset asan "fuzzers sanitized_tests"
took "preset asan"

say "fuzzers, $fuzz_seconds s each, one per core"
python3 tests/fuzz/make_seeds.py build/fuzz
fuzz() {  # FUZZER: keeps the inputs that reach new code in build/fuzz/FUZZER
  local dictionary=()
  mkdir -p "build/fuzz/$1"
  [ -e "tests/fuzz/${1#fuzz_}.dict" ] && dictionary=("-dict=tests/fuzz/${1#fuzz_}.dict")
  "build/asan/bin/$1" "${dictionary[@]}" -max_total_time="$fuzz_seconds" -seed="$fuzz_seed" -rss_limit_mb=2048 -timeout=20 -print_final_stats=1 \
    -artifact_prefix="build/fuzz/$1-" "build/fuzz/$1" > "build/fuzz/$1.log" 2>&1 ||
    { tail -40 "build/fuzz/$1.log"; echo "tests/sanitizers.sh: error: $1 found a fault" >&2; return 1; }
  grep -aE 'number_of_executed_units|DONE' "build/fuzz/$1.log" | sed "s/^/$1: /"
}
export -f fuzz
export fuzz_seconds fuzz_seed
basename -a build/asan/bin/fuzz_* | xargs -P "$(nproc)" -I FUZZER bash -c 'set -euo pipefail; fuzz FUZZER'
took fuzzers

say "unit and device tests under AddressSanitizer and UndefinedBehaviorSanitizer"
export LSAN_OPTIONS=suppressions=$PWD/tests/lsan.supp:print_suppressions=0
ctest --test-dir build/asan -L unit -j2 --output-on-failure
# Intel's drivers are unloaded before the leaks are looked for, so that nothing says whose they are.
ASAN_OPTIONS=detect_leaks=0 ctest --test-dir build/asan -L device --output-on-failure
took sanitizers

if [ "${HEADRACE_TSAN:-0}" != 0 ]; then
  build_preset tsan "unit_runtime_test device_test headrace-builder"
  say "runtime and device tests under ThreadSanitizer, on PoCL: Intel's drivers race by its account, with themselves"
  rm -rf build/icd_pocl && mkdir build/icd_pocl && cp build/icd/pocl.icd build/icd_pocl
  export OCL_ICD_VENDORS=$PWD/build/icd_pocl HEADRACE_REQUIRE_DEVICES=pocl
  export TSAN_OPTIONS=suppressions=$PWD/tests/tsan.supp:halt_on_error=1
  ctest --test-dir build/tsan -R '^(unit_runtime|device)_test$' --output-on-failure
  took ThreadSanitizer
fi
