// Door: algorithms over ranges, with an executor or a context in front.
#pragma once

#include "heist/algo/extremes.hpp"
#include "heist/algo/find.hpp"
#include "heist/algo/for_each.hpp"
#include "heist/algo/group.hpp"
#include "heist/algo/merge.hpp"
#include "heist/algo/options.hpp"
#include "heist/algo/pack.hpp"
#include "heist/algo/partition.hpp"
#include "heist/algo/reduce.hpp"
#include "heist/algo/scan.hpp"
#include "heist/algo/sort.hpp"
#include "heist/algo/stable_sort.hpp"
#include "heist/algo/transform.hpp"
#include "heist/algo/without_place.hpp"
