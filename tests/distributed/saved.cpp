// Tests the files of a saved graph on processes: each damage is named with its file, and a folder is found again under
// any name.
//   mpirun -n 2 saved FOLDER
#include "heist/distributed.hpp"
//
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "heist/executor.hpp"

namespace {

namespace fs = std::filesystem;

/// A value whose size on its way the program may change.
struct elastic {
  int x = 0;
};
int elastic_extra = 0;

}  // namespace

template <>
struct heist::wire<elastic> {
  static void pack(heist::distributed::writer& to, elastic const& e) {
    to.write(&e.x, sizeof e.x);
    for (int i = 0; i < elastic_extra; ++i) to.write(&e.x, sizeof e.x);
  }
  static elastic unpack(heist::distributed::reader& from) {
    elastic e;
    from.read(&e.x, sizeof e.x);
    return e;
  }
};

namespace {

using row = std::vector<int>;
constexpr int tasks = 6;

struct outcome {
  std::string text;  ///< text of the exception; empty: none
  long sum = -1;     ///< on rank 0
  int ran = 0;       ///< tasks of all ranks
};

class tester {
 public:
  tester(heist::world& world, fs::path base) : world_{world}, base_{std::move(base)} {
    on_first([&] {
      fs::remove_all(base_);
      fs::create_directories(base_);
    });
  }

  void all() {
    good_ = play({}, whole().string());
    check(good_.text.empty() && good_.ran == tasks, "the first program runs all tasks");
    check(world_.rank() != 0 || good_.sum > 0, "the first program has a sum");
    outcome const again = play(whole().string(), {});
    check(again.text.empty() && again.sum == good_.sum && again.ran == 1, "only the last task runs again");
    changed_bytes("graph");
    changed_bytes("task-5");
    other_lengths("graph");
    other_lengths("task-5");
    wrong_places();
    other_graphs();
    spellings();
  }

 private:
  fs::path whole() const { return base_ / "whole"; }
  fs::path hurt() const { return base_ / "hurt"; }

  /// Collective: rank 0 changes files, the other ranks wait.
  void on_first(std::function<void()> const& f) {
    world_.barrier();
    if (world_.rank() == 0) f();
    world_.barrier();
  }
  void check(bool holds, std::string const& what) const {
    if (holds) return;
    std::fprintf(stderr, "not so on rank %d: %s\n", world_.rank(), what.c_str());
    std::abort();
  }

  /// One program: a chain of tasks over the ranks. All but the last are saved. Ends at task `fails_at`.
  outcome play(std::string const& restart, std::string const& save, int fails_at = 0, int first = 1) {
    outcome found;
    std::atomic<int> ran{0};
    try {
      heist::executor ex{2};
      heist::distributed_graph g{world_, {.remember = true, .restart = restart}};
      std::vector<heist::placed<row>> made;
      made.push_back(g.emplace(heist::on(0), [&ran, first] {
        ++ran;
        row v(100);
        std::iota(v.begin(), v.end(), first);
        return v;
      }));
      for (int t = 2; t < tasks; ++t) {
        auto const step = [&ran, t, fails_at, save](row v) {
          if (t == fails_at) {  // after the values before it have been saved
            for (int before = 1; before < t; ++before) {
              while (!fs::exists(fs::path{save} / ("task-" + std::to_string(before))))
                std::this_thread::sleep_for(std::chrono::milliseconds{1});
            }
            throw std::runtime_error{"boom"};
          }
          ++ran;
          for (int& x : v) x = x * 31 % 10'007 + t;
          return v;
        };
        made.push_back(g.emplace(heist::on(t % world_.size()), step, made.back()));
      }
      auto const sum = g.emplace(
          heist::on(0), [&ran](row const& v) { return ++ran, std::accumulate(v.begin(), v.end(), 0L); }, made.back());
      if (!save.empty()) g.save(save, made);
      ex.run(g).get();
      if (sum.here()) found.sum = sum.result();
    } catch (heist::error const& e) {
      found.text = e.what();
    }
    if (world_.rank() != 0) found.sum = good_.sum;
    found.ran = sum_of_ranks(ran);
    return found;
  }
  int sum_of_ranks(int mine) {
    heist::executor ex{1};
    heist::distributed_graph g{world_};
    std::vector<heist::placed<int>> parts;
    int total = 0;
    for (int r = 0; r < world_.size(); ++r) parts.push_back(g.emplace(heist::on(r), [mine] { return mine; }));
    for (int r = 0; r < world_.size(); ++r) {
      g.emplace(
          heist::on(r),
          [&total](heist::values<int> v) {
            for (int const x : v) total += x;
          },
          heist::each(parts));
    }
    ex.run(g).get();
    return total;
  }

  /// A copy of the saved folder is hurt: all ranks say so with the file's name and a way to mend it.
  void refused(std::string const& file, std::string const& why, std::string const& what,
               std::function<void(fs::path const&)> const& hurts) {
    on_first([&] {
      fs::remove_all(hurt());
      fs::copy(whole(), hurt());
      hurts(hurt());
    });
    outcome const found = play(hurt().string(), {});
    bool const is_named = found.text.find((hurt() / file).string()) != std::string::npos;
    check(is_named && found.text.find(why) != std::string::npos && found.text.find("fix it by") != std::string::npos,
          what + ", but: " + (found.text.empty() ? "sum " + std::to_string(found.sum) : found.text));
    if (why != last_) std::printf("%s", world_.rank() == 0 ? (found.text + "\n").c_str() : "");
    last_ = why;
  }

  void changed_bytes(std::string const& file) {
    auto const size = static_cast<std::size_t>(fs::file_size(whole() / file));
    for (std::size_t at = 0; at < size; at += at < 64 || at + 8 > size ? 1 : 7) {
      for (int const bit : {1, 128}) {
        refused(file, "", "byte " + std::to_string(at) + " of " + file + " is changed", [&](fs::path const& in) {
          std::fstream f{in / file, std::ios::binary | std::ios::in | std::ios::out};
          f.seekg(static_cast<std::streamoff>(at));
          char const was = static_cast<char>(f.get());
          f.seekp(static_cast<std::streamoff>(at));
          f.put(static_cast<char>(was ^ bit));
        });
      }
    }
    refused(file, "format", "another version's file", [&](fs::path const& in) {
      std::fstream f{in / file, std::ios::binary | std::ios::in | std::ios::out};
      f.seekp(7);
      f.put('1');
    });
  }
  void other_lengths(std::string const& file) {
    auto const size = static_cast<std::size_t>(fs::file_size(whole() / file));
    for (std::size_t const n : {std::size_t{0}, std::size_t{1}, std::size_t{55}, std::size_t{56}, size - 1})
      refused(file, "shorter", "a shorter file", [&](fs::path const& in) { fs::resize_file(in / file, n); });
    refused(file, "longer", "a longer file", [&](fs::path const& in) { fs::resize_file(in / file, size + 1); });
    refused(file, "no file", "a folder instead of a file", [&](fs::path const& in) {
      fs::remove(in / file);
      fs::create_directory(in / file);
    });
  }
  void wrong_places() {
    refused("graph", "there is no file", "no description", [](fs::path const& in) { fs::remove(in / "graph"); });
    refused("task-4", "task #5", "two files that are swapped", [](fs::path const& in) {
      fs::rename(in / "task-4", in / "x");
      fs::rename(in / "task-5", in / "task-4");
      fs::rename(in / "x", in / "task-5");
    });
    refused("task-1", "cannot be taken: 3", "three files that are damaged", [](fs::path const& in) {
      for (auto const* const name : {"task-5", "task-1", "task-3"}) fs::resize_file(in / name, 8);
    });
    // A value that is not there is made again.
    on_first([&] {
      fs::remove_all(hurt());
      fs::copy(whole(), hurt());
      fs::remove(hurt() / "task-5");
      auto const note = heist::distributed::plan_restart(heist::distributed::saved_values{hurt().string()}).note;
      check(note.find("task-5 is missing") != std::string::npos, "a value that is not there is named");
    });
    outcome const found = play(hurt().string(), {});
    check(found.text.empty() && found.sum == good_.sum && found.ran == 2, "a value that is not there is made again");
  }

  void other_graphs() {
    // The same graph, but another program's values: a single file of them is refused.
    fs::path const other = base_ / "other";
    check(play({}, other.string(), 0, 7).text.empty(), "another program's values are saved");
    refused("task-5", "another program", "another program's value", [&](fs::path const& in) {
      fs::copy(other / "task-5", in / "task-5", fs::copy_options::overwrite_existing);
    });
    // Another graph neither takes these values nor spoils them.
    {
      std::string text;
      heist::executor ex{1};
      heist::distributed_graph g{world_, {.remember = true, .restart = whole().string()}};
      g.emplace(heist::on(0), [] { return 1; });
      try {
        g.save((whole() / ".").string());
      } catch (heist::graph_error const& e) {
        text = e.what();
      }
      check(text.find("other tasks") != std::string::npos && text.find(whole().string()) != std::string::npos,
            "another graph, but: " + text);
    }
    // The same for another graph whose tasks take values that the saved graph does not need any more.
    {
      std::string text;
      heist::executor ex{1};
      heist::distributed_graph g{world_, {.restart = whole().string()}};
      auto v = g.emplace(heist::on(0), [] { return row(100); });
      auto const first = v;
      for (int t = 2; t <= tasks + 1; ++t)
        v = g.emplace(
            heist::on(t % world_.size()), [](row const& x, row const&) { return x; }, v, first);
      try {
        ex.run(g).get();
      } catch (heist::error const& e) {
        text = e.what();
      }
      check(text.find("other tasks") != std::string::npos && text.find(whole().string()) != std::string::npos,
            "another shape, but: " + text);
    }
    outcome const again = play(whole().string(), {});
    check(again.text.empty() && again.sum == good_.sum && again.ran == 1,
          "a refused graph leaves the files as they were");
    // A type of another size.
    fs::path const sized = base_ / "sized";
    std::string text;
    for (int const extra : {1, 0}) {
      elastic_extra = extra;
      heist::executor ex{1};
      heist::distributed_graph g{world_, {.remember = true, .restart = extra == 0 ? sized.string() : ""}};
      auto const v = g.emplace(heist::on(world_.size() - 1), [] { return elastic{1}; });
      g.emplace(
          heist::on(0), [](elastic const&) {}, v);
      if (extra != 0) g.save(sized.string(), v);
      try {
        ex.run(g).get();
      } catch (heist::error const& e) {
        text = e.what();
      }
    }
    check(text.find((sized / "task-1").string() + " has another size") != std::string::npos,
          "another size, but: " + text);
  }

  /// A program that saves where it was restarted continues that edition, under whatever name it knows the folder.
  void spellings() {
    fs::path const real = base_ / "real", beside = base_ / "beside", link = base_ / "link", moved = base_ / "moved";
    on_first([&] {
      fs::create_directory(beside);
      fs::create_directory_symlink("real", link);
      fs::current_path(base_);
    });
    if (world_.rank() != 0) fs::current_path(base_);
    for (std::string const& name : {(real / "").string(), (beside / ".." / "real").string(), link.string(),
                                    std::string{"real"}, std::string{"./beside/../real/"}}) {
      on_first([&] {
        fs::remove_all(real);
        fs::create_directory(real);
      });
      std::string const other = real.string();
      outcome const begun = play({}, name, 4);
      check(begun.ran == 3, "a program ends at task 4: " + std::to_string(begun.ran) + " " + begun.text);
      outcome const next = play(other, name, 5);
      check(next.ran == 1 && next.text.find("boom") != std::string::npos, "the next one ends at task 5: " + next.text);
      on_first([&] {  // the second program had to load these: only then are the first three of one edition
        for (auto const* const file : {"task-1", "task-2"})
          if (!fs::exists(real / file)) std::abort();
      });
      outcome const last = play(name, {});
      check(last.text.empty() && last.sum == good_.sum && last.ran == 2, "restarted as " + name + ": " + last.text);
      // The values that were not needed by the second program are of its edition, too.
      on_first([&] { fs::remove(real / "task-4"), fs::remove(real / "task-3"); });
      outcome const older = play(other, {});
      check(older.text.empty() && older.sum == good_.sum && older.ran == 4, "older values are kept: " + older.text);
    }
    on_first([&] {
      fs::remove_all(moved);
      fs::rename(real, moved);
      fs::remove(link);
    });
    outcome const found = play(moved.string(), {});
    check(found.text.empty() && found.sum == good_.sum && found.ran == 4, "a folder that was moved: " + found.text);
    check(play({}, moved.string()).text.empty() && fs::exists(moved / "task-5"), "a folder is used again");
    outcome const newest = play(moved.string(), {});
    check(newest.text.empty() && newest.ran == 1, "what was saved last counts: " + newest.text);
  }

  heist::world& world_;
  fs::path base_;
  outcome good_;
  std::string last_;
};

}  // namespace

int main(int argc, char** argv) {
  heist::world world{argc, argv};
  tester{world, fs::absolute(argc > 1 ? argv[1] : "saved")}.all();
  if (world.rank() == 0) std::puts("saved: ok");
}
