// The part of Catch2 3 that stdexec's tests use, for machines where only Catch2 2.13 is installed.
#pragma once

#if __has_include_next(<catch2/catch_all.hpp>)
#include_next <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif
