# SPDX-License-Identifier: Apache-2.0
# Shell functions that samples/demo.sh and tests/run.sh share: install what is missing, then build. Sourced with the
# repository's root as the current folder, by bash. Every function can be called again and then does nothing.

say() { printf '\n== %s\n' "$*"; }

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo > /dev/null; then
    sudo "$@"
  else
    echo "$0: error: '$*' needs root: run this script as root or install sudo" >&2
    exit 1
  fi
}

# What the programs need to build and run on Debian 12.
HEADRACE_PACKAGES="ca-certificates g++ cmake ninja-build ccache libboost-dev libcli11-dev libfmt-dev libpugixml-dev
  libxxhash-dev libprotobuf-dev nlohmann-json3-dev libssl-dev libdnnl-dev ocl-icd-opencl-dev
  opencl-headers libopencv-core-dev libopencv-imgproc-dev libopencv-imgcodecs-dev pocl-opencl-icd graphviz python3-venv"
# What the tests need besides.
HEADRACE_TEST_PACKAGES="libgtest-dev libgmock-dev libbenchmark-dev clang-14 clang-format-14 libclang-rt-14-dev oclgrind git
  libonnx-testdata"

# A bare root folder (debootstrap and chroot) has /proc and /sys only where somebody mounted them. PoCL reads the
# processor and its memory from there, and aborts the process where it finds none.
mount_kernel_folders() {
  [ -e /proc/cpuinfo ] || { say "mounting /proc" && as_root mount -t proc proc /proc; }
  [ -e /sys/devices/system/cpu ] || { say "mounting /sys, which PoCL needs" && as_root mount -t sysfs -o ro sysfs /sys; }
}

# install_packages PACKAGE...
install_packages() {
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2> /dev/null | grep -q '^install ok installed$' || missing+=("$package")
  done
  [ ${#missing[@]} = 0 ] && return
  say "installing Debian packages: ${missing[*]}"
  as_root apt-get -q update
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends "${missing[@]}"
}

# install_python [--no-deps] REQUIREMENTS_FILE...: a Python environment in build/venv that holds what the files list,
# with --no-deps nothing that they need.
install_python() {
  local file stamp options=()
  [ "$1" = --no-deps ] && { options=(--no-deps) && shift; }
  [ -x build/venv/bin/python ] || { say "making a Python environment in build/venv" && python3 -m venv build/venv; }
  for file in "$@"; do
    stamp=build/venv/$(echo "$file" | tr / _).installed
    cmp -s "$file" "$stamp" && continue
    say "installing Python packages into build/venv: $(grep -v '^#' "$file" | tr '\n' ' ')"
    build/venv/bin/python -m pip install -q --disable-pip-version-check "${options[@]}" -r "$file"
    cp "$file" "$stamp"
  done
}

# build_preset PRESET TARGETS [CMAKE_OPTION...]: TARGETS is one string; "all" builds everything.
build_preset() {
  local preset=$1 targets=$2
  shift 2
  say "building preset $preset into build/$preset"
  cmake --preset "$preset" "$@" > "build/$preset.cmake.log" 2>&1 || { cat "build/$preset.cmake.log"; return 1; }
  # shellcheck disable=SC2086  # the targets are words
  cmake --build --preset "$preset" --target $targets -- -j"$(nproc)"
}
