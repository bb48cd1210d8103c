// Stands before the functions by which heist's headers read and write files, and answers perf_event_open from a
// made-up machine with counters. To be included by one file of a program, behind interposer.hpp.
#pragma once

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "faults/interposer.hpp"

namespace {

/// Standard streams of this program that are a site: told by the ends of their names.
struct watched_stream {
  std::string_view end_of_path;
  std::size_t site;
  bool written;
};
constexpr watched_stream watched_streams[] = {
    {"/proc/cpuinfo", site_of("processor files"), false},  {"/perf_event_paranoid", site_of("processor files"), false},
    {".trace.json", site_of("trace file"), true},          {".recording.json", site_of("recording written"), true},
    {".recording.json", site_of("recording read"), false},
};

constexpr int most_files = 1024;
std::atomic<std::uint8_t> stream_of_file[most_files];  ///< one more than its number in watched_streams
std::atomic<std::FILE*> broken_file{nullptr};          ///< fread() has failed

/// The errors of a file, one after the other.
int next_file_error() noexcept {
  static std::atomic<unsigned> turn{0};
  constexpr int errors[] = {EMFILE, EACCES, EIO, ENOENT};
  return errors[turn.fetch_add(1) % std::size(errors)];
}

HEIST_NO_TSAN watched_stream const* stream_of(int file) noexcept {
  if (file < 0 || file >= most_files || stream_of_file[file] == 0) return nullptr;
  return &watched_streams[stream_of_file[file] - 1];
}

/// A machine with counters: files that are files, answers that are made up.
struct counting_machine {
  bool exists = false;          ///< otherwise perf_event_open is the system's own
  int error = ENOENT;           ///< the error of a refused open
  bool maps = false;            ///< has a page for user mode to read
  perf_event_mmap_page page{};  ///< shows no counter, so user mode asks the kernel
  std::atomic<int> opened{0};   ///< files that are open
  std::atomic<int> mapped{0};   ///< pages that are mapped
  std::atomic<std::uint64_t> counted{0};
  std::array<std::atomic<int>, most_files> leader_of{};  ///< one more than the file that leads the group; 0: no counter
  std::array<std::atomic<int>, most_files> events_of{};  ///< the number of events in the group that a file leads
};
counting_machine counting;

HEIST_NO_TSAN bool is_counter(int file) noexcept {
  return file >= 0 && file < most_files && counting.leader_of[static_cast<std::size_t>(file)] != 0;
}

long open_counter(bool rejected, int leader) noexcept {
  if (!counting.exists) {
    static constinit heist_test::next_function<syscall_function> f{"syscall"};
    perf_event_attr none{};
    none.size = sizeof none;
    return rejected ? reject_with(counting.error) : f(SYS_perf_event_open, &none, 0, -1, -1, 0);
  }
  if (rejected) return reject_with(counting.error);
  int const file = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (file < 0 || file >= most_files) return reject_with(EMFILE);
  if (leader < 0) leader = file;
  ++counting.events_of[static_cast<std::size_t>(leader)];
  counting.leader_of[static_cast<std::size_t>(file)] = leader + 1;
  ++counting.opened;
  return file;
}
void* map_counter(int) noexcept {
  if (!counting.maps) return reject_with(EINVAL), MAP_FAILED;
  ++counting.mapped;
  return &counting.page;
}
bool unmap_counter(void* page) noexcept {
  if (page != &counting.page) return false;
  --counting.mapped;
  return true;
}

struct install_answers {
  install_answers() noexcept {
    answer_perf_open = &open_counter;
    answer_perf_map = &map_counter;
    answer_perf_unmap = &unmap_counter;
    reject_write = [](int file) {
      auto const* const stream = stream_of(file);
      return stream != nullptr && must_fail(stream->site);
    };
  }
} const answers_installed;

HEIST_NO_TSAN std::FILE* open_stream(std::FILE* (*open)(char const*, char const*), char const* path,
                                     char const* mode) noexcept {
  bool const writes = mode[0] != 'r';
  std::string_view const name{path};
  for (std::size_t i = 0; i != std::size(watched_streams); ++i) {
    auto const& s = watched_streams[i];
    if (s.written != writes || !name.ends_with(s.end_of_path)) continue;
    if (must_fail(s.site)) return errno = next_file_error(), nullptr;
    std::FILE* const file = open(path, mode);
    if (file != nullptr && ::fileno(file) < most_files) {
      stream_of_file[::fileno(file)] = static_cast<std::uint8_t>(i + 1);
    }
    return file;
  }
  return open(path, mode);
}

}  // namespace

extern "C" {

/// The standard library's streams call this function.
HEIST_NOINLINE HEIST_NO_TSAN std::FILE* fopen64(char const* path, char const* mode) {
  static constinit heist_test::next_function<std::FILE*(char const*, char const*)> f{"fopen64"};
  return open_stream(f, path, mode);
}

HEIST_NOINLINE HEIST_NO_TSAN std::FILE* fopen(char const* path, char const* mode) {
  static constinit heist_test::next_function<std::FILE*(char const*, char const*)> f{"fopen"};
  if (!ours(__builtin_return_address(0))) return open_stream(f, path, mode);
  if (std::strcmp(mode, "re") == 0 && must_fail(site_of("file open"))) return errno = next_file_error(), nullptr;
  return f(path, mode);
}

HEIST_NOINLINE HEIST_NO_TSAN std::size_t fread(void* to, std::size_t size, std::size_t n, std::FILE* file) {
  static constinit heist_test::next_function<std::size_t(void*, std::size_t, std::size_t, std::FILE*)> f{"fread"};
  if (ours(__builtin_return_address(0)) && must_fail(site_of("file read"))) {
    broken_file = file;
    errno = EIO;
    return 0;
  }
  return f(to, size, n, file);
}

HEIST_NOINLINE HEIST_NO_TSAN int ferror(std::FILE* file) noexcept {
  static constinit heist_test::next_function<int(std::FILE*)> f{"ferror"};
  return broken_file == file ? 1 : f(file);
}

HEIST_NOINLINE HEIST_NO_TSAN int fclose(std::FILE* file) {
  static constinit heist_test::next_function<int(std::FILE*)> f{"fclose"};
  if (broken_file == file) broken_file = nullptr;
  int const number = ::fileno(file);
  auto const* const stream = stream_of(number);
  if (number >= 0 && number < most_files) stream_of_file[number] = 0;
  int const result = f(file);
  // On network file systems the data is written when the file is closed.
  if (stream != nullptr && stream->written && must_fail(stream->site)) return reject_with(ENOSPC);
  return result;
}

HEIST_NOINLINE HEIST_NO_TSAN ssize_t read(int file, void* to, std::size_t bytes) {
  static constinit heist_test::next_function<ssize_t(int, void*, std::size_t)> f{"read"};
  if (auto const* const stream = stream_of(file); stream != nullptr && must_fail(stream->site)) {
    return reject_with(EIO);
  }
  if (is_counter(file)) {
    bool const fails = must_fail(site_of("perf read"));
    static std::atomic<unsigned> turn{0};
    switch (fails ? turn.fetch_add(1) % 4 : 4) {
      case 0:
        return 0;  // a pinned group that got no counters
      case 1:
        return reject_with(EINTR);
      case 2:
        bytes -= 8;  // one value less
        break;
      case 3:
        std::memset(to, 0, bytes);  // says that the group has no events
        return static_cast<ssize_t>(bytes);
      default:
        break;
    }
    std::uint64_t values[16] = {};
    values[0] = static_cast<std::uint64_t>(counting.events_of[static_cast<std::size_t>(file)].load());
    std::uint64_t const counted = counting.counted += 100;
    for (std::size_t i = 1; i != 16; ++i) values[i] = counted + i;
    std::memcpy(to, values, bytes < sizeof values ? bytes : sizeof values);
    return static_cast<ssize_t>(bytes);
  }
  return f(file, to, bytes);
}

HEIST_NOINLINE HEIST_NO_TSAN ssize_t writev(int file, iovec const* parts, int n) {
  static constinit heist_test::next_function<ssize_t(int, iovec const*, int)> f{"writev"};
  if (auto const* const stream = stream_of(file); stream != nullptr && must_fail(stream->site)) {
    return reject_with(ENOSPC);
  }
  return f(file, parts, n);
}

HEIST_NOINLINE HEIST_NO_TSAN int close(int file) {
  static constinit heist_test::next_function<int(int)> f{"close"};
  if (is_counter(file)) {
    auto const leader = static_cast<std::size_t>(counting.leader_of[static_cast<std::size_t>(file)].exchange(0) - 1);
    --counting.events_of[leader];
    --counting.opened;
    f(file);
    return must_fail(site_of("perf close")) ? reject_with(EINTR) : 0;
  }
  return f(file);
}

}  // extern "C"
