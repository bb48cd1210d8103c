// All of heist, and nothing of it used.
#include <heist/heist.hpp>
