/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/pdu/s_pdu.h"

namespace gr::hf::s5066 {

//! Shortened form (A.3.1.1) of a time in seconds since 1970.
time_to_die time_to_die_at(int64_t utc);

/*! \brief True if \p t has passed at \p utc, in seconds since 1970.
 *  \details Only the day modulo 16 is known; the one within eight days of now is meant.
 */
bool is_over(const time_to_die& t, int64_t utc);

} // namespace gr::hf::s5066
