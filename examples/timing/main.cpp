// Static timing analysis of a gate-level circuit with heist: each gate is two tasks, and each dependency is an edge.
//
//     a --+
//         NAND2 --- n1 --+                 forward:   arrival(NAND2) -> arrival(INV) -> ...
//     b --+              INV --- out       backward:  required(INV) -> required(NAND2) -> ...
#include <heist/heist.hpp>
#include <heist/observe.hpp>

#include "options.hpp"
#include "session.hpp"

#include <exception>
#include <new>  // bad_alloc

namespace {

template <class Idle>
void run_with(timing::session& session, heist::options const& wanted) {
  heist::executor<heist::policy::with_idle<heist::policy::random, Idle>> ex{wanted};
  session.run(ex);
}

void run(timing::options const& o) {
  timing::session session{o};
  heist::options const wanted{.workers = o.workers};
  if (o.trace.empty()) {
    if (o.idle == "adaptive") return run_with<heist::idle::adaptive>(session, wanted);
    if (o.idle == "balanced") return run_with<heist::idle::bws>(session, wanted);
    if (o.idle == "spinning") return run_with<heist::idle::spinning>(session, wanted);
    heist::executor<> ex{wanted};
    session.run(ex);
    return;
  }
  heist::executor<heist::policy::random, heist::recorder> ex{wanted};
  session.run(ex);
  ex.wait_idle();  // so that the last task's end is recorded too
  timing::write_file(o.trace, [&](auto& out) { heist::write_chrome_trace(out, ex.observer()); });
  std::size_t released = 0;
  for (std::size_t worker = 0; worker < ex.worker_count(); ++worker) released += ex.observer().released(worker);
  if (released != 0) fmt::print("trace        only the first events are in it, {} more did not fit\n", released);
  fmt::print("written      {}: open it in https://ui.perfetto.dev\n", o.trace);
}

}  // namespace

int main(int argc, char** argv) {
  constexpr std::size_t default_multiplier = 32;
  timing::options o;
  CLI::App app;
  timing::declare_options(app, o);
  try {
    app.parse(argc, argv);
  } catch (CLI::ParseError const& e) {
    return app.exit(e) == 0 ? 0 : 1;
  }
  try {
    if (o.file.empty() && o.multiplier == 0) {
      o.multiplier = default_multiplier;
      fmt::print("No netlist given: this is a {0} x {0} multiplier. --help shows what else there is.\n", o.multiplier);
    }
    run(o);
    return 0;
  } catch (std::bad_alloc const&) {
    fmt::print(stderr, "error: not enough memory for this circuit; take a smaller one or fewer --corners\n");
  } catch (std::exception const& e) {
    fmt::print(stderr, "error: {}\n", e.what());
  }
  return 1;
}
