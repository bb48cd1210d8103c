// The same targets for libFuzzer: <program> --target=NAME [libFuzzer's flags and corpus folders].
#include <cstdio>
#include <cstdlib>  // exit
#include <cstring>  // strncmp

#include "all_targets.hpp"

namespace {

fuzz::target const* chosen = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  std::string_view name;
  for (int i = 1; i < *argc; ++i)
    if (std::strncmp((*argv)[i], "--target=", 9) == 0) name = (*argv)[i] + 9;
  for (auto const* t : fuzz::all_targets())
    if (t->name == name) chosen = t;
  for (auto const& p : fuzz::planted_targets())
    if (p.reader.name == name) chosen = &p.reader;
  if (chosen == nullptr) {
    std::fprintf(stderr, "give --target=NAME, one of:");
    for (auto const* t : fuzz::all_targets()) std::fprintf(stderr, " %s", std::string(t->name).c_str());
    std::fprintf(stderr, "\n");
    std::exit(2);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  chosen->run({reinterpret_cast<char const*>(data), size});
  return 0;
}
