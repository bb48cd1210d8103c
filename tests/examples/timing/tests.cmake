# The timing example: one program of unit tests, and calls of the example itself. Files are read and written in the
# folder in which ctest runs, so that the names of the tests are the same everywhere.
file(GLOB timing_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/*_test.cpp")
heist_test_program_in_batches(examples_timing examples 8 ${timing_sources})

foreach(sample counter half_adder loop cut)
  configure_file("${CMAKE_CURRENT_LIST_DIR}/data/${sample}.v" "${CMAKE_CURRENT_BINARY_DIR}/${sample}.v" COPYONLY)
endforeach()
heist_example_test(timing)
heist_example_test(timing --multiplier 16 --workers 2 --changes 100 --seed 7 --verify EXPECT "verified")
foreach(idle adaptive balanced spinning default)
  heist_example_test(timing --multiplier 12 --workers 2 --idle ${idle} --changes 50 --verify EXPECT "verified")
endforeach()
heist_example_test(timing --multiplier 8 --idle asleep FAILS EXPECT "spinning")
heist_example_test(timing counter.v --period 500 --full-path EXPECT "pin [A-Z]+ of flip-flop f[01]")
heist_example_test(timing half_adder.v --dot timing.dot --svg timing.svg --trace timing.json --save timing_saved.v
                   EXPECT "ui.perfetto.dev")
heist_example_test(timing --multiplier 32 --dot timing_too_large.dot FAILS EXPECT "cannot be read")
heist_example_test(timing --multiplier 1 FAILS EXPECT "2 to 256")
heist_example_test(timing --multiplier 4 --save no/such/folder/m.v FAILS EXPECT "cannot be written")
heist_example_test(timing loop.v FAILS EXPECT "loop.v:[56]: combinational loop")
heist_example_test(timing cut.v FAILS EXPECT "cut.v:7: the file ends inside")
heist_example_test(timing no-file.v FAILS EXPECT "no-file.v: the file cannot be read")
