// What a thread of a harness does, as text that is an argument of a template: a letter a step.
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
