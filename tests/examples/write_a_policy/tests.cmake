# The example of a victim policy of one's own. Its promises: tests/unit/policy/conformance_test.cpp.
heist_example_test(write_a_policy --size 50 --workers 2 --repeat 2
                   EXPECT "random +2 .*right.*hierarchical +2 .*right.*grateful +2 .*right")
heist_example_test(write_a_policy --size 50 --repeat 1 --workers 5 --machine "package:2 l3:1 core:2 pu:1"
                   EXPECT "grateful +5 .*right")
heist_example_test(write_a_policy --machine "package:banana" FAILS EXPECT "does not describe a machine")
heist_example_test(write_a_policy --size 0 FAILS EXPECT "size")
