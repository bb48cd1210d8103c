// One file of a saved graph: a head that says whose value it has, then the value. Every change of a file is noticed.
#pragma once

#include <bit>  // rotl
#include <cstddef>
#include <cstdint>
#include <cstdio>   // rename
#include <cstring>  // memcpy
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>  // move

#include "heist/distributed/bytes.hpp"

namespace heist::distributed {

/// The checksum of some bytes. Each step is a bijection of the sum and of the word, so a change within one word always
/// changes the result.
inline std::uint64_t checksum_of(char const* from, std::size_t size) noexcept {
  std::uint64_t sum = 0x9e3779b97f4a7c15u ^ size;
  for (std::size_t at = 0; at < size; at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, from + at, size - at < sizeof word ? size - at : sizeof word);
    sum = std::rotl((sum ^ word) * 0xff51afd7ed558ccdu, 29);
  }
  return sum ^ sum >> 32;
}

/// The head of a file.
struct saved_head {
  static constexpr char current_format = '3';  ///< the last byte of `magic`

  std::uint64_t magic = 0x0073657661735468u | std::uint64_t{static_cast<unsigned char>(current_format)} << 56;
  std::uint64_t form = 0;     ///< form of the graph: types and edges
  std::uint64_t edition = 0;  ///< the save() that the file belongs to; a later one has a larger number
  std::uint32_t run = 0;      ///< of that edition, from 1; 0: the file that says which graph it is
  std::uint32_t task = 0;
  std::uint64_t size = 0;       ///< of the value
  std::uint64_t value_sum = 0;  ///< checksum of the value
  std::uint64_t head_sum = 0;   ///< checksum of all members before this one

  std::uint64_t sum() const noexcept {
    return checksum_of(reinterpret_cast<char const*>(this), sizeof *this - sizeof head_sum);
  }
};
static_assert(sizeof(saved_head) == 7 * sizeof(std::uint64_t));

/// A file as it was found. If it is neither damaged nor present, there is no such file.
struct saved_file {
  saved_head head;
  bool is_present = false;
  std::string damage;  ///< a phrase after the file's name: why the file cannot be taken; empty: it can

  bool is_whole() const noexcept { return is_present && damage.empty(); }

  /// Reads the head of a file, and the value if `value` is not null. `task`: the task that the file is named after.
  static saved_file look(std::string const& path, std::uint32_t task, bytes* value = nullptr) {
    saved_file found;
    std::error_code error;
    auto const kind = std::filesystem::status(path, error).type();
    if (kind == std::filesystem::file_type::not_found) return found;
    found.is_present = true;
    std::uint64_t const size =
        kind == std::filesystem::file_type::regular ? std::filesystem::file_size(path, error) : 0;
    std::ifstream in{path, std::ios::binary};
    if (error || kind != std::filesystem::file_type::regular || !in) {
      found.damage = "cannot be read, or is no file";
      return found;
    }
    found.damage = found.read_from(in, size, task, value);
    return found;
  }

  /// Writes under another name first, so a process that is killed leaves no half of a file. Returns what could not be
  /// done, as "cannot write FILE"; empty: the file is there.
  static std::string write(std::string const& path, saved_head head, bytes const& value) {
    std::string const begun = path + ".new";
    head.size = value.size();
    head.value_sum = checksum_of(value.data(), value.size());
    head.head_sum = head.sum();
    std::ofstream out{begun, std::ios::binary};
    out.write(reinterpret_cast<char const*>(&head), sizeof head);
    if (!value.empty()) out.write(value.data(), static_cast<std::streamsize>(value.size()));
    out.close();
    if (!out) return "cannot write " + begun;
    if (std::rename(begun.c_str(), path.c_str()) != 0) return "cannot rename " + begun;
    return {};
  }

 private:
  std::string read_from(std::ifstream& in, std::uint64_t size, std::uint32_t task, bytes* value) {
    saved_head const expected;
    auto const sizes = [size](std::uint64_t wanted) {
      return " (" + std::to_string(size) + " of " + std::to_string(wanted) + " bytes)";
    };
    if (size < sizeof head) return "is shorter than its head" + sizes(sizeof head);
    in.read(reinterpret_cast<char*>(&head), sizeof head);
    if (!in) return "cannot be read, or is no file";
    if ((head.magic ^ expected.magic) << 8 != 0) return "is no value that heist has saved";
    if (head.magic != expected.magic) {
      return std::string{"has a format that this version of heist does not read (this one reads format "} +
             saved_head::current_format + ")";
    }
    if (head.head_sum != head.sum()) return "has changed since it was written: the checksum of its head is another";
    if (size != sizeof head + head.size)
      return (size < sizeof head + head.size ? "is shorter than" : "is longer than") + std::string{" it says"} +
             sizes(sizeof head + head.size);
    if (head.task != task) return "has the value of task #" + std::to_string(head.task) + ", not of its own";
    if (value == nullptr) return {};
    bytes read{static_cast<std::size_t>(head.size)};
    if (!read.empty()) in.read(read.data(), static_cast<std::streamsize>(read.size()));
    if (!in) return "cannot be read, or is no file";
    if (head.value_sum != checksum_of(read.data(), read.size()))
      return "has changed since it was written: the checksum of its value is another";
    *value = std::move(read);
    return {};
  }
};

/// A file that lists the tasks whose values were written, with their editions.
struct saved_list {
  /// False if it cannot.
  static bool add(std::filesystem::path const& file, std::uint64_t edition, std::uint32_t task) {
    std::ofstream out{file, std::ios::app | std::ios::binary};
    out << std::to_string(edition) + ' ' + std::to_string(task) + '\n';
    out.close();
    return out.good();
  }
  template <class F>
  static void read(std::filesystem::path const& file, F take) {
    std::ifstream in{file, std::ios::binary};
    for (std::string line; std::getline(in, line) && !in.eof();) {  // a last line without an end is not whole
      std::uint64_t edition = 0, task = 0;
      if (std::istringstream{line} >> edition >> task) take(edition, task);
    }
  }
};

}  // namespace heist::distributed
