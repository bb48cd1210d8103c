# OBJECT, compiled from a file that uses nothing of heist, has no code of it. NM lists symbols.
execute_process(COMMAND "${NM}" "${OBJECT}" OUTPUT_VARIABLE symbols RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "'${NM}' '${OBJECT}': ${failed}")
endif()
string(REGEX MATCHALL "[^\n]* [TtWVu] _Z[^\n]*5heist[^\n]*" made "${symbols}")
if(made)
  list(LENGTH made count)
  list(SUBLIST made 0 5 some)
  list(JOIN some "\n" some)
  message(FATAL_ERROR "${count} functions and tables of heist were compiled that nobody uses, among them\n${some}\nFix it by "
                      "HEIST_BODY before the virtual functions of their class (core/base/config.hpp)")
endif()
message(STATUS "nothing of heist was compiled")
