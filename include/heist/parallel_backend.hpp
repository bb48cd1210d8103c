// Door: default_executor() as the backend of std::execution's parallel scheduler (P2079). Empty where there is none.
#pragma once

#include "heist/parallel/execution/replacement.hpp"
