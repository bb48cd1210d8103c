#!/bin/sh
# Installs what is missing, builds the proof in release mode, runs it, and prints it as one page: all that cmake/test.sh
# leaves out, too. 20 to 25 minutes on 2 cores, the build included. Arguments are handed to tests/prove.py: --short,
# --only fuzz, --cases 1000000, --help.
# shellcheck disable=SC2086
set -eu
unset CDPATH
cd -- "$(dirname -- "$0")/.."
. cmake/packages.sh

case " $* " in
*" --help "* | *" -h "*) exec python3 -B tests/prove.py --help ;;
esac
heist_need compiler cmake ninja pkg-config hwloc boost-context fmt cli11 json png catch2 python spin clang
cmake --preset release -DHEIST_BENCHMARKS="${HEIST_BENCHMARKS:-OFF}" -DHEIST_UNITY_TESTS=ON
targets=$(python3 -B tests/prove.py --targets "$@")  # what the parts need that are asked for
cmake --build --preset release -j "$(heist_jobs)" --target $targets
exec python3 -B tests/prove.py --build build/release "$@"
