/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/pdu/s_pdu.h"

namespace gr::hf::s5066 {

//! The shortened form (A.3.1.1) of a time in seconds since 1970.
time_to_die time_to_die_at(int64_t utc);

/*! \brief Whether \p t has passed at \p utc, seconds since 1970.
 *  \details The day is known modulo 16 only: the one within eight days of now is meant.
 */
bool is_over(const time_to_die& t, int64_t utc);

} // namespace gr::hf::s5066
