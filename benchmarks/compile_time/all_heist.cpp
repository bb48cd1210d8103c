// The program of graph_heist.cpp, with all doors.
#include <heist/heist.hpp>

#include "graph_heist.cpp"
