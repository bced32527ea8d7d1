# SPDX-License-Identifier: GPL-3.0-or-later
# Helpers for the targets of this project.
include_guard()

# Warnings for our own code. They are errors only with -DHF_WERROR=ON, as in CI: a user's compiler
# may know warnings that ours does not.
function(hf_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra $<$<BOOL:${HF_WERROR}>:-Werror>)
endfunction()

# hf_engine(NAME SOURCES a.cc ... LINK other ...)
# One static library for one folder below lib/. What it may include follows from LINK, so a
# dependency against the direction of the architecture does not link.
function(hf_engine name)
  cmake_parse_arguments(A "" "" "SOURCES;LINK" ${ARGN})
  add_library(hf_${name} STATIC ${A_SOURCES})
  target_include_directories(
    hf_${name} PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/lib>
                      $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include/gnuradio>)
  target_link_libraries(hf_${name} PUBLIC ${A_LINK})
  hf_warnings(hf_${name})
endfunction()

# Compiling the tests is half of the build, so they are not optimised and share one precompiled header.
# The code under test is optimised all the same.
function(hf_quickly_compiled target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O0>)
  target_precompile_headers(${target} REUSE_FROM hf_test_headers)
endfunction()

# hf_gtest(NAME SOURCES a.cc ... LINK hf_x ...): a GoogleTest program, found by ctest.
# HF_VECTORS names tests/vectors inside the tests.
# LONG: only `hf test --all` builds it.
function(hf_gtest name)
  cmake_parse_arguments(A "LONG" "" "SOURCES;LINK" ${ARGN})
  add_executable(test_${name} ${A_SOURCES})
  target_link_libraries(test_${name} PRIVATE ${A_LINK} GTest::gtest_main Threads::Threads)
  target_include_directories(test_${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_compile_definitions(test_${name}
                             PRIVATE HF_VECTORS="${CMAKE_SOURCE_DIR}/tests/vectors")
  hf_quickly_compiled(test_${name})
  hf_warnings(test_${name})
  if(NOT A_LONG)
    add_dependencies(short_tests test_${name})
  endif()
  gtest_discover_tests(test_${name} TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60
                       PROPERTIES TIMEOUT 300)
endfunction()

# The name under which pybind11 keeps the types of GNU Radio's modules; empty if it is not found.
# It tells compiler and binary interface. It is among the builtins, since pybind11 2.12 in a
# dictionary of the interpreter.
function(hf_pybind11_types out)
  get_property(asked GLOBAL PROPERTY HF_PYBIND11_TYPES SET)
  if(NOT asked)
    set(ask "import builtins, ctypes, gnuradio.gr
api = ctypes.pythonapi
api.PyInterpreterState_Get.restype = ctypes.c_void_p
api.PyInterpreterState_GetDict.argtypes = [ctypes.c_void_p]
api.PyInterpreterState_GetDict.restype = ctypes.c_void_p
state = api.PyInterpreterState_GetDict(api.PyInterpreterState_Get())
names = [*vars(builtins), *ctypes.cast(state, ctypes.py_object).value]
print(*(k for k in names if 'pybind11_internals' in str(k)))")
    execute_process(COMMAND ${PYTHON_EXECUTABLE} -c "${ask}" OUTPUT_VARIABLE types ERROR_QUIET)
    set_property(GLOBAL PROPERTY HF_PYBIND11_TYPES "${types}")
  endif()
  get_property(types GLOBAL PROPERTY HF_PYBIND11_TYPES)
  set(${out} "${types}" PARENT_SCOPE)
endfunction()

# An extension module in a package, such as gnuradio/hf.
function(hf_python_module name package)
  # pybind11 separates the types of modules by different compilers unless they are declared equal.
  # GNU Radio's blocks are bases of ours. On Linux the binary interfaces of GCC, in every version that
  # we build with, and of Clang are the same.
  hf_pybind11_types(types)
  if(types MATCHES "_v[0-9]+(_[a-z]+)_libstdcpp(_cxxabi[0-9]+)")
    target_compile_definitions(${name} PRIVATE PYBIND11_COMPILER_TYPE="${CMAKE_MATCH_1}"
                                                 PYBIND11_BUILD_ABI="${CMAKE_MATCH_2}")
  endif()
  hf_path_to_prefix(${HF_PYTHON_DIR}/${package} to_prefix)
  set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${HF_TEST_MODULES}/${package}
                        INSTALL_RPATH "$ORIGIN/${to_prefix}${CMAKE_INSTALL_LIBDIR}")
  hf_warnings(${name})
  install(TARGETS ${name} LIBRARY DESTINATION ${HF_PYTHON_DIR}/${package})
endfunction()
