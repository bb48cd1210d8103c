// What async_node gives to its body.
#pragma once

namespace tbb::flow {

/// The way back into a graph for work that another thread does. Threads: any.
template <class Output>
class receiver_gateway {
 public:
  using input_type = Output;

  receiver_gateway() = default;
  receiver_gateway(receiver_gateway const&) = default;
  receiver_gateway& operator=(receiver_gateway const&) = default;
  virtual ~receiver_gateway() = default;
  /// The graph has not ended until release_wait().
  virtual void reserve_wait() = 0;
  virtual void release_wait() = 0;
  /// Gives the node's successors a message. False: none took it.
  virtual bool try_put(Output const& message) = 0;
};

}  // namespace tbb::flow
