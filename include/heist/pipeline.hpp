// Door: pipeline, serial_stage, parallel_stage, token; scalable_pipeline, stage_mode.
#pragma once

#include "heist/executor.hpp"
#include "heist/parallel/pipeline/pipeline.hpp"
#include "heist/parallel/pipeline/scalable_pipeline.hpp"
