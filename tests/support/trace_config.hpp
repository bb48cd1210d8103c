// The conditions of the trace event format for a trace
// (https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU), as far as heist writes it.
#pragma once

#include <algorithm>  // sort
#include <cmath>      // llround
#include <cstddef>    // size_t
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>  // pair
#include <vector>

namespace heist_test {

/// A sentence for each rule that an event of `trace` breaks.
class trace_config {
 public:
  static std::vector<std::string> broken(nlohmann::json const& trace) {
    trace_config config;
    if (!trace.is_array()) return {"it is no array"};
    for (auto const& e : trace) config.look_at(e);
    config.look_at_rows();
    config.look_at_flows();
    return config.broken_;
  }

 private:
  using json = nlohmann::json;
  struct flow {
    std::vector<json> starts, ends;
  };

  static std::int64_t ns(json const& microseconds) { return std::llround(microseconds.get<double>() * 1000); }
  void wrong(char const* what, json const& e) { broken_.push_back(what + (": " + e.dump())); }

  void look_at(json const& e) {
    std::string const phase = e.at("ph");
    if (e.at("pid") != 1 || !e.at("tid").is_number_unsigned() || !e.at("name").is_string()) wrong("pid, tid, name", e);
    if (phase == "M") {
      if (e.at("name") == "thread_name") named_.push_back(e.at("tid"));
      if (e.contains("ts") || !e.at("args").is_object()) wrong("metadata", e);
      return;
    }
    if (!e.at("ts").is_number() || ns(e.at("ts")) < 0) return wrong("no time", e);
    if (phase == "X") {
      rows_[e.at("tid")].push_back(e);
      if (ns(e.at("dur")) < 0) wrong("a negative duration", e);
    } else if (phase == "i") {
      if (e.at("s") != "t") wrong("an instant of no thread", e);
    } else if (phase == "s") {
      flows_[e.at("id")].starts.push_back(e);
    } else if (phase == "f") {
      flows_[e.at("id")].ends.push_back(e);
    } else if (phase == "b" || phase == "e") {
      look_at_box(e, phase == "b");
    } else if (phase == "C") {
      look_at_counter(e);
    } else {
      wrong("an unknown phase", e);
    }
  }

  /// Boxes of one id follow each other; the last may be open at the end of the recording.
  void look_at_box(json const& e, bool begins) {
    bool& open = boxes_[e.at("id")];
    if (open == begins) wrong(begins ? "a box begins in itself" : "a box ends that has not begun", e);
    open = begins;
  }

  /// Counters go on in time.
  void look_at_counter(json const& e) {
    for (auto const& [series, value] : e.at("args").items()) {
      auto const [at, is_first] = counters_.try_emplace(e.at("name").get<std::string>() + series, ns(e.at("ts")));
      if (!is_first && at->second > ns(e.at("ts"))) wrong("a counter goes back in time", e);
      at->second = ns(e.at("ts"));
      if (value.get<double>() < 0 || value.get<double>() > static_cast<double>(named_.size()))
        wrong("no such count", e);
    }
  }

  /// On each row, two slices are apart or one is inside the other.
  void look_at_rows() {
    for (auto& [row, slices] : rows_) {
      if (std::find(named_.begin(), named_.end(), row) == named_.end()) broken_.push_back("a row without a name");
      auto const end = [](json const& s) { return ns(s.at("ts")) + ns(s.at("dur")); };
      std::stable_sort(slices.begin(), slices.end(), [&](json const& a, json const& b) {
        return ns(a.at("ts")) != ns(b.at("ts")) ? ns(a.at("ts")) < ns(b.at("ts")) : end(a) > end(b);
      });
      std::vector<std::int64_t> open;
      for (auto const& s : slices) {
        while (!open.empty() && open.back() <= ns(s.at("ts"))) open.pop_back();
        if (!open.empty() && end(s) > open.back()) wrong("slices overlap", s);
        open.push_back(end(s));
      }
    }
  }

  /// Each arrow has one start and one end, of the same name, forwards in time. Both stand at a slice, but the victim of
  /// a steal may have been between two tasks.
  void look_at_flows() {
    for (auto const& [id, f] : flows_) {
      if (f.starts.size() != 1 || f.ends.size() != 1) {
        broken_.push_back("arrow " + std::to_string(id) + " has no two ends");
        continue;
      }
      json const &from = f.starts.front(), &to = f.ends.front();
      if (from.at("name") != to.at("name") || from.at("cat") != to.at("cat")) wrong("an arrow with two names", to);
      if (ns(from.at("ts")) > ns(to.at("ts"))) wrong("an arrow back in time", to);
      if (from.at("name") != "steal" && !has_slice(from)) wrong("an arrow from nothing", from);
      if (from.at("name") != "steal" && !begins_later(to)) wrong("an arrow to nothing", to);
    }
  }
  bool has_slice(json const& at) {
    for (auto const& s : rows_[at.at("tid")]) {
      if (ns(s.at("ts")) <= ns(at.at("ts")) && ns(at.at("ts")) <= ns(s.at("ts")) + ns(s.at("dur"))) return true;
    }
    return false;
  }
  bool begins_later(json const& at) {
    for (auto const& s : rows_[at.at("tid")]) {
      if (ns(s.at("ts")) >= ns(at.at("ts"))) return true;
    }
    return false;
  }

  std::vector<std::size_t> named_;
  std::map<std::size_t, std::vector<json>> rows_;
  std::map<std::size_t, flow> flows_;
  std::map<std::string, bool> boxes_;
  std::map<std::string, std::int64_t> counters_;
  std::vector<std::string> broken_;
};

}  // namespace heist_test
