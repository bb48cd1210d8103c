// Readers with bugs that are often made, and a sound one. All read "4:abcd", a length and as many characters.
#include <charconv>  // from_chars
#include <cstdlib>   // abort
#include <vector>

#include "all_targets.hpp"

namespace fuzz {
namespace {

struct error_text : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct header {
  std::size_t length = 0;
  std::string_view rest;
};
header header_of(std::string_view input) {
  std::size_t length = 0;
  auto const [end, error] = std::from_chars(input.data(), input.data() + input.size(), length);
  auto const at = static_cast<std::size_t>(end - input.data());
  if (error != std::errc{} || at == input.size() || *end != ':') throw error_text("no length and colon stand there");
  return {length, input.substr(at + 1)};
}
std::string body_of(header const& h) {
  if (h.length != h.rest.size()) throw error_text("the length is not that of what follows");
  return std::string(h.rest);
}
std::string written(std::string_view body) {
  return std::to_string(body.size()) + ':' + std::string(body);
}

template <class Read>
outcome checked(std::string_view input, Read read) {
  auto const body = attempt<error_text>(input.size(), {4096, 8}, [&] { return std::string(read(header_of(input))); });
  if (!body) return {};
  require(body_of(header_of(written(*body))) == input.substr(input.find(':') + 1), "the text changes");
  return {true, 1};
}

outcome sound(std::string_view input) {
  return checked(input, [](header h) { return body_of(h); });
}
outcome trusts_length(std::string_view input) {
  return checked(input, [](header h) {
    std::string body(h.length % (std::size_t{1} << 32), ' ');
    return body = body_of(h);
  });
}
outcome reads_beyond(std::string_view input) {
  return checked(input, [](header h) {
    std::vector<char> const copy(h.rest.begin(), h.rest.end());
    std::string body;
    for (std::size_t i = 0; i < h.length && i < 1000; ++i) body += copy[i];
    return body == h.rest ? body : body_of(h);
  });
}
outcome throws_another(std::string_view input) {
  return checked(input, [](header h) {
    if (h.length != 0) static_cast<void>(h.rest.at(h.length - 1));
    return body_of(h);
  });
}
outcome loses_text(std::string_view input) {
  return checked(input, [](header h) {
    auto body = body_of(h);
    return body.substr(0, body.find('0'));
  });
}
outcome hangs(std::string_view input) {
  return checked(input, [](header h) {
    auto body = body_of(h);
    std::size_t volatile left = body.find("::") != std::string::npos ? 1 : 0;
    while (left != 0) left = left + 1 < 2 ? 2 : left;
    return body;
  });
}
outcome aborts(std::string_view input) {
  return checked(input, [](header h) {
    if (h.length == h.rest.size() + 1) std::abort();
    return body_of(h);
  });
}
std::size_t depth_of(std::size_t left) {
  std::size_t volatile frame[64] = {left};
  return left == 0 ? frame[0] : depth_of(left - 1) + frame[0];
}
outcome recurses(std::string_view input) {
  return checked(input, [](header h) {
    if (h.length > 1000000) static_cast<void>(depth_of(h.length));
    return body_of(h);
  });
}
outcome says_nothing(std::string_view input) {
  return checked(input, [](header h) {
    if (h.length > h.rest.size()) throw error_text("");
    return body_of(h);
  });
}
outcome quotes_the_file(std::string_view input) {
  return checked(input, [](header h) {
    if (h.length > h.rest.size()) throw error_text("too short: " + std::string(h.rest));
    return body_of(h);
  });
}

}  // namespace

std::span<planted const> planted_targets() {
  constexpr std::size_t longest = 64;
  constexpr std::uint64_t inputs = 20000;
  static constexpr planted all[] = {
      {{"sound", longest, inputs, true, sound}, nullptr},
      {{"trusts_length", longest, inputs, true, trusts_length}, "out of proportion"},
      {{"reads_beyond", longest, inputs, true, reads_beyond}, "crash"},
      {{"throws_another", longest, inputs, true, throws_another}, "out_of_range"},
      {{"loses_text", longest, inputs, true, loses_text}, "the text changes"},
      {{"hangs", longest, inputs, true, hangs}, "does not end"},
      {{"aborts", longest, inputs, true, aborts}, "crash"},
      {{"recurses", longest, inputs, true, recurses}, "crash"},
      {{"says_nothing", longest, inputs, true, says_nothing}, "says nothing"},
      {{"quotes_the_file", longest, inputs, true, quotes_the_file}, "a refusal"},
  };
  return all;
}

}  // namespace fuzz
