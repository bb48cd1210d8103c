// Bodies of nodes: kept as a first copy, which a reset restores, and a current one, which is called.
#pragma once

#include <functional>  // invoke
#include <memory>      // make_unique, unique_ptr
#include <type_traits>
#include <typeinfo>  // bad_cast
#include <utility>   // forward

#include "heist/compat/tbb/oneapi/tbb/flow/policies.hpp"

namespace tbb::flow {

namespace detail {

template <class Signature>
class node_body;

template <class R, class... A>
class node_body<R(A...)> {
 public:
  template <class B>
  explicit node_body(B const& b) : first_{std::make_unique<kept<B>>(b)}, now_{first_->copy()} {}
  /// A copy of `other`'s first copy.
  node_body(node_body const& other) : first_{other.first_->copy()}, now_{first_->copy()} {}
  node_body& operator=(node_body const&) = delete;

  R operator()(A... a) { return now_->call(std::forward<A>(a)...); }
  void reset() { now_ = first_->copy(); }
  /// Throws std::bad_cast if it is no B.
  template <class B>
  B current() const {
    return dynamic_cast<kept<B> const&>(*now_).b;
  }
  /// May a call not throw?
  template <class B>
  static constexpr bool is_safe = std::is_nothrow_invocable_v<B&, A...>;

 private:
  struct any {
    virtual ~any() = default;
    virtual R call(A... a) = 0;
    virtual std::unique_ptr<any> copy() const = 0;
  };
  template <class B>
  struct kept final : any {
    explicit kept(B const& body) : b(body) {}
    R call(A... a) override {
      if constexpr (std::is_same_v<R, continue_msg>) {
        std::invoke(b, std::forward<A>(a)...);  // the result has no meaning
        return continue_msg{};
      } else if constexpr (std::is_void_v<R>) {
        std::invoke(b, std::forward<A>(a)...);
      } else {
        return std::invoke(b, std::forward<A>(a)...);
      }
    }
    std::unique_ptr<any> copy() const override { return std::make_unique<kept>(b); }
    B b;
  };

  std::unique_ptr<any> first_, now_;
};

struct body_access {
  template <class Body, class Node>
  static Body current(Node& n) {
    return n.body_.template current<Body>();
  }
};

/// The types of a callable's result and of its first argument.
template <class R, class A>
struct call_types {
  using result = R;
  using input = std::decay_t<A>;
};

/// Of a body, for deduction guides. Forms with more than two arguments do not count, if it has several.
template <class R, class A>
call_types<R, A> types_of(R (*)(A));
template <class R, class A, class B>
call_types<R, A> types_of(R (*)(A, B));
template <class R, class C>
call_types<R, C> types_of(R (C::*)());
template <class R, class C>
call_types<R, C> types_of(R (C::*)() const);
template <class T, class C>
requires(!std::is_function_v<T>) call_types<T, C> types_of(T C::*);

/// Of the operator () of a body.
template <class R, class C, class A>
call_types<R, A> types_of_operator(R (C::*)(A));
template <class R, class C, class A>
call_types<R, A> types_of_operator(R (C::*)(A) const);
template <class R, class C, class A>
call_types<R, A> types_of_operator(R (C::*)(A) &);
template <class R, class C, class A>
call_types<R, A> types_of_operator(R (C::*)(A) const&);
template <class R, class C, class A, class B>
call_types<R, A> types_of_operator(R (C::*)(A, B));
template <class R, class C, class A, class B>
call_types<R, A> types_of_operator(R (C::*)(A, B) const);
template <class R, class C, class A, class B>
call_types<R, A> types_of_operator(R (C::*)(A, B) &);
template <class R, class C, class A, class B>
call_types<R, A> types_of_operator(R (C::*)(A, B) const&);

template <class F>
struct call_traits {};
template <class F>
requires requires(F f) {
  types_of(f);
}
struct call_traits<F> : decltype(types_of(std::declval<F>())) {};
template <class F>
requires requires {
  types_of_operator(&F::operator());
}
struct call_traits<F> : decltype(types_of_operator(&F::operator())) {};

template <class Body>
using input_of = typename call_traits<Body>::input;
/// Of a body that returns nothing: continue_msg.
template <class Body>
using output_of = std::conditional_t<std::is_void_v<typename call_traits<Body>::result>, continue_msg,
                                     std::decay_t<typename call_traits<Body>::result>>;

}  // namespace detail

/// A copy of the node's body as it is now.
template <class Body, class Node>
Body copy_body(Node& n) {
  return detail::body_access::current<Body>(n);
}

}  // namespace tbb::flow
