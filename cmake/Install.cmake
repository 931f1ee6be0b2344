# cmake --install, of two components:
#   program   regduel, its manual pages, completions for shells, syntax files, the example allocator and kernels. Builds with the target
#             regduel alone, as scripts/run builds it: cmake --install build/release --component program
#   dev       the libraries, their headers under include/regduel, and the package that find_package(regduel) reads
# cpack makes a .deb of each.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(libraries base ir passes allocator reference oracles generate duel fuzz)
if(rapidcheck_FOUND)
  list(APPEND libraries properties)
endif()
foreach(library ${libraries})
  set_target_properties(regduel_${library} PROPERTIES EXPORT_NAME ${library})
  target_compile_features(regduel_${library} PUBLIC cxx_std_23)
  install(TARGETS regduel_${library} EXPORT regduel ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev
          INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/regduel)
endforeach()
install(TARGETS regduel RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)

# What the program says of itself, asked when it is installed.
install(CODE "
  function(say file)
    execute_process(COMMAND \"${CMAKE_BINARY_DIR}/bin/regduel\" \${ARGN} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
    set(path \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/\${file}\")
    message(STATUS \"Installing: \${path}\")
    file(WRITE \"\${path}\" \"\${text}\")
  endfunction()
  function(say_all)
    say(man/man1/regduel.1 man)
    file(STRINGS \"${CMAKE_SOURCE_DIR}/cli/commands.inc\" rows REGEX \"^REGDUEL_COMMAND\")
    foreach(row \${rows})
      string(REGEX MATCH \"[(]([a-z]+)\" ignored \"\${row}\")
      say(man/man1/regduel-\${CMAKE_MATCH_1}.1 man \${CMAKE_MATCH_1})
    endforeach()
    say(bash-completion/completions/regduel completion bash)
    say(zsh/vendor-completions/_regduel completion zsh)
    say(fish/vendor_completions.d/regduel.fish completion fish)
  endfunction()
  say_all()
" COMPONENT program)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/share/vim/ DESTINATION ${CMAKE_INSTALL_DATADIR}/vim/vimfiles COMPONENT program)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/share/vscode DESTINATION ${CMAKE_INSTALL_DATADIR}/regduel COMPONENT program)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/corpus/ptx ${CMAKE_SOURCE_DIR}/corpus/dimacs
        DESTINATION ${CMAKE_INSTALL_DATADIR}/regduel/examples COMPONENT program)
install(PROGRAMS ${CMAKE_SOURCE_DIR}/example/linear_scan.py DESTINATION ${CMAKE_INSTALL_DATADIR}/regduel/examples COMPONENT program)
install(FILES ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/CHANGELOG.md ${CMAKE_SOURCE_DIR}/LICENSE
              ${CMAKE_SOURCE_DIR}/cli/report/page/LICENSE.d3 ${CMAKE_SOURCE_DIR}/ir/FORMAT.md ${CMAKE_SOURCE_DIR}/docs/own-allocator.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)

# The headers keep their folders, as they include each other. Headers that only tests of ours use
# stay behind, and the headers of the campaign.
foreach(folder base ir passes allocator reference oracles generate duel fuzz properties)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/${folder}/*.h)
  list(FILTER headers EXCLUDE REGEX "testing\\.h$|^fuzz/campaign/")
  foreach(header ${headers})
    cmake_path(GET header PARENT_PATH path)
    install(FILES ${CMAKE_SOURCE_DIR}/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/regduel/${path} COMPONENT dev)
  endforeach()
endforeach()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/regduel)
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/regduelConfig.cmake.in ${CMAKE_BINARY_DIR}/regduelConfig.cmake
                              INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
# Before 1.0 any minor version may change the interface.
write_basic_package_version_file(${CMAKE_BINARY_DIR}/regduelConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/regduelConfig.cmake ${CMAKE_BINARY_DIR}/regduelConfigVersion.cmake
              ${CMAKE_SOURCE_DIR}/cmake/FindCaDiCaL.cmake DESTINATION ${package_dir} COMPONENT dev)
install(EXPORT regduel NAMESPACE regduel:: FILE regduelTargets.cmake DESTINATION ${package_dir} COMPONENT dev)

# cpack --config build/release/CPackConfig.cmake, which needs dpkg-dev and file (-D CPACK_COMPONENTS_ALL=program after scripts/run, which builds no libraries of dev)
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME regduel)
set(CPACK_PACKAGE_VENDOR "regduel")
set(CPACK_PACKAGE_CONTACT "the regduel developers <regduel@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program dev)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME regduel)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "python3, bash-completion, man-db")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libregduel-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
    "libboost-dev, libcadical-dev, libfmt-dev, nlohmann-json3-dev, librapidcheck-dev, libxxhash-dev")
include(CPack)
