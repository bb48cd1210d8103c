// The one file of heist::compiled.
#include <heist/src.hpp>
