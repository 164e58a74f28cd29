#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The main job from end to end: program a bitstream into the PoCL device and let a trained network name what three
# photographs show. On a bare Debian 12, as root or with sudo, it installs what is missing; it can be run again.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p build
. tools/setup.sh

bin=build/release/bin
model=build/demo/efficientnet-lite0
bitstream=build/demo/mobilenet-f32.hrb
# The system's own OpenCL drivers, whatever the caller's environment says.
unset OCL_ICD_VENDORS OCL_ICD_FILENAMES

mount_kernel_folders
# shellcheck disable=SC2086  # a list of words
install_packages $HEADRACE_PACKAGES
install_python samples/efficientnet/requirements.txt
tests_option=()
[ -e build/release/CMakeCache.txt ] || tests_option=(-DHEADRACE_BUILD_TESTS=OFF)
build_preset release "headrace headrace-pictures classification_sample classification_sample_async validation_app" "${tests_option[@]}"

if [ ! -e $model.onnx ] || [ ! -e build/demo/expected.json ]; then
  say "making EfficientNet-Lite0 from its trained weights"
  build/venv/bin/python samples/efficientnet/make_efficientnet_lite0.py -o build/demo
fi

say "converting ONNX to IR"
$bin/headrace convert $model.onnx -o $model.xml

say "devices"
$bin/headrace devices

say "building a bitstream for PoCL from bitstreams/mobilenet-f32.json"
$bin/headrace bitstream build bitstreams/mobilenet-f32.json -d POCL -o $bitstream

say "programming POCL"
$bin/headrace program POCL $bitstream

say "where each layer runs, and why not on the earlier devices"
$bin/headrace query $model.xml -d HETERO:POCL,CPU

say "classifying pictures on HETERO:POCL,CPU"
$bin/classification_sample_async -m $model.xml -d HETERO:POCL,CPU -l build/demo/labels.txt -nt 5 -nireq 1 -niter 20 -pc \
  -i build/demo/chelsea.png build/demo/coffee.png build/demo/camera.png

say "latency"
$bin/headrace bench $model.xml -d HETERO:POCL,CPU -t 3

say "done: programs in $bin, the network and its labels in build/demo"
