// Door: pipeline, serial_stage, parallel_stage, token.
#pragma once

#include "heist/dynamic/pipeline.hpp"
#include "heist/executor.hpp"
