// expect: heist: needs exceptions
// flags: -fno-exceptions
// HEIST_MENDED: without the flags.
#include "heist/topology.hpp"

int main() {}
