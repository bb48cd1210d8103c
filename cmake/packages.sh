# shellcheck shell=sh disable=SC2086
# Sourced by the scripts beside it: finds out what is missing on this machine and installs it.
#
#   heist_need KEY...   makes sure of each; ends the program with what to install where it cannot
#   heist_want KEY...   the same for what is optional: names what stays missing, and goes on
#   heist_jobs          how many jobs to run at once
#
# With apt-get (as root or by sudo) the missing packages are installed; elsewhere they are named. HEIST_SKIP_PACKAGES=1
# trusts you: for libraries that are not where the compiler looks by itself (set CMAKE_PREFIX_PATH).

# key             apt                    dnf                  pacman          brew
heist_package_table='
compiler          g++                    gcc-c++              gcc             gcc
cmake             cmake                  cmake                cmake           cmake
ninja             ninja-build            ninja-build          ninja           ninja
pkg-config        pkg-config             pkgconf-pkg-config   pkgconf         pkgconf
hwloc             libhwloc-dev           hwloc-devel          hwloc           hwloc
boost-context     libboost-context-dev   boost-devel          boost           boost
fmt               libfmt-dev             fmt-devel            fmt             fmt
cli11             libcli11-dev           cli11-devel          cli11           cli11
json              nlohmann-json3-dev     json-devel           nlohmann-json   nlohmann-json
png               libpng-dev             libpng-devel         libpng          libpng
catch2            catch2                 catch-devel          catch2          catch2
benchmark         libbenchmark-dev       google-benchmark-devel benchmark     google-benchmark
tbb               libtbb-dev             tbb-devel            onetbb          tbb
openmp            libomp-dev             libomp-devel         openmp          libomp
taskflow          libtaskflow-cpp-dev    -                    -               taskflow
mpi               libopenmpi-dev         openmpi-devel        openmpi         open-mpi
mpirun            openmpi-bin            openmpi              openmpi         open-mpi
mpich             libmpich-dev           mpich-devel          mpich           mpich
boost-serialization libboost-serialization-dev boost-devel    boost           boost
starpu            libstarpu-dev          starpu-devel         starpu          starpu
git               git                    git                  git             git
python            python3                python3              python          python
gdb               gdb                    gdb                  gdb             gdb
spin              spin                   spin                 spin            spin
clang             clang                  clang                clang           llvm
clang-runtime     libclang-rt-14-dev     compiler-rt          compiler-rt     llvm
clang-format      clang-format           clang-tools-extra    clang           clang-format
codespell         codespell              codespell            codespell       codespell
clang-tidy        clang-tidy             clang-tools-extra    clang           llvm
'

heist_jobs() {
  nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2
}

# heist_compiles COMPILER PROGRAM [FLAGS...]: true if it compiles and links
heist_compiles() {
  heist_try_compiler=$1
  heist_try_program=$2
  shift 2
  heist_try_dir=$(mktemp -d) || return 1
  printf '%b' "$heist_try_program" >"$heist_try_dir/try.cpp"
  heist_try_status=0
  "$heist_try_compiler" -std=c++20 "$heist_try_dir/try.cpp" -o "$heist_try_dir/try" -pthread "$@" >/dev/null 2>&1 ||
    heist_try_status=1
  rm -rf "$heist_try_dir"
  return $heist_try_status
}

# The first compiler that has the C++20 that heist uses; others than CMake's own first choice are exported as CXX.
heist_find_compiler() {
  for heist_candidate in ${CXX:-} c++ g++ g++-16 g++-15 g++-14 g++-13 g++-12 clang++ clang++-21 clang++-20 clang++-19 clang++-18 clang++-17 clang++-16 \
    clang++-15 clang++-14; do
    if command -v "$heist_candidate" >/dev/null 2>&1 && heist_compiles "$heist_candidate" \
      '#include <concepts>\n#include <stop_token>\nint main() { std::stop_source s; return s.stop_requested(); }\n'; then
      heist_compiler=$heist_candidate
      if [ "$heist_candidate" != c++ ]; then
        CXX=$heist_candidate
        export CXX
      fi
      return 0
    fi
  done
  return 1
}

# heist_includes HEADER [FLAGS...]: true if the compiler finds it and links with the flags
heist_includes() {
  heist_header=$1
  shift
  [ -n "${heist_compiler:-}" ] &&
    heist_compiles "$heist_compiler" "#if !__has_include(<$heist_header>)\n#error\n#endif\nint main() {}\n" "$@"
}

heist_has() {
  case $1 in
    compiler) heist_find_compiler ;;
    cmake) cmake --version 2>/dev/null |
      awk '/^cmake version/ { split($3, v, "."); ok = v[1] > 3 || (v[1] == 3 && v[2] >= 25) } END { exit !ok }' ;;
    ninja) command -v ninja >/dev/null 2>&1 || command -v ninja-build >/dev/null 2>&1 ;;
    pkg-config) command -v pkg-config >/dev/null 2>&1 ;;
    hwloc) pkg-config --exists 'hwloc >= 2.0' 2>/dev/null ;;
    boost-context) heist_includes boost/context/fiber.hpp -lboost_context ;;
    fmt) heist_includes fmt/format.h -lfmt ;;
    cli11) heist_includes CLI/CLI.hpp ;;
    json) heist_includes nlohmann/json.hpp ;;
    png) heist_includes png.h -lpng ;;
    catch2) heist_includes catch2/catch_all.hpp || heist_includes catch2/catch.hpp ;;
    benchmark) heist_includes benchmark/benchmark.h -lbenchmark ;;
    tbb) heist_includes oneapi/tbb.h -ltbb ;;
    openmp) heist_includes omp.h -fopenmp ;;
    taskflow) heist_includes taskflow/taskflow.hpp ;;
    mpi) pkg-config --exists mpi-cxx 2>/dev/null || command -v mpicxx >/dev/null 2>&1 ;;
    mpich) pkg-config --exists mpich 2>/dev/null || command -v mpicxx.mpich >/dev/null 2>&1 ;;
    boost-serialization) heist_includes boost/archive/binary_oarchive.hpp -lboost_serialization ;;
    starpu) pkg-config --exists starpumpi-1.3 2>/dev/null ;;
    python) command -v python3 >/dev/null 2>&1 ;;
    clang) command -v clang++ >/dev/null 2>&1 && heist_compiles clang++ 'int main() {}\n' ;;
    clang-runtime) command -v clang++ >/dev/null 2>&1 && heist_compiles clang++ 'int main() {}\n' -fsanitize=address ;;
    *) command -v "$1" >/dev/null 2>&1 ;;
  esac
}

# heist_find_missing KEY...: the keys that are missing, in heist_missing
heist_find_missing() {
  heist_missing=
  for heist_key; do
    heist_has "$heist_key" || heist_missing="$heist_missing $heist_key"
  done
}

# heist_names COLUMN KEY...: what a system calls them
heist_names() {
  heist_column=$1
  shift
  for heist_key; do
    printf '%s\n' "$heist_package_table" | awk -v key="$heist_key" -v column="$heist_column" '$1 == key { print $column }'
  done | sort -u | tr '\n' ' '
}

heist_say_what_to_install() {
  echo "Missing here:$heist_missing" >&2
  echo "  Debian 12, Ubuntu 24.04 or newer:  apt-get install -y $(heist_names 2 $heist_missing)" >&2
  echo "  Fedora:                            dnf install $(heist_names 3 $heist_missing)" >&2
  echo "  Arch:                              pacman -S --needed $(heist_names 4 $heist_missing)" >&2
  echo "  Homebrew on Linux:                 brew install $(heist_names 5 $heist_missing)" >&2
  echo "Needed are CMake 3.25, GCC 12 or Clang 14, hwloc 2, or newer. Libraries in a place of their own:" >&2
  echo "set CMAKE_PREFIX_PATH and HEIST_SKIP_PACKAGES=1." >&2
}

# heist_apt ARGS...: apt-get with patience, quiet unless it fails
heist_apt() {
  heist_log=$(mktemp)
  for heist_attempt in 1 2 3; do
    if $heist_as_root env DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::Retries=3 -o DPkg::Lock::Timeout=120 \
      -o Dpkg::Use-Pty=0 -y "$@" >"$heist_log" 2>&1 </dev/null; then
      rm -f "$heist_log"
      return 0
    fi
    echo "apt-get $1 did not succeed (attempt $heist_attempt of 3)" >&2
    sleep $((heist_attempt * 3))
  done
  tail -n 20 "$heist_log" >&2
  rm -f "$heist_log"
  return 1
}

heist_need() {
  [ "${HEIST_SKIP_PACKAGES:-0}" != 1 ] || return 0
  heist_find_missing "$@"
  [ -n "$heist_missing" ] || return 0

  heist_as_root=
  if ! command -v apt-get >/dev/null 2>&1; then
    heist_say_what_to_install
    exit 1
  elif [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null 2>&1; then
      echo "apt-get is here, but it needs root and there is no sudo." >&2
      heist_say_what_to_install
      exit 1
    fi
    heist_as_root=sudo
    sudo -v || { heist_say_what_to_install; exit 1; }
  fi

  heist_packages=$(heist_names 2 $heist_missing)
  echo "Installing: $heist_packages"
  heist_apt update || echo "The package lists could not be refreshed; trying with those that are here." >&2
  heist_apt install --no-install-recommends $heist_packages || true

  heist_find_missing "$@"
  if [ -n "$heist_missing" ]; then
    echo "apt-get could not provide everything." >&2
    heist_say_what_to_install
    exit 1
  fi
}

# Each key by itself: one that cannot be installed keeps no other from it. apt-get is not asked for packages that it does not know.
heist_want() {
  for heist_wanted; do
    [ "${HEIST_SKIP_PACKAGES:-0}" != 1 ] && ! heist_has "$heist_wanted" || continue
    if command -v apt-get >/dev/null 2>&1 && apt-cache show "$(heist_names 2 "$heist_wanted" | tr -d ' ')" >/dev/null 2>&1; then
      (heist_need "$heist_wanted") && continue
    fi
    echo "Without $heist_wanted, which is not installed. Packages: apt $(heist_names 2 "$heist_wanted"), dnf $(heist_names 3 "$heist_wanted")," \
      "pacman $(heist_names 4 "$heist_wanted"), brew $(heist_names 5 "$heist_wanted")"
  done
}
