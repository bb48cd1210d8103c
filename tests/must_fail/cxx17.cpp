// expect: heist: needs C\+\+20
// flags: -std=c++17
// HEIST_FIXED: without the flags.
#include "heist/topology.hpp"

int main() {}
