// All of the layer: what a program includes as <oneapi/tbb.h> or <tbb/tbb.h>.
#pragma once

#include "heist/compat/tbb/oneapi/tbb/blocked_nd_range.h"
#include "heist/compat/tbb/oneapi/tbb/blocked_range.h"
#include "heist/compat/tbb/oneapi/tbb/blocked_range2d.h"
#include "heist/compat/tbb/oneapi/tbb/blocked_range3d.h"
#include "heist/compat/tbb/oneapi/tbb/cache_aligned_allocator.h"
#include "heist/compat/tbb/oneapi/tbb/collaborative_call_once.h"
#include "heist/compat/tbb/oneapi/tbb/combinable.h"
#include "heist/compat/tbb/oneapi/tbb/enumerable_thread_specific.h"
#include "heist/compat/tbb/oneapi/tbb/flow_graph.h"
#include "heist/compat/tbb/oneapi/tbb/global_control.h"
#include "heist/compat/tbb/oneapi/tbb/info.h"
#include "heist/compat/tbb/oneapi/tbb/mutex.h"
#include "heist/compat/tbb/oneapi/tbb/null_mutex.h"
#include "heist/compat/tbb/oneapi/tbb/null_rw_mutex.h"
#include "heist/compat/tbb/oneapi/tbb/parallel_for.h"
#include "heist/compat/tbb/oneapi/tbb/parallel_for_each.h"
#include "heist/compat/tbb/oneapi/tbb/parallel_invoke.h"
#include "heist/compat/tbb/oneapi/tbb/parallel_pipeline.h"
#include "heist/compat/tbb/oneapi/tbb/parallel_reduce.h"
#include "heist/compat/tbb/oneapi/tbb/parallel_scan.h"
#include "heist/compat/tbb/oneapi/tbb/parallel_sort.h"
#include "heist/compat/tbb/oneapi/tbb/partitioner.h"
#include "heist/compat/tbb/oneapi/tbb/profiling.h"
#include "heist/compat/tbb/oneapi/tbb/queuing_mutex.h"
#include "heist/compat/tbb/oneapi/tbb/queuing_rw_mutex.h"
#include "heist/compat/tbb/oneapi/tbb/rw_mutex.h"
#include "heist/compat/tbb/oneapi/tbb/scalable_allocator.h"
#include "heist/compat/tbb/oneapi/tbb/spin_mutex.h"
#include "heist/compat/tbb/oneapi/tbb/spin_rw_mutex.h"
#include "heist/compat/tbb/oneapi/tbb/task.h"
#include "heist/compat/tbb/oneapi/tbb/task_arena.h"
#include "heist/compat/tbb/oneapi/tbb/task_group.h"
#include "heist/compat/tbb/oneapi/tbb/task_scheduler_observer.h"
#include "heist/compat/tbb/oneapi/tbb/tbb_allocator.h"
#include "heist/compat/tbb/oneapi/tbb/tick_count.h"
#include "heist/compat/tbb/oneapi/tbb/version.h"

#if __has_include(<oneapi/tbb/detail/_segment_table.h>)  // oneTBB's own, by which its containers come
#include <oneapi/tbb/concurrent_hash_map.h>
#if TBB_PREVIEW_CONCURRENT_LRU_CACHE
#include <oneapi/tbb/concurrent_lru_cache.h>
#endif
#include <oneapi/tbb/concurrent_map.h>
#include <oneapi/tbb/concurrent_priority_queue.h>
#include <oneapi/tbb/concurrent_queue.h>
#include <oneapi/tbb/concurrent_set.h>
#include <oneapi/tbb/concurrent_unordered_map.h>
#include <oneapi/tbb/concurrent_unordered_set.h>
#include <oneapi/tbb/concurrent_vector.h>
#endif
