# Functions that every folder uses to declare its library and its tests.

# Compiler flags, in one place. Linked by every target of the project.
add_library(headrace_options INTERFACE)
target_compile_options(headrace_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror
  # GCC 12 at -O3 sees uninitialised members in moved-from vectors and optionals that are never read; clang and the
  # sanitizers watch for the real thing. Its -Wrestrict takes string concatenation for overlap (GCC bug 105651).
  "$<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized;-Wno-restrict>")
if(HEADRACE_SANITIZE)  # not a generator expression: the list's comma would end its argument
  target_compile_options(headrace_options INTERFACE
    -fsanitize=${HEADRACE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(headrace_options INTERFACE -fsanitize=${HEADRACE_SANITIZE})
endif()
if(HEADRACE_BUILD_FUZZERS)  # every library is instrumented, so that the fuzzers see which branches an input takes
  target_compile_options(headrace_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

# headrace_library(NAME [FOLDER dir] DEPENDS lib...): all .cpp of this folder as target headrace_NAME, alias headrace::NAME.
function(headrace_library NAME)
  cmake_parse_arguments(ARG "" "FOLDER" "DEPENDS;PRIVATE_DEPENDS;GENERATED" ${ARGN})
  if(NOT ARG_FOLDER)
    set(ARG_FOLDER ${CMAKE_CURRENT_SOURCE_DIR}/${NAME})
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${ARG_FOLDER}/*.cpp)
  if(NOT sources)  # TODO: bootstrap only
    add_library(headrace_${NAME} INTERFACE)
    add_library(headrace::${NAME} ALIAS headrace_${NAME})
    target_link_libraries(headrace_${NAME} INTERFACE ${ARG_DEPENDS})
    return()
  endif()
  add_library(headrace_${NAME} STATIC ${sources} ${ARG_GENERATED})
  add_library(headrace::${NAME} ALIAS headrace_${NAME})
  target_include_directories(headrace_${NAME} PUBLIC ${CMAKE_SOURCE_DIR}/host)
  target_link_libraries(headrace_${NAME} PUBLIC ${ARG_DEPENDS} PRIVATE headrace_options ${ARG_PRIVATE_DEPENDS})
endfunction()
