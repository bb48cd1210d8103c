// Stands for core/fork/fork_join.hpp: tests/model/loops.cpp has forks of its own.
#pragma once
