// The main function of the tests under Catch2 2.13; version 3 brings its own.
#define CATCH_CONFIG_MAIN
#include "catch.hpp"
