// Rows of problems that an executor runs: loops, sorts, programs that read and write much memory.
#pragma once

#include <cstddef>  // size_t
#include <string>
#include <utility>  // move
#include <vector>

#include "executors.hpp"
#include "measuring.hpp"

namespace measure {

/// A problem has size(), prepare(), serial(), parallel(executor) and check(). It may have bytes(): a run reads and writes
/// so many bytes at least. It may have threads(n), which runs it on n plain threads and returns seconds.
/// `make(is_tiny)` returns one.
template <class Make>
row problem_row_of(std::string group, std::string name, std::string what, Make make) {
  return {"scaling", std::move(group), std::move(name), std::move(what), [make](request const& o) {
            auto p = make(o.tiny);
            executors<> all{o.workers};
            auto const check = [&p] { return p.check(); };
            std::vector<variant> variants{{"serial", 1,
                                           [&p] {
                                             p.prepare();
                                             return seconds_of([&p] { p.serial(); });
                                           },
                                           check}};
            all.for_each([&](auto& ex, std::size_t workers) {
              variants.push_back({"heist", workers,
                                  [&p, &ex] {
                                    p.prepare();
                                    return seconds_of([&] { p.parallel(ex); });
                                  },
                                  check});
              if constexpr (requires { p.threads(workers); }) {
                variants.push_back({"threads", workers,
                                    [&p, workers] {
                                      p.prepare();
                                      return p.threads(workers);
                                    },
                                    check});
              }
            });
            nlohmann::json result{{"figures", alternate(variants, o)}, {"size", p.size()}};
            if constexpr (requires { p.bytes(); }) result["bytes"] = p.bytes();
            return result;
          }};
}

/// The problem P{is_tiny}.
template <class P>
row problem_row(std::string group, std::string name, std::string what) {
  return problem_row_of(std::move(group), std::move(name), std::move(what), [](bool is_tiny) { return P{is_tiny}; });
}

}  // namespace measure
