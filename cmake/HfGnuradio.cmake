# SPDX-License-Identifier: GPL-3.0-or-later
# Python and pybind11, after GNU Radio, which finds the system's Python.
include_guard()

find_package(pybind11 CONFIG REQUIRED)
find_package(Boost 1.74 REQUIRED COMPONENTS chrono system thread)

include(GNUInstallDirs)

# Where Python looks by itself: Debian's /usr/local has dist-packages, any other prefix has
# site-packages.
if(NOT HF_PYTHON_DIR)
  if(CMAKE_INSTALL_PREFIX STREQUAL "/usr/local" AND EXISTS /etc/debian_version)
    set(_packages dist-packages)
  else()
    set(_packages site-packages)
  endif()
  set(HF_PYTHON_DIR lib/python${PYTHON_VERSION_MAJOR}.${PYTHON_VERSION_MINOR}/${_packages})
endif()

# From a folder of the installed tree to the top of it, so that installed files find each other
# without ldconfig wherever cmake --install --prefix puts the tree.
function(hf_path_to_prefix folder variable)
  file(RELATIVE_PATH up /prefix/${folder} /prefix)
  set(${variable} ${up} PARENT_SCOPE)
endfunction()

# The build tree is usable without installation: gnuradio.hf is assembled here.
set(HF_TEST_MODULES ${CMAKE_BINARY_DIR}/test_modules)
