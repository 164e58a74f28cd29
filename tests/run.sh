#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Installs, builds and tests everything, on PoCL, Intel's CPU runtime and Intel's FPGA emulator (a missing one is a
# failure): all tests, then the fuzzers and the sanitizer builds of tests/sanitizers.sh. On a bare Debian 12, as root or
# with sudo; can be run again. About an hour on two cores.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p build
. tools/setup.sh

started=$SECONDS
took() { echo "-- $1 took $((SECONDS - started)) s so far"; }

mount_kernel_folders
# shellcheck disable=SC2086  # lists of words
install_packages $HEADRACE_PACKAGES $HEADRACE_TEST_PACKAGES
install_python samples/efficientnet/requirements.txt samples/tensorflow/requirements.txt tests/requirements.txt
install_python --no-deps tests/onnx/requirements.txt tests/caffe/requirements.txt
sh tests/tools/make_icd_folder.sh build/venv build/icd --install
export OCL_ICD_VENDORS=$PWD/build/icd HEADRACE_REQUIRE_DEVICES=pocl,intel_cpu,fpga_emu
# Each run starts with empty caches of its own, and leaves the user's alone.
rm -rf build/test_home
mkdir -p build/test_home
export HEADRACE_CACHE_DIR=$PWD/build/test_home/cache HEADRACE_STATE_DIR=$PWD/build/test_home/state
export POCL_CACHE_DIR=$PWD/build/test_home/pocl
took setup

say "format"
git ls-files -z '*.cpp' '*.hpp' '*.cl' '*.clh' | xargs -0 clang-format-14 --dry-run --Werror

build_preset release all -DHEADRACE_BUILD_TESTS=ON
took "preset release"

say "all tests"
# The tests say what they need of each other; the long ones are Python on one core.
ctest --test-dir build/release -j"$(nproc)" --output-on-failure
took "all tests"

tests/sanitizers.sh
took "everything"
