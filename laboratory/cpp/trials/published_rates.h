/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/rate/rate_policy.h"

#include <memory>
#include <string>

namespace gr::hf::sim {

/*! \brief A published rule for the data rate, to compare ours with.
 *  \details Both rules climb a ladder of ten rates (75 to 1200 and 3200 to 9600 bit/s), by
 *  the errors of the last transmission. The receiver advises the next rate. After a
 *  transmission without an answer the sender goes down one rate. The rules want the bit
 *  error rate. Here it is that which explains the share of D_PDUs with errors, at 250
 *  octets each, as in the first paper.
 *
 *  "trinder": S. Trinder, A. Gillespie, "Optimisation of the STANAG 5066 ARQ protocol to
 *  support high data rate HF communication", MILCOM 2001. One rate down or up beyond
 *  limits of each rate. They are frame error rates of 50 and 20 % at the low rates.
 *
 *  "rapidm": S. Schulze, G. P. Hancke, "A data rate change algorithm for high data rate
 *  autobaud waveforms", 2005. Down above 1e-4 and up below 1e-6. If the SNR has changed by
 *  more than 9 dB, the rate follows along the line of the thresholds.
 *
 *  Numbers as in V. Sequeira et al., "Data rate change algorithms for efficient HF
 *  communications", ICMCIS 2018.
 *  \throws std::invalid_argument for other names
 */
std::unique_ptr<s5066::rate_policy> published_rate_policy(const std::string& name);

} // namespace gr::hf::sim
