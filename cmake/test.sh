#!/bin/sh
# Says whether heist works here: installs what is missing, builds the preset "test" (unit and stress tests, examples,
# contract; -Og, many tests compiled as one) and runs it, the stress tests at a tenth. 4 to 7 minutes
# on 2 idle cores. Arguments are handed to ctest. What looks at the project rather than at this machine is in the preset
# "project"; what proves is in cmake/prove.sh.
set -eu
unset CDPATH
cd -- "$(dirname -- "$0")/.."
. cmake/packages.sh

heist_need compiler cmake ninja pkg-config hwloc boost-context fmt cli11 json png catch2
cmake --preset test
cmake --build --preset test -j "$(heist_jobs)"
exec ctest --preset test -j "$(heist_jobs)" "$@"
