// The examples and the words of a target: corpus/<target>/ and dictionaries/<target>.dict, in libFuzzer's format.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fuzz {

/// A file whose name begins with ok_ must be accepted, one with no_ refused.
struct example {
  std::string name, text;
};

/// In order of their names. Throws runtime_error if there are none.
std::vector<example> examples_of(std::string const& folder, std::string_view target);

/// None if there is no such file. Throws runtime_error for a line that is neither comment nor word.
std::vector<std::string> words_of(std::string const& folder, std::string_view target);

/// Throws runtime_error if it cannot be read.
std::string text_of(std::string const& path);

}  // namespace fuzz
