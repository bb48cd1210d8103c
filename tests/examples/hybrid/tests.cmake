if(TARGET example_hybrid)
  heist_example_test(hybrid EXPECT "what one thread computes" --rows 40 --columns 30 --steps 12 --blocks 5 --workers 2)
  heist_example_test(hybrid EXPECT "what one thread computes" --rows 3 --columns 3 --steps 4 --blocks 99)
  if(COMMAND heist_distributed_test)  # not where tests/distributed is left out
    foreach(ranks 1 2 4)
      set(picture "${CMAKE_CURRENT_BINARY_DIR}/hybrid_${ranks}.svg")
      heist_distributed_test(example_hybrid_ranks_${ranks} "${MPIEXEC_EXECUTABLE}" -n ${ranks} $<TARGET_FILE:example_hybrid>
                             --rows 61 --columns 40 --steps 200 --blocks 3 --workers 2 --picture "${picture}")
      # Blocks of one row wait for both neighbours.
      heist_distributed_test(example_hybrid_rows_${ranks} "${MPIEXEC_EXECUTABLE}" -n ${ranks} $<TARGET_FILE:example_hybrid>
                             --rows 4 --columns 500 --steps 300)
      set_tests_properties(example_hybrid_ranks_${ranks} example_hybrid_rows_${ranks}
                           PROPERTIES PASS_REGULAR_EXPRESSION "what one thread computes" FAIL_REGULAR_EXPRESSION "WRONG")
    endforeach()
  endif()
endif()
