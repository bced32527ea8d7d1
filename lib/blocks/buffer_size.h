/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gnuradio/gr_complex.h>

#include <cstddef>
#include <unistd.h>

namespace gr::hf {

/*! \brief Number of complex samples, rounded up to whole pages of memory.
 *  \details GNU Radio's buffers are whole pages. It warns about every other requested
 *  size.
 */
inline long whole_pages(size_t samples)
{
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE)) / sizeof(gr_complex);
    return static_cast<long>((samples + page - 1) / page * page);
}

} // namespace gr::hf
