#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Lints with clang-tidy 14 and .clang-tidy: tests/tidy.sh [FILE...], default: every .cpp of host and samples. Uses the
# compile commands of build/dev. Several minutes for everything.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -e build/dev/compile_commands.json ] || cmake --preset dev > /dev/null
if [ $# = 0 ]; then
  mapfile -t files < <(git ls-files 'host/*.cpp' 'samples/*.cpp')
else
  files=("$@")
fi
printf '%s\0' "${files[@]}" | xargs -0 -n 4 -P "$(nproc)" clang-tidy-14 --quiet -p build/dev
