/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

namespace gr::hf::s5066 {

/*! \brief Goodput of much data with the best mode of 3 kHz on a channel like ITU-R
 *         Moderate, bit/s (mode_promises).
 *  \param snr_db mean, in 3 kHz
 */
double promised_bps(double snr_db);

} // namespace gr::hf::s5066
