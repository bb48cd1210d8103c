// expect: heist: needs exceptions
// flags: -fno-exceptions
// HEIST_MENDED: without the flags.
#include "heist/executor.hpp"

int main() {}
