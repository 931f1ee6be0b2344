# cmake --install: the program, the libraries, their headers under include/regduel, and the package that find_package(regduel)
# reads.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(libraries base ir passes allocator reference oracles generate duel fuzz properties)
foreach(library ${libraries})
  set_target_properties(regduel_${library} PROPERTIES EXPORT_NAME ${library})
  target_compile_features(regduel_${library} PUBLIC cxx_std_23)
  install(TARGETS regduel_${library} EXPORT regduel ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
          INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/regduel)
endforeach()
install(TARGETS regduel RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})

# The headers keep their folders, as they include each other. Headers that only tests of ours use
# stay behind, and the headers of the campaign.
foreach(folder base ir passes allocator reference oracles generate duel fuzz properties)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/${folder}/*.h)
  list(FILTER headers EXCLUDE REGEX "testing\\.h$|^fuzz/campaign/")
  foreach(header ${headers})
    cmake_path(GET header PARENT_PATH path)
    install(FILES ${CMAKE_SOURCE_DIR}/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/regduel/${path})
  endforeach()
endforeach()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/regduel)
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/regduelConfig.cmake.in ${CMAKE_BINARY_DIR}/regduelConfig.cmake
                              INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
# Before 1.0 any minor version may change the interface.
write_basic_package_version_file(${CMAKE_BINARY_DIR}/regduelConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/regduelConfig.cmake ${CMAKE_BINARY_DIR}/regduelConfigVersion.cmake
              ${CMAKE_SOURCE_DIR}/cmake/FindCaDiCaL.cmake DESTINATION ${package_dir})
install(EXPORT regduel NAMESPACE regduel:: FILE regduelTargets.cmake DESTINATION ${package_dir})
