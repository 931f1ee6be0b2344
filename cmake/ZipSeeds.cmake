# cmake -DSEEDS=… -DOUT=… -P: packs each folder SEEDS/NAME into OUT/NAME_fuzzer_seed_corpus.zip, without folders in it. The same
# seeds, the same bytes.
file(GLOB targets RELATIVE ${SEEDS} ${SEEDS}/*)
foreach(target ${targets})
  file(GLOB files RELATIVE ${SEEDS}/${target} ${SEEDS}/${target}/*)
  list(SORT files)
  execute_process(COMMAND ${CMAKE_COMMAND} -E tar cf ${OUT}/${target}_fuzzer_seed_corpus.zip --format=zip --mtime=2000-01-01 ${files}
                  WORKING_DIRECTORY ${SEEDS}/${target} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
