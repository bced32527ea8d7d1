/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gr::hf::sim {

//! How far the call of an ALE station came.
struct ale_handshake_result {
    bool called = false;   //!< the call was read: the called station answered
    bool answered = false; //!< the answer was read: the caller acknowledged
    bool linked = false;   //!< the acknowledgement was read: both are linked
    //! Both are linked with the repeated answers and further calls of the default settings.
    bool linked_at_last = false;
    size_t false_links = 0; //!< to a station that did not send
    size_t strangers = 0;   //!< stations heard that do not exist
};

/*! \brief A call of two stations with default settings: SAM calls JOE.
 *  \details Both are whole stations (ale::link_radio) that know ten others. Each hears the
 *  other through one realisation of the channel, the same in both directions. Repeated
 *  answers and further calls count only in linked_at_last. The call has 23 words, as to ten
 *  channels (MIL-STD-188-141B Table A-II).
 *  \param channel words of a channel with an SNR
 *  \param seed of the channel and of the phase of the scan
 *  \param channels 1: both stay on their channel; more, to 100: both scan these, and JOE
 *         joins the call when its scan meets it. The others have noise alone.
 *  \throws std::invalid_argument
 */
ale_handshake_result
ale_handshake(const std::string& channel, uint64_t seed, size_t channels = 1);

/*! \brief Frames that a station reads that waits for an answer of JOE all the time, and for
 *         calls of ten stations.
 *  \param samples baseband at 9600 samples/s, 1800 Hz of audio at 0 Hz
 */
std::vector<std::string> ale_frames(const std::vector<std::complex<float>>& samples);

} // namespace gr::hf::sim
