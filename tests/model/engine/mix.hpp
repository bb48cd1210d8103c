// Numbers that stand for contents: different ones for different contents, for all practical purposes (64 bits; a search
// compares some millions of them).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace model {

inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) noexcept {
  __extension__ using wide = unsigned __int128;
  wide const product =
      static_cast<wide>(a ^ 0x9E3779B97F4A7C15u) * (b ^ 0xD6E8FEB86659FD93u) + (a ^ 0x2545F4914F6CDD1Du);
  std::uint64_t const folded = static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  return (folded ^ (folded >> 29)) * 0xBF58476D1CE4E5B9u;
}

/// Of some bytes: a multiple of 8.
inline std::uint64_t mix_bytes(std::uint64_t seed, void const* bytes, std::size_t size) noexcept {
  auto const* const from = static_cast<unsigned char const*>(bytes);
  std::uint64_t lanes[2] = {seed, seed ^ size};
  std::size_t at = 0;
  for (; at + 32 <= size; at += 32) {
    std::uint64_t words[4];
    std::memcpy(words, from + at, sizeof words);
    lanes[0] = mix(lanes[0] ^ words[0], words[1]);
    lanes[1] = mix(lanes[1] ^ words[2], words[3]);
  }
  for (; at < size; at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, from + at, sizeof word);
    lanes[0] = mix(lanes[0], word);
  }
  return mix(lanes[0], lanes[1]);
}

}  // namespace model
