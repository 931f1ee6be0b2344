# Programs that run where none of our libraries is installed: what is compiled of them is linked in, and what is not needed is not
# asked for.
option(REGDUEL_STATIC "Link third-party libraries, and that of the compiler, statically" OFF)
if(REGDUEL_STATIC)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
  # Debian has fmt as a shared library only, and it can do without.
  add_compile_definitions(FMT_HEADER_ONLY)
  add_link_options(-Wl,--as-needed -static-libstdc++ -static-libgcc)
endif()
