// expect: (use of deleted function|implicitly-deleted copy)
// A word that threads sleep on has an address; a copy would be slept on by nobody.
#include "heist/core/base/park_word.hpp"

int main() {
  heist::park_word word;
#ifdef HEIST_FIXED
  heist::park_word& same = word;
#else
  heist::park_word same = word;
#endif
  same.wake_all();
}
