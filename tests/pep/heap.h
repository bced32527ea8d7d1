/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <malloc.h>

#include <cstddef>

namespace gr::hf::test {

//! Octets that the program holds from the allocator (0 where a sanitizer has replaced it).
inline size_t heap_in_use()
{
    const auto m = mallinfo2();
    return m.uordblks + m.hblkhd;
}

} // namespace gr::hf::test
