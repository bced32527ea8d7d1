# SPDX-License-Identifier: GPL-3.0-or-later
# Sanitizers for everything that is built: -DHF_SANITIZE=address,undefined or thread. Fuzzing
# always has the first.
include_guard()

if(HF_FUZZ AND NOT HF_SANITIZE)
  set(HF_SANITIZE address,undefined)
endif()
if(NOT HF_SANITIZE MATCHES "^(|address|undefined|address,undefined|thread)$")
  message(FATAL_ERROR "HF_SANITIZE is ${HF_SANITIZE}; allowed: address, undefined, "
                      "address,undefined, thread")
endif()
if(HF_SANITIZE)
  add_compile_options(-fsanitize=${HF_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer -g)
  # GCC 12 takes the checks that it has put in itself for reads of what was never written (in a
  # std::variant) and for writes behind the end (of an array of twelve); the same code without them
  # is compiled with the warnings. It does not follow the fences of Boost.Asio, whose queues have
  # locks besides, and says so.
  add_compile_options(
    "$<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized;-Wno-stringop-overflow;-Wno-tsan>")
  add_link_options(-fsanitize=${HF_SANITIZE})
endif()
if(HF_FUZZ)
  add_compile_options($<$<CXX_COMPILER_ID:Clang>:-fsanitize=fuzzer-no-link>)
endif()
