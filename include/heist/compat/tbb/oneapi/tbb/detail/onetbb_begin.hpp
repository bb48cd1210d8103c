// Before a header of oneTBB's own, such as a container's: what the layer defines, too, has other names there.
// onetbb_end.hpp ends it. Each of the layer's headers of containers includes both, so there is no #pragma once.
#if !__has_include(<oneapi/tbb/detail/_segment_table.h>)
#error "oneTBB is not found, whose own containers heist's layer offers. Install it, and link it, too."
#endif

#include "heist/compat/tbb/oneapi/tbb/blocked_range.h"
#include "heist/compat/tbb/oneapi/tbb/cache_aligned_allocator.h"

// The standard headers that oneTBB's headers include: here, before the names change.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <scoped_allocator>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#define blocked_range onetbb_blocked_range
#define ets_key_per_instance onetbb_ets_key_per_instance
#define ets_key_usage_type onetbb_ets_key_usage_type
#define ets_no_key onetbb_ets_no_key
#define ets_suspend_aware onetbb_ets_suspend_aware
#define enumerable_thread_specific onetbb_enumerable_thread_specific
#define event onetbb_event
#define flatten2d onetbb_flatten2d
#define flattened2d onetbb_flattened2d
#define proportional_split onetbb_proportional_split
#define set_name onetbb_set_name
#define speculative_spin_mutex onetbb_speculative_spin_mutex
#define speculative_spin_rw_mutex onetbb_speculative_spin_rw_mutex
#define spin_mutex onetbb_spin_mutex
#define spin_rw_mutex onetbb_spin_rw_mutex
#define split onetbb_split
#define task onetbb_task

// Instead of these the containers have the layer's own.
#define __TBB_cache_aligned_allocator_H
#define __TBB_tbb_allocator_H
#define __TBB_version_H

// Of oneTBB's library, and declared there.
namespace tbb::detail::r1 {
void* cache_aligned_allocate(std::size_t size);
void cache_aligned_deallocate(void* at);
std::size_t cache_line_size();
}  // namespace tbb::detail::r1
