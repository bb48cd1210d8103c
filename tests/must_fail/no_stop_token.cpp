// expect: heist: this standard library has no <stop_token>
// flags: -O0
#include <version>
#ifndef HEIST_FIXED
#undef __cpp_lib_jthread  // as libc++ 14
#endif
#include "heist/topology.hpp"

int main() {}
