# regduel_fuzz_target(NAME SOURCE... [STRUCTURED] [MAX_LEN N] LINKS lib...)
#   makes NAME_fuzzer: with REGDUEL_FUZZ, for the engine in REGDUEL_FUZZING_ENGINE; without, NAME_replay, which runs the target on files.
#   STRUCTURED: the inputs are programs, and the target brings a mutator. MAX_LEN: bytes of an input, 65536 where it is not said.
#   Beside the program, under its name, stand what ClusterFuzz and OSS-Fuzz look for: NAME_fuzzer.options, NAME_fuzzer.dict (of
#   targets/dictionaries/NAME.dict, where there is one), and NAME_fuzzer_seed_corpus.zip.
# regduel_fuzzers(TARGET)
#   makes a target that builds all that, and TARGET_seeds for the seeds alone.
if(NOT DEFINED REGDUEL_FUZZING_ENGINE)
  set(engine -fsanitize=fuzzer)
  if(DEFINED ENV{LIB_FUZZING_ENGINE})
    set(engine $ENV{LIB_FUZZING_ENGINE})
  elseif(REGDUEL_FUZZ AND NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "REGDUEL_FUZZ needs clang, for libFuzzer, or another engine in LIB_FUZZING_ENGINE")
  endif()
  # Kept: when CMake runs again by itself, the environment is another.
  set(REGDUEL_FUZZING_ENGINE ${engine} CACHE STRING "What fuzz targets are linked with: flags or files. First value: $LIB_FUZZING_ENGINE, or libFuzzer")
endif()

function(regduel_fuzz_target name)
  cmake_parse_arguments(ARG "STRUCTURED" "MAX_LEN" "LINKS" ${ARGN})
  if(REGDUEL_FUZZ)
    set(program ${name}_fuzzer)
    separate_arguments(engine UNIX_COMMAND "${REGDUEL_FUZZING_ENGINE}")
  else()
    set(program ${name}_replay)
    set(engine "")
    list(APPEND ARG_UNPARSED_ARGUMENTS ${CMAKE_SOURCE_DIR}/targets/replay.cpp)
  endif()
  add_executable(${program} EXCLUDE_FROM_ALL ${ARG_UNPARSED_ARGUMENTS})
  target_compile_definitions(${program} PRIVATE REGDUEL_FUZZ_TARGET="${name}" $<$<BOOL:${ARG_STRUCTURED}>:REGDUEL_FUZZ_STRUCTURED>)
  target_link_libraries(${program} PRIVATE ${ARG_LINKS} regduel_warnings ${engine})
  set_property(GLOBAL APPEND PROPERTY REGDUEL_FUZZ_PROGRAMS ${program})
  set_property(GLOBAL APPEND PROPERTY REGDUEL_FUZZ_NAMES ${name})

  if(NOT ARG_MAX_LEN)
    set(ARG_MAX_LEN 65536)
  endif()
  set(options "[libfuzzer]\nmax_len = ${ARG_MAX_LEN}\ntimeout = 60\n")
  if(EXISTS ${CMAKE_SOURCE_DIR}/targets/dictionaries/${name}.dict)
    configure_file(${CMAKE_SOURCE_DIR}/targets/dictionaries/${name}.dict ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${name}_fuzzer.dict COPYONLY)
    string(APPEND options "dict = ${name}_fuzzer.dict\n")
  endif()
  file(CONFIGURE OUTPUT ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${name}_fuzzer.options CONTENT "${options}" @ONLY)
endfunction()

function(regduel_fuzzers target)
  get_property(programs GLOBAL PROPERTY REGDUEL_FUZZ_PROGRAMS)
  get_property(names GLOBAL PROPERTY REGDUEL_FUZZ_NAMES)
  set(seeds ${CMAKE_BINARY_DIR}/seeds)
  list(TRANSFORM names REPLACE "(.+)" "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/\\1_fuzzer_seed_corpus.zip" OUTPUT_VARIABLE archives)
  file(GLOB_RECURSE corpus CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/corpus/*.rir ${CMAKE_SOURCE_DIR}/corpus/*.ptx ${CMAKE_SOURCE_DIR}/corpus/seeds/*)
  add_custom_command(OUTPUT ${archives}
                     COMMAND regduel_seeds ${CMAKE_SOURCE_DIR} ${seeds}
                     COMMAND ${CMAKE_COMMAND} -DSEEDS=${seeds} -DOUT=${CMAKE_RUNTIME_OUTPUT_DIRECTORY} -P ${CMAKE_SOURCE_DIR}/cmake/ZipSeeds.cmake
                     DEPENDS regduel_seeds ${corpus} ${CMAKE_SOURCE_DIR}/cmake/ZipSeeds.cmake ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/docs/cli.md
                     COMMENT "Packing the seeds of the fuzz targets" VERBATIM)
  add_custom_target(${target}_seeds DEPENDS ${archives})
  add_custom_target(${target} DEPENDS ${programs} ${target}_seeds)
endfunction()
