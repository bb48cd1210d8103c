# Which policy: the parts of the example, and calls of the example itself.
if(NOT TARGET example_which_policy)
  return()
endif()
file(GLOB which_policy_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/*_test.cpp")
if(HEIST_HEAVY_TESTS)
  heist_test_program(examples_which_policy "examples;heavy" ${which_policy_sources})
endif()

set(heist_example_label heavy)  # only the proof builds it

foreach(sample tree cut edited streams)
  configure_file("${CMAKE_CURRENT_LIST_DIR}/data/${sample}.json" "${CMAKE_CURRENT_BINARY_DIR}/which_policy_${sample}.json"
                 COPYONLY)
endforeach()
set(which_policy_server "package:2 l3:2(size=4MiB) l2:4(size=512KiB) core:1 pu:1")
heist_example_test(which_policy which_policy_tree.json --machine "${which_policy_server}" --plot which_policy_tree.svg
                   EXPECT "16 workers in 2 squads.*hierarchical.*cats.*answer +On 16 workers.*written +which_policy_tree.svg")
heist_example_test(which_policy which_policy_tree.json --machine "core:2 pu:1" --no-plot --json -
                   EXPECT "sentence.*On 2 workers")
heist_example_test(which_policy which_policy_tree.json --machine "${which_policy_server}" --workers 3,3,2000 --policy sampling,random
                   --seeds 1 --cost steal=500 --cost memory=70 --keep-work --no-plot --json which_policy_tree.out.json
                   EXPECT "random +sampling.*2000 .*On 2000 workers.*written +which_policy_tree.out.json")
heist_example_test(which_policy --program heat --size 100 --repeat 2 --machine "${which_policy_server}" --squads l3
                   --record which_policy_heat.json --plot which_policy_heat.svg --progress always
                   EXPECT "heat, 100 x 100.*16 workers in 4 squads.*cab +boundary level.*which_policy_heat.json, the rec")
heist_example_test(which_policy --program mergesort --size 20000 --record-workers 2 --boundary-level 2 --no-plot
                   --machine "${which_policy_server}" EXPECT "mergesort of 20000.*boundary level 2 by hand")
heist_example_test(which_policy --program uts --size 4 --repeat 1 --machine "${which_policy_server}" --no-plot
                   EXPECT "uts of depth 4.*no task says what it touches")
heist_example_test(which_policy no-such-file.json FAILS EXPECT "no-such-file.json")
heist_example_test(which_policy which_policy_cut.json --plot which_policy_cut.svg FAILS EXPECT "which_policy_cut.json")
heist_example_test(which_policy which_policy_edited.json --no-plot FAILS EXPECT "no recording of a program")
heist_example_test(which_policy which_policy_tree.json --machine "package:banana" FAILS
                   EXPECT "does not describe a machine")
heist_example_test(which_policy which_policy_tree.json --machine no-file.xml FAILS
                   EXPECT "cannot read the machine description no-file.xml")
heist_example_test(which_policy which_policy_tree.json --policy luck FAILS EXPECT "luck not in")
heist_example_test(which_policy which_policy_tree.json --program uts FAILS EXPECT "excludes")
heist_example_test(which_policy which_policy_tree.json --workers 0 FAILS EXPECT "not in range")
heist_example_test(which_policy which_policy_tree.json --cost luck=5 FAILS EXPECT "'luck=5' is no cost")
heist_example_test(which_policy which_policy_tree.json --cost steal FAILS EXPECT "'steal' is no cost")
heist_example_test(which_policy --program uts --size 99 FAILS EXPECT "from 1 to 9")
heist_example_test(which_policy which_policy_tree.json --plot no/such/folder/p.svg FAILS EXPECT "cannot be written")
unset(heist_example_label)
heist_example_test(which_policy --program heat --size 200 --repeat 1 --seeds 1 --no-plot
                   EXPECT "a line from memory costs .*answer")
heist_example_test(which_policy --program heat --size 100 --repeat 1 --seeds 1 --no-plot --memory usual
                   EXPECT "costs 3 ns, one from a squad's cache 1 ns")
heist_example_test(which_policy --program heat --size 100 --repeat 1 --seeds 1 --no-plot --machine "${which_policy_server}"
                   --memory which_policy_streams.json EXPECT "memory delivers at most 40 GB/s")
heist_example_test(which_policy --program heat --machine "${which_policy_server}" --memory here FAILS EXPECT "names another")
heist_example_test(which_policy --program heat --memory which_policy_tree.json FAILS EXPECT "no streams in it")
heist_example_test(which_policy --program heat --memory here --cost memory=5 FAILS EXPECT "both say what a line costs")
