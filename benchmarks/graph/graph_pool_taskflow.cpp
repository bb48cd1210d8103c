// The graph benchmarks on Taskflow with its own pool of nodes, which its users may switch on.
#define TF_ENABLE_TASK_POOL
#include "graph_taskflow.cpp"
