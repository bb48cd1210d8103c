// Door: algorithms over ranges, with an executor or a context in front.
#pragma once

#include "heist/parallel/algorithm/extremes.hpp"
#include "heist/parallel/algorithm/find.hpp"
#include "heist/parallel/algorithm/for_each.hpp"
#include "heist/parallel/algorithm/group.hpp"
#include "heist/parallel/algorithm/merge.hpp"
#include "heist/parallel/algorithm/options.hpp"
#include "heist/parallel/algorithm/pack.hpp"
#include "heist/parallel/algorithm/partition.hpp"
#include "heist/parallel/algorithm/reduce.hpp"
#include "heist/parallel/algorithm/reduce_by_index.hpp"
#include "heist/parallel/algorithm/scan.hpp"
#include "heist/parallel/algorithm/sort.hpp"
#include "heist/parallel/algorithm/stable_sort.hpp"
#include "heist/parallel/algorithm/transform.hpp"
