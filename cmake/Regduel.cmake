# One helper a folder: library, alias, tests, label. Files are found by name: x.cpp is the library, x_test.cpp its test.

add_library(regduel_warnings INTERFACE)
target_compile_options(regduel_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
                                                  $<$<BOOL:${REGDUEL_WERROR}>:-Werror> -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # std::stable_sort of libstdc++ 12 uses a function that C++20 deprecates.
  target_compile_options(regduel_warnings INTERFACE -Wno-deprecated-declarations)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 sees dangling and out-of-bounds accesses in inlined library code that are not there.
  target_compile_options(regduel_warnings INTERFACE -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread
                                                    -Wno-restrict -Wno-maybe-uninitialized -Wno-dangling-pointer)
endif()

# regduel_plant(TARGET...): compiles the planted bugs in, where REGDUEL_ZOO asks for them.
function(regduel_plant)
  if(REGDUEL_ZOO)
    foreach(target ${ARGN})
      target_compile_definitions(${target} PRIVATE REGDUEL_ZOO)
    endforeach()
  endif()
endfunction()

# regduel_count_edges(TARGET...): counts which edges of their code are run through (base/edges.h), where REGDUEL_EDGES asks for it.
function(regduel_count_edges)
  if(REGDUEL_EDGES)
    target_compile_definitions(regduel_base PRIVATE REGDUEL_EDGES)
    foreach(target ${ARGN})
      target_compile_options(${target} PRIVATE -fsanitize-coverage=inline-8bit-counters)
    endforeach()
  endif()
endfunction()

# regduel_precompile(TARGET HEADER...): headers of libraries that most of its files include are read once, not once a file. Ours are
# not among them, as those change. With clang alone: what a file forgets to include shows with g++.
function(regduel_precompile target)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    target_precompile_headers(${target} PRIVATE <algorithm> <map> <optional> <set> <string> <vector> <fmt/format.h> ${ARGN})
    target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")  # else ccache finds nothing
  endif()
endfunction()

# regduel_source_dir(FILE...): REGDUEL_SOURCE_DIR, the root of the sources, for those tests that use it. For no other, so that
# ccache finds what another checkout has compiled.
function(regduel_source_dir)
  foreach(file ${ARGN})
    file(STRINGS ${file} uses REGEX "REGDUEL_SOURCE_DIR|(base|cli)/testing\\.h")
    if(uses)
      set_property(SOURCE ${file} APPEND PROPERTY COMPILE_DEFINITIONS "REGDUEL_SOURCE_DIR=\"${CMAKE_SOURCE_DIR}\"")
    endif()
  endforeach()
endfunction()

# regduel_discover_tests(TARGET FOLDER FILE...): the tests of TARGET, of the given files below the current folder, carry the label
# FOLDER, and those of a room its label as well: allocator/split. A test suite stands in one room.
function(regduel_discover_tests target folder)
  set(rooms)
  foreach(file ${ARGN})
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE path)
    cmake_path(GET path PARENT_PATH room)
    file(STRINGS ${file} heads REGEX "^(TEST|TEST_F|TEST_P|RC_GTEST_PROP)\\(")
    foreach(head ${heads})
      string(REGEX MATCH "\\(([A-Za-z0-9_]+)" head "${head}")
      list(APPEND "suites_of_${room}" ${CMAKE_MATCH_1})
    endforeach()
    list(APPEND rooms "${room}|")
  endforeach()
  list(REMOVE_DUPLICATES rooms)
  foreach(room ${rooms})
    string(REPLACE "|" "" room "${room}")
    list(REMOVE_DUPLICATES "suites_of_${room}")
    list(TRANSFORM "suites_of_${room}" REPLACE "(.+)" "\\1.*:*/\\1.*" OUTPUT_VARIABLE filter)
    list(JOIN filter ":" filter)
    cmake_path(APPEND folder "${room}" OUTPUT_VARIABLE label)
    string(REGEX REPLACE "/$" "" label "${label}")
    # The same cases in every run of CTest; run the program itself, or set RC_PARAMS there, for others.
    gtest_discover_tests(${target} TEST_FILTER "${filter}" TEST_LIST ${target}_${room}_TESTS DISCOVERY_TIMEOUT 60
                         PROPERTIES LABELS ${label} ENVIRONMENT "RC_PARAMS=seed=1")
  endforeach()
endfunction()

# regduel_folder(NAME [LINKS lib...] [PRIVATE_LINKS lib...] [TEST_LINKS lib...] [ROOMS room...] [EXCLUDE file...]
#                [PRECOMPILE header...])
#   makes library regduel_NAME (alias regduel::NAME) of the *.cpp of the folder and of its rooms, and the test program
#   regduel_NAME_test of their *_test.cpp, whose tests carry the label of their room.
#   ROOMS       of these rooms alone; "." is the folder itself
#   EXCLUDE     files that belong to other targets
#   PRECOMPILE  further headers of libraries that most files include
function(regduel_folder name)
  cmake_parse_arguments(ARG "" "" "LINKS;PRIVATE_LINKS;TEST_LINKS;ROOMS;EXCLUDE;PRECOMPILE" ${ARGN})
  if(ARG_ROOMS)
    list(TRANSFORM ARG_ROOMS REPLACE "(.+)" "${CMAKE_CURRENT_SOURCE_DIR}/\\1/*.cpp")
    file(GLOB sources CONFIGURE_DEPENDS ${ARG_ROOMS})
  else()
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  endif()
  foreach(file ${ARG_EXCLUDE})
    list(REMOVE_ITEM sources ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  endforeach()
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  add_library(regduel_${name} STATIC ${sources})
  add_library(regduel::${name} ALIAS regduel_${name})
  target_include_directories(regduel_${name} PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}>)
  target_link_libraries(regduel_${name} PUBLIC ${ARG_LINKS} PRIVATE ${ARG_PRIVATE_LINKS} $<BUILD_INTERFACE:regduel_warnings>)
  regduel_precompile(regduel_${name} ${ARG_PRECOMPILE})
  if(tests AND GTest_FOUND AND rapidcheck_FOUND)
    add_executable(regduel_${name}_test ${tests})
    target_link_libraries(regduel_${name}_test PRIVATE ${ARG_TEST_LINKS} regduel_${name} GTest::gtest GTest::gmock
                                                       GTest::gtest_main regduel_warnings)
    regduel_precompile(regduel_${name}_test <gmock/gmock.h> <gtest/gtest.h> ${ARG_PRECOMPILE})
    regduel_source_dir(${tests})
    cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${CMAKE_SOURCE_DIR} OUTPUT_VARIABLE folder)
    regduel_discover_tests(regduel_${name}_test ${folder} ${tests})
  endif()
endfunction()

# Where REGDUEL_ODR asks for it, everything is compiled so that the linker can compare definitions. The machine code is there as
# well, and programs are linked as ever, with -fno-lto (which the preset says). regduel_check_odr(), called when all targets are
# there: the target `odr`, part of all, fails where two definitions of one name differ.
if(REGDUEL_ODR)
  add_compile_options(-flto -ffat-lto-objects)
endif()
function(regduel_check_odr)
  if(NOT REGDUEL_ODR)
    return()
  endif()
  set(objects)
  set(folders ${CMAKE_SOURCE_DIR})
  while(folders)
    list(POP_FRONT folders folder)
    get_property(more DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
    list(APPEND folders ${more})
    get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
    foreach(target ${targets})
      get_target_property(type ${target} TYPE)
      if(type MATCHES "^(STATIC_LIBRARY|EXECUTABLE)$")
        list(APPEND objects $<TARGET_OBJECTS:${target}>)
      endif()
    endforeach()
  endwhile()
  add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/odr.checked
                     COMMAND ${CMAKE_SOURCE_DIR}/scripts/check/check-odr ${CMAKE_CXX_COMPILER} ${objects}
                     COMMAND ${CMAKE_COMMAND} -E touch ${CMAKE_BINARY_DIR}/odr.checked
                     DEPENDS ${objects} scripts/check/check-odr COMMAND_EXPAND_LISTS VERBATIM)
  add_custom_target(odr ALL DEPENDS ${CMAKE_BINARY_DIR}/odr.checked)
endfunction()
