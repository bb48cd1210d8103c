// Bodies of outside_waits.hpp.
#pragma once

#include "heist/core/observe/outside_waits.hpp"

#include "heist/core/base/assert.hpp"
#include "heist/core/base/format.hpp"

namespace heist::detail {

HEIST_COLD_BODY std::string wait_text(std::int64_t since) {
  std::int64_t const milliseconds = (os_env::coarse_nanoseconds() - since) / 1'000'000;
  if (milliseconds < 1000) return format_text(" (for {} ms)", {milliseconds < 0 ? 0 : milliseconds});
  return format_text(" (for {}.{} s)", {milliseconds / 1000, milliseconds / 100 % 10});
}

HEIST_COLD_BODY void outside_waits::add(outside_note& n) noexcept {
  n.since = os_env::coarse_nanoseconds();
  spin_guard guard{lock_};
  HEIST_ASSERT(n.link == nullptr, "a note is added that is in the list");
  if (!of_this_process()) first_ = nullptr, readers_ = 0;
  process_ = os_env::process();
  n.next = first_;
  n.link = &first_;
  if (first_ != nullptr) first_->link = &n.next;
  first_ = &n;
}

HEIST_COLD_BODY void outside_waits::remove(outside_note& n) noexcept {
  for (std::uint32_t nth = 0;; ++nth) {
    {
      spin_guard guard{lock_};
      if (readers_ == 0 || !of_this_process()) {
        *n.link = n.next;
        if (n.next != nullptr) n.next->link = n.link;
        n.link = nullptr;
        return;
      }
    }
    os_env::nap(nth);
  }
}

HEIST_COLD_BODY bool outside_waits::empty() const noexcept {
  spin_guard guard{lock_};
  return first_ == nullptr || !of_this_process();
}

HEIST_COLD_BODY outside_waits::reader::reader(outside_waits const& of) noexcept : of_{of} {
  spin_guard guard{of.lock_};
  if (!of.of_this_process()) return;
  ++of.readers_;
  first = of.first_;
  reads_ = true;
}

HEIST_COLD_BODY outside_waits::reader::~reader() {
  if (!reads_) return;
  spin_guard guard{of_.lock_};
  --of_.readers_;
}

HEIST_COLD_BODY std::string outside_waits::text(unsigned most) const {
  reader const notes{*this};
  std::string all;
  for (outside_note const* n = notes.first; n != nullptr && most-- > 0; n = n->next) all += "  " + n->text(*n) + "\n";
  return all;
}

}  // namespace heist::detail
