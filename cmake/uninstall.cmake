# SPDX-License-Identifier: GPL-3.0-or-later
# Removes what the last `cmake --install` of a build folder wrote: cmake -DBUILD=... -P this
if(NOT EXISTS "${BUILD}/install_manifest.txt")
  message(FATAL_ERROR "${BUILD}/install_manifest.txt is missing: nothing was installed from there")
endif()
file(STRINGS "${BUILD}/install_manifest.txt" files)
foreach(file IN LISTS files)
  message(STATUS "Removing $ENV{DESTDIR}${file}")
  file(REMOVE "$ENV{DESTDIR}${file}")
endforeach()
