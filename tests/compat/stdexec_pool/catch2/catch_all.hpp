// stdexec's tests are written for Catch2 3; this is what they use of it, where only Catch2 2.13 is installed.
#pragma once

#if __has_include_next(<catch2/catch_all.hpp>)
#include_next <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif
