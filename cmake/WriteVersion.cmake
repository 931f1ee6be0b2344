# cmake -DHEADER=… -DSOURCE=… -DVERSION=… -P: writes the header that says which program this is, where that has changed.
# The commit is part of it, so that what a campaign's database records can be repeated; without git it is "unknown".
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty=+ --abbrev=12 --exclude=*
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed OR commit STREQUAL "")
  set(commit unknown)
endif()
set(text "// Written when the program is built.\n#pragma once\n#define REGDUEL_VERSION \"${VERSION} (${commit})\"\n")
if(EXISTS ${HEADER})
  file(READ ${HEADER} old)
endif()
if(NOT "${old}" STREQUAL "${text}")
  file(WRITE ${HEADER} "${text}")
endif()
