// A message of one of several types, with a number that tells which.
#pragma once

#include <any>
#include <stdexcept>  // runtime_error
#include <type_traits>

namespace tbb::flow {

template <class Tag, class... Ts>
class tagged_msg {
 public:
  using tag_type = Tag;

  tagged_msg() = default;
  template <class T>
  requires(std::is_same_v<T, Ts> || ...) tagged_msg(Tag const& tag, T const& value) : tag_{tag}, value_{value} {}

  Tag tag() const { return tag_; }
  void set_tag(Tag const& tag) { tag_ = tag; }
  template <class T>
  bool is_a() const noexcept {
    return std::any_cast<T>(&value_) != nullptr;
  }
  /// Throws std::runtime_error if it is none.
  template <class T>
  T const& cast_to() const {
    T const* const value = std::any_cast<T>(&value_);
    if (value == nullptr) throw std::runtime_error{"tagged_msg: the value has another type"};
    return *value;
  }

 private:
  Tag tag_{};
  std::any value_;
};

template <class T, class Tag, class... Ts>
T const& cast_to(tagged_msg<Tag, Ts...> const& m) {
  return m.template cast_to<T>();
}
template <class T, class Tag, class... Ts>
bool is_a(tagged_msg<Tag, Ts...> const& m) {
  return m.template is_a<T>();
}

}  // namespace tbb::flow
