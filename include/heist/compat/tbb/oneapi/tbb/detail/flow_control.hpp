// What a body that makes values uses to say that there are no more.
#pragma once

namespace tbb {

namespace detail {
struct flow_control_access;
}

/// Of the first filter of a pipeline, and of an input_node.
class flow_control {
 public:
  void stop() noexcept { is_stopped_ = true; }

 private:
  friend struct detail::flow_control_access;
  bool is_stopped_ = false;
};

namespace detail {
struct flow_control_access {
  static bool is_stopped(flow_control const& c) noexcept { return c.is_stopped_; }
};
}  // namespace detail

}  // namespace tbb
