# HEIST_SANITIZE=address (with undefined) or thread, for our own programs only. The first report ends the program. Left out
# of undefined is what address reports as well.
if(HEIST_SANITIZE STREQUAL "")
  set(heist_sanitizer_flags "")
elseif(HEIST_SANITIZE STREQUAL "address")
  set(heist_sanitizer_flags -fsanitize=address,undefined -fno-sanitize=null,object-size)
elseif(HEIST_SANITIZE STREQUAL "thread")
  set(heist_sanitizer_flags -fsanitize=thread)
else()
  message(FATAL_ERROR "HEIST_SANITIZE is '${HEIST_SANITIZE}': it must be empty, 'address' or 'thread'.")
endif()

# Clang 14 cannot compile coroutines with the check of calls by function pointers.
if(HEIST_SANITIZE STREQUAL "address" AND CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 17)
  list(APPEND heist_sanitizer_flags -fno-sanitize=function)
endif()

function(heist_sanitize target)
  if(heist_sanitizer_flags)
    target_compile_options(${target} PRIVATE ${heist_sanitizer_flags} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(${target} PRIVATE ${heist_sanitizer_flags})
  endif()
endfunction()
