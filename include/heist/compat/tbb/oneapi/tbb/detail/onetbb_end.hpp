// After a header of oneTBB's own: the names are the layer's again.

#undef blocked_range
#undef ets_key_per_instance
#undef ets_key_usage_type
#undef ets_no_key
#undef ets_suspend_aware
#undef enumerable_thread_specific
#undef event
#undef flatten2d
#undef flattened2d
#undef proportional_split
#undef set_name
#undef speculative_spin_mutex
#undef speculative_spin_rw_mutex
#undef spin_mutex
#undef spin_rw_mutex
#undef split
#undef task

#undef __TBB_cache_aligned_allocator_H
#undef __TBB_tbb_allocator_H
#undef __TBB_version_H
