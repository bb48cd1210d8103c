// For the first line of a file: the library in it runs on Boost.Context, as another namespace, so that one program has
// both kinds of flow. What such files share with others must not have heist in its types.
#pragma once

#undef HEIST_SWITCH_NATIVE
#undef HEIST_SEPARATE_COMPILATION  // nobody has compiled that namespace's bodies
#ifndef HEIST_SWITCH_BOOST
#define HEIST_SWITCH_BOOST
#endif
#define heist heist_on_boost
