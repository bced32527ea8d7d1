# SPDX-License-Identifier: GPL-3.0-or-later
# cmake -DSOURCE= -DVERSION= -DOUT= -P HfVersion.cmake: writes OUT, the module version.py, with the
# commit that is built, of a git checkout or of what git archive has made of one; empty elsewhere.
# OUT is touched only when it changes.
set(commit "$Format:%H$")
if(commit MATCHES "^[0-9a-f]+$")
  string(SUBSTRING "${commit}" 0 10 commit)
else()
  set(commit "")
endif()
find_program(GIT git)
if(EXISTS ${SOURCE}/.git AND GIT)
  execute_process(COMMAND ${GIT} -C ${SOURCE} describe --always --dirty --abbrev=10 --exclude=*
                  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
elseif(EXISTS ${SOURCE}/.git/HEAD)
  # `./hf demo` runs where git is not installed.
  file(STRINGS ${SOURCE}/.git/HEAD commit LIMIT_COUNT 1)
  if(commit MATCHES "^ref: (.*)$")
    set(commit "")
    if(EXISTS ${SOURCE}/.git/${CMAKE_MATCH_1})
      file(STRINGS ${SOURCE}/.git/${CMAKE_MATCH_1} commit LIMIT_COUNT 1)
    endif()
  endif()
  string(SUBSTRING "${commit}" 0 10 commit)
endif()
set(text "# SPDX-License-Identifier: GPL-3.0-or-later
\"\"\"Version of this package.\"\"\"
__version__ = \"${VERSION}\"
#: Of the source tree it was built from, -dirty with changes; empty if that is not known.
__commit__ = \"${commit}\"
")
set(old "")
if(EXISTS ${OUT})
  file(READ ${OUT} old)
endif()
if(NOT old STREQUAL text)
  file(WRITE ${OUT} "${text}")
endif()
