// The steps of a thread of a harness, one letter a step, as an argument of a template.
#pragma once

#include <array>
#include <cstddef>

namespace model {

template <std::size_t N>
struct script {
  std::array<char, N> text;
  constexpr script(char const (&t)[N]) {
    for (std::size_t i = 0; i < N; ++i) text[i] = t[i];
  }
};

}  // namespace model
