# Small programs compiled as one: the first program pays for the headers, each further one for itself.
#
#   heist_programs_together(TARGET source...)
#
# TARGET NAME runs the program of the file NAME.cpp. Each begins with its includes, has a main function without arguments
# that returns nothing, and is otherwise in a namespace of its own. Line numbers in messages are those of the files.
function(heist_programs_together target)
  set(includes "")
  set(body "")
  set(table "")
  foreach(source ${ARGN})
    get_filename_component(name "${source}" NAME_WE)
    string(MAKE_C_IDENTIFIER "program_${name}" space)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
    file(READ "${source}" text)
    string(REGEX MATCHALL "#include [^\n]+" own_includes "${text}")
    list(APPEND includes ${own_includes})
    string(REGEX REPLACE "#include [^\n]+" "" text "${text}")
    if(NOT text MATCHES "\nint main\\(\\) {\n")
      message(FATAL_ERROR "heist: ${source} has no line 'int main() {'")
    endif()
    string(REPLACE "\nint main() {\n" "\nvoid main_function() {\n" text "${text}")
    string(APPEND body "\nnamespace ${space} {\n#line 1 \"${source}\"\n${text}\n}\n")
    string(APPEND table "  if (name == \"${name}\") return ${space}::main_function(), 0;\n")
  endforeach()
  list(REMOVE_DUPLICATES includes)
  list(JOIN includes "\n" includes)
  set(file "${CMAKE_CURRENT_BINARY_DIR}/${target}.cpp")
  file(WRITE "${file}.new" "${includes}\n#include <string_view>\n${body}
int main(int argc, char** argv) {
  std::string_view const name = argc == 2 ? argv[1] : \"\";\n${table}  return 2;\n}\n")
  configure_file("${file}.new" "${file}" COPYONLY)
  heist_program(${target} "${file}")
endfunction()

# A test that TARGET NAME prints exactly `output`.
function(heist_output_test test target name output)
  string(REGEX REPLACE "([][+.*()^$?|\\\\])" "\\\\\\1" expected "${output}")
  string(REGEX REPLACE "\n$" "" expected "${expected}")
  add_test(NAME ${test} COMMAND ${target} ${name})
  heist_test_properties(${test} examples)
  set_tests_properties(${test} PROPERTIES PASS_REGULAR_EXPRESSION "^${expected}\n$")
endfunction()
