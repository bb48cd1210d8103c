# The fork/join kernels: their results against serial ones and known answers, and calls of the example itself.
if(HEIST_HEAVY_TESTS)
  heist_test_program(examples_kernels "examples;heavy" "${CMAKE_CURRENT_LIST_DIR}/kernels_test.cpp")
endif()

heist_example_test(kernels --kernel fib --size 20 --workers 2 --repeat 2 EXPECT "fib.*right")
heist_example_test(kernels --kernel uts_t1 --size 6 --kernel stress --workers 3 --repeat 1 EXPECT "stress.*right")
heist_example_test(kernels --kernel stress --kernel fft --size 8 --workers 2 --repeat 2 --work-span
                   --steal-cost 500 EXPECT "burdened span.*with 500 ticks per steal.*speed-up on 64 workers")
heist_example_test(kernels --kernel fib --size 20 --workers 2 --repeat 1 --breakdown leapfrog
                   EXPECT "application.*in joins.*seconds.*all ")
heist_example_test(kernels --kernel quicksort --size 10000 --workers 3 --repeat 1 --breakdown park EXPECT "all ")
heist_example_test(kernels --kernel fib --breakdown nap FAILS EXPECT "nap not in")
heist_example_test(kernels --list EXPECT "mandelbrot")
heist_example_test(kernels --size 60 --picture kernels.ppm --repeat 1 EXPECT "written: kernels.ppm")
heist_example_test(kernels --kernel mandelbrot --size 10 --repeat 1 --picture no/such/folder/m.ppm FAILS
                   EXPECT "cannot be written")
heist_example_test(kernels --kernel nothing FAILS EXPECT "nothing not in")
heist_example_test(kernels --kernel matmul --size 100 FAILS EXPECT "power of two, such as 128")
heist_example_test(kernels --kernel fib --size 99 FAILS EXPECT "from 0 to 60")
heist_example_test(kernels --kernel fib --size -1 FAILS EXPECT "size")
