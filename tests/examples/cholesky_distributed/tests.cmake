if(TARGET example_cholesky_distributed)
  heist_example_test(cholesky_distributed EXPECT "1 ranks of 2 workers.*error [0-9.]+e-1[0-9]|error 0.0e" --tiles 6 --size 8
                     --workers 2)
  heist_example_test(cholesky_distributed FAILS EXPECT "tiles" --tiles 0)
  set(more_ranks 2 4)
  if(NOT COMMAND heist_distributed_test)  # tests/distributed is left out
    set(more_ranks "")
  endif()
  foreach(ranks ${more_ranks})
    heist_distributed_test(example_cholesky_distributed_ranks_${ranks} "${MPIEXEC_EXECUTABLE}" -n ${ranks}
                           $<TARGET_FILE:example_cholesky_distributed> --tiles 8 --size 8 --picture
                           "${CMAKE_CURRENT_BINARY_DIR}/cholesky_${ranks}.svg")
  endforeach()
endif()
