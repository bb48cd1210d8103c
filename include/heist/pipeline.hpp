// Door: pipeline, serial_stage, parallel_stage, token.
#pragma once

#include "heist/executor.hpp"
#include "heist/parallel/pipeline/pipeline.hpp"
