// The game of checkers (English draughts): positions and their moves.
#pragma once

#include <array>
#include <bit>      // popcount, countr_zero
#include <cstddef>  // size_t
#include <cstdint>
#include <stdexcept>

namespace locality {

/// A position as seen by the player to move, whose men go towards higher rows. The 32 dark squares are numbered row by
/// row.
struct checkers_position {
  std::uint32_t own = 0x0000'0fff;
  std::uint32_t other = 0xfff0'0000;
  std::uint32_t kings = 0;  ///< of both

  bool operator==(checkers_position const&) const = default;

  /// Pieces of the player to move minus those of the other, in halves of a man: a man counts 2, a king 3.
  int material() const {
    return 2 * (std::popcount(own) - std::popcount(other)) +
           (std::popcount(own & kings) - std::popcount(other & kings));
  }
};

/// All positions that a move leads to, in a fixed order.
class checkers_moves {
 public:
  /// A player that can jump must jump.
  explicit checkers_moves(checkers_position const& p) {
    for (std::uint32_t left = p.own; left != 0; left &= left - 1)
      jump(p, std::countr_zero(left), (p.kings & (left & -left)) != 0, false);
    if (count_ != 0) return;
    for (std::uint32_t left = p.own; left != 0; left &= left - 1) walk(p, std::countr_zero(left));
  }

  std::size_t size() const { return count_; }
  checkers_position const& operator[](std::size_t i) const { return after_[i]; }

 private:
  static constexpr int no_place = -1;
  static constexpr std::size_t most = 128;  // far more than any position has
  static constexpr int king_directions = 4, man_directions = 2;

  static constexpr std::uint32_t bit(int square) { return std::uint32_t{1} << square; }
  static constexpr bool is_last_row(int square) { return square >= 28; }

  /// The square next to each in the directions forward left, forward right, back left, back right.
  static constexpr auto neighbours = [] {
    std::array<std::array<int, 32>, king_directions> result{};
    for (int square = 0; square < 32; ++square) {
      int const row = square / 4, column = square % 4 * 2 + row % 2;
      for (int d = 0; d < king_directions; ++d) {
        int const to_row = row + (d < man_directions ? 1 : -1), to_column = column + (d % 2 == 0 ? -1 : 1);
        bool const outside = to_row < 0 || to_row > 7 || to_column < 0 || to_column > 7;
        result[static_cast<std::size_t>(d)][static_cast<std::size_t>(square)] =
            outside ? no_place : to_row * 4 + to_column / 2;
      }
    }
    return result;
  }();

  static constexpr int neighbour(int d, int square) {
    return neighbours[static_cast<std::size_t>(d)][static_cast<std::size_t>(square)];
  }

  /// Every way to jump on from the square. One that began must go on as long as it can; a man that becomes a king
  /// stops.
  void jump(checkers_position const& p, int square, bool king, bool start_time) {
    bool can = false;
    for (int d = 0; d < (king ? king_directions : man_directions); ++d) {
      int const over = neighbour(d, square);
      if (over == no_place || (p.other & bit(over)) == 0) continue;
      int const to = neighbour(d, over);
      if (to == no_place || ((p.own | p.other) & bit(to)) != 0) continue;
      can = true;
      checkers_position next = moved(p, square, to, king);
      next.other &= ~bit(over);
      next.kings &= ~bit(over);
      if (!king && is_last_row(to)) {
        next.kings |= bit(to);
        add(next);
      } else {
        jump(next, to, king, true);
      }
    }
    if (!can && start_time) add(p);
  }

  void walk(checkers_position const& p, int square) {
    bool const king = (p.kings & bit(square)) != 0;
    for (int d = 0; d < (king ? king_directions : man_directions); ++d) {
      int const to = neighbour(d, square);
      if (to == no_place || ((p.own | p.other) & bit(to)) != 0) continue;
      checkers_position next = moved(p, square, to, king);
      if (!king && is_last_row(to)) next.kings |= bit(to);
      add(next);
    }
  }

  static checkers_position moved(checkers_position p, int from, int to, bool king) {
    p.own = (p.own & ~bit(from)) | bit(to);
    if (king) p.kings = (p.kings & ~bit(from)) | bit(to);
    return p;
  }

  /// The board is turned round for the other player.
  void add(checkers_position const& p) {
    if (count_ == most) throw std::length_error{"checkers: more moves than a position can have"};
    after_[count_++] = {turned(p.other), turned(p.own), turned(p.kings)};
  }

  static constexpr std::uint32_t turned(std::uint32_t squares) {
    squares = (squares & 0x5555'5555) << 1 | (squares >> 1 & 0x5555'5555);
    squares = (squares & 0x3333'3333) << 2 | (squares >> 2 & 0x3333'3333);
    squares = (squares & 0x0f0f'0f0f) << 4 | (squares >> 4 & 0x0f0f'0f0f);
    squares = (squares & 0x00ff'00ff) << 8 | (squares >> 8 & 0x00ff'00ff);
    return squares << 16 | squares >> 16;
  }

  std::array<checkers_position, most> after_;  // the first `count_` are set
  std::size_t count_ = 0;
};

}  // namespace locality
