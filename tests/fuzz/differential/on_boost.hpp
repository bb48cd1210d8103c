// For the first line of a file. The library in that file runs on Boost.Context, as another namespace, so that one
// program has both kinds of flow. Names that such files share with other files must not have heist in their types.
#pragma once

#undef HEIST_SWITCH_NATIVE
#undef HEIST_SEPARATE_COMPILATION  // that namespace's bodies are compiled nowhere else
#ifndef HEIST_SWITCH_BOOST
#define HEIST_SWITCH_BOOST
#endif
#define heist heist_on_boost
