# The heat example: one program of unit tests, and calls of the example itself. Without libpng there is neither.
if(NOT TARGET example_heat)
  return()
endif()
find_package(PNG REQUIRED)
file(GLOB heat_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/*_test.cpp")
heist_test_program_in_batches(examples_heat examples 8 ${heat_sources})
target_link_libraries(examples_heat PRIVATE PNG::PNG)

heist_example_test(heat --size 60 --steps 30 --verify EXPECT "written +heat_placement.png.*verified")
heist_example_test(heat --size 40x90 --spot 30,40,6,400 --spot 70,60,0,-50 --edge left=20 --edge top=5 --tolerance 0.5
                   --leaf-rows 1 --verify --no-pictures EXPECT "settled to 0.5.*verified")
heist_example_test(heat --size 50 --tolerance 1e-9 --steps 3 --no-pictures EXPECT "NOT settled")
heist_example_test(heat --size 50 --steps 5 --record 2 --machine "package:2 core:2 pu:1" --plate heat_p.png
                   --placement heat_q.png EXPECT "4 workers in 2 squads.*same squad.*first 2 of 5 steps")
heist_example_test(heat --size 50 --steps 5 --by worker --workers 3 --no-pictures EXPECT "same worker as in the step")
heist_example_test(heat --size 50 --steps 1 --no-pictures EXPECT "no step before")
heist_example_test(heat --size 50 --steps 5 --progress always --no-pictures EXPECT "step 1 of 5 .20 %")
heist_example_test(heat --size 100x50 --steps 9 --policy cab --machine "package:2 l3:1 core:2 pu:1" --boundary-level 2
                   --verify --plate heat_cab.png --placement heat_cab_placement.png
                   EXPECT "policy +cab.*boundary level 2 by hand.*verified")
heist_example_test(heat --size 100x50 --steps 9 --policy cats --machine "package:2 l3:1 core:2 pu:1" --profile --verify
                   --no-pictures EXPECT "policy +cats.*squads: 2.*verified")
heist_example_test(heat --size 50 --steps 2 --profile --no-pictures EXPECT "profile +none: random does not measure")
heist_example_test(heat --boundary-level 2 FAILS EXPECT "means nothing to random")
heist_example_test(heat --size 2 FAILS EXPECT "'2' is no size")
heist_example_test(heat --edge middle=3 FAILS EXPECT "'middle=3' is no edge")
heist_example_test(heat --spot 1,2,3 FAILS EXPECT "'1,2,3' is no spot")
heist_example_test(heat --tolerance nan FAILS EXPECT "'nan' is no tolerance")
heist_example_test(heat --policy luck FAILS EXPECT "luck not in")
heist_example_test(heat --squads galaxy FAILS EXPECT "galaxy not in")
heist_example_test(heat --machine "package:banana" FAILS EXPECT "does not describe a machine")
heist_example_test(heat --machine no-file.xml FAILS EXPECT "cannot read the machine description no-file.xml")
heist_example_test(heat --machine "core:2 pu:1" --pin FAILS EXPECT "leave --pin out")
heist_example_test(heat --plate no/such/folder/p.png FAILS EXPECT "no/such/folder/p.png: the file cannot be written")
heist_example_test(heat --plate same.png --placement same.png FAILS EXPECT "both name same.png")
heist_example_test(heat --size 50 --steps 2 --plate /dev/full FAILS EXPECT "/dev/full: the picture cannot be written")
