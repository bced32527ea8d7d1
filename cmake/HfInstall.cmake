# SPDX-License-Identifier: GPL-3.0-or-later
# Installed besides programs, library, headers and blocks: the CMake package for C++ users,
# documents, examples, and the unit file with the path that its program has been given.
include_guard()
include(CMakePackageConfigHelpers)

set(HF_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/gnuradio-hf)
configure_package_config_file(
  cmake/gnuradio-hfConfig.cmake.in ${CMAKE_BINARY_DIR}/gnuradio-hfConfig.cmake
  INSTALL_DESTINATION ${HF_CMAKE_DIR} NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(${CMAKE_BINARY_DIR}/gnuradio-hfConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/gnuradio-hfConfig.cmake
              ${CMAKE_BINARY_DIR}/gnuradio-hfConfigVersion.cmake
        DESTINATION ${HF_CMAKE_DIR})
install(EXPORT gnuradio-hf NAMESPACE gnuradio:: FILE gnuradio-hfTargets.cmake
        DESTINATION ${HF_CMAKE_DIR})

# For those without CMake; found from its own place, wherever the tree is put.
set(HF_PC_DIR ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
hf_path_to_prefix(${HF_PC_DIR} HF_PC_UP)
configure_file(cmake/gnuradio-hf.pc.in ${CMAKE_BINARY_DIR}/gnuradio-hf.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/gnuradio-hf.pc DESTINATION ${HF_PC_DIR})

install(FILES README.md CHANGELOG.md COPYING DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}
        PATTERN site EXCLUDE)
# Where GNU Radio's own examples are, and where its Companion offers to open files.
install(DIRECTORY examples/ DESTINATION ${CMAKE_INSTALL_DATADIR}/gnuradio/examples/hf
        PATTERN systemd EXCLUDE)

# The unit file names a program by its full path, known only when the prefix is.
install(CODE "
  file(READ \"${CMAKE_SOURCE_DIR}/examples/systemd/hf-station.service\" unit)
  string(REPLACE /usr/bin/hf \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/hf\" unit
                 \"\${unit}\")
  file(WRITE \"${CMAKE_BINARY_DIR}/hf-station.service\" \"\${unit}\")
  file(INSTALL \"${CMAKE_BINARY_DIR}/hf-station.service\"
       DESTINATION \"\${CMAKE_INSTALL_PREFIX}/lib/systemd/system\")
")

# The Companion looks for blocks below /usr and /usr/local, Python for modules likewise. The hf
# command finds its module by itself; flowgraphs and scripts of the user must be told.
install(CODE "
  if(NOT CMAKE_INSTALL_PREFIX MATCHES \"^/usr(/local)?$\")
    message(STATUS \"This prefix is not searched by GNU Radio. For flowgraphs and scripts:
  export PYTHONPATH=\${CMAKE_INSTALL_PREFIX}/${HF_PYTHON_DIR}
  export GRC_BLOCKS_PATH=\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/gnuradio/grc/blocks\")
  endif()
")

add_custom_target(
  uninstall
  COMMAND ${CMAKE_COMMAND} -DBUILD=${CMAKE_BINARY_DIR} -P ${CMAKE_SOURCE_DIR}/cmake/uninstall.cmake
  VERBATIM)
