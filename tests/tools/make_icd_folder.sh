#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes a folder of OpenCL ICD files for the three runtimes that the tests use: PoCL, Intel's CPU runtime and Intel's
# FPGA emulator. Give the folder to the loader with OCL_ICD_VENDORS=OUT_DIR.
#
# Usage: make_icd_folder.sh ENV_DIR OUT_DIR [--install]
#   ENV_DIR    a Python environment; the Intel runtimes come from PyPI and live in it
#   --install  first installs what is missing there:
#                ENV_DIR           intel-opencl-rt and intel-cmplr-lib-rt (same version)
#                ENV_DIR/fpga_emu  intel-opencl-fpga-emu-rt, intel-opencl-rt and intel-cmplr-lib-rt 2025.0.5, tbb
# The emulator has a prefix of its own: its last release links libcommon_clang and libonnxruntime of exactly 2025.0.5,
# and in one folder the two versions of intel-opencl-rt overwrite each other. Without those files the loader drops the
# platform without a word (ldd on the .so shows what is missing). Both prefixes use one version of tbb, since a process
# that loads both runtimes gets one libtbb.so.12, whichever comes first.
# Exit code: 0 with at least one runtime, 1 with none. Runtimes that are missing are named on stderr.
set -eu

cpu_version=2026.2.0
emu_version=2025.0.5
tbb_version=2023.2.0

if [ $# -lt 2 ]; then
  sed -n '3,17s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
mkdir -p "$2"
env_dir=$(cd "$1" && pwd)
out_dir=$(cd "$2" && pwd)
cpu_library=$env_dir/lib/libintelocl.so
emu_library=$env_dir/fpga_emu/lib/libintelocl_emu.so

install_missing() {
  if [ ! -e "$cpu_library" ] || [ ! -e "$env_dir/lib/libsvml.so" ]; then
    echo "make_icd_folder: installing intel-opencl-rt $cpu_version into $env_dir"
    "$env_dir/bin/python" -m pip install -q "intel-opencl-rt==$cpu_version" "intel-cmplr-lib-rt==$cpu_version" \
      "tbb==$tbb_version"
  fi
  if [ ! -e "$emu_library" ]; then
    echo "make_icd_folder: installing intel-opencl-fpga-emu-rt $emu_version into $env_dir/fpga_emu"
    "$env_dir/bin/python" -m pip install -q --prefix="$env_dir/fpga_emu" --no-deps --ignore-installed \
      --no-warn-script-location "intel-opencl-fpga-emu-rt==$emu_version" "intel-opencl-rt==$emu_version" \
      "intel-cmplr-lib-rt==$emu_version" "tbb==$tbb_version" tcmlib
  fi
}

# Prints PoCL's library: what Debian's own ICD file names, or what the dynamic linker knows.
find_pocl() {
  if [ -r /etc/OpenCL/vendors/pocl.icd ]; then
    head -n 1 /etc/OpenCL/vendors/pocl.icd
  else
    /sbin/ldconfig -p 2>/dev/null | sed -n 's/.*=> \(.*libpocl\.so[.0-9]*\)$/\1/p' | head -n 1
  fi
}

written=0
# write_icd NAME LIBRARY: one ICD file, or a word on stderr about what is missing.
write_icd() {
  rm -f "$out_dir/$1.icd"
  if [ -z "$2" ]; then
    echo "make_icd_folder: $1: not installed ($3)" >&2
    return
  fi
  case $2 in
    /*)
      if [ ! -e "$2" ]; then
        echo "make_icd_folder: $1: $2 does not exist ($3)" >&2
        return
      fi
      missing=$(ldd "$2" 2>/dev/null | sed -n 's/^[[:space:]]*\([^ ]*\) => not found$/\1/p' | tr '\n' ' ')
      if [ -n "$missing" ]; then
        echo "make_icd_folder: $1: $2 lacks $missing($3)" >&2
        return
      fi ;;
  esac
  printf '%s\n' "$2" > "$out_dir/$1.icd"
  written=$((written + 1))
}

if [ "${3:-}" = --install ]; then
  install_missing
fi
write_icd pocl "$(find_pocl)" "apt-get install pocl-opencl-icd"
write_icd intel_cpu "$cpu_library" "run again with --install"
write_icd intel_fpga_emu "$emu_library" "run again with --install"
[ "$written" -gt 0 ]
