/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace gr::hf::kernel {

//! One propagation path.
struct path_spec {
    double delay_ms = 0;  //!< 0 to 1000
    double gain_db = 0;   //!< mean, relative to the other paths; -100 to 100
    double spread_hz = 0; //!< two-sigma Doppler spread, 0 (static) to 200
    double shift_hz = 0;  //!< mean Doppler shift, -1000 to 1000
    double phase_deg = 0; //!< of a static path
};

/*! \brief A channel as a value with a string form, for command lines, GRC and tests.
 *
 * The string is a list of items, separated by spaces or semicolons:
 *
 *     clear                     nothing: samples pass unchanged
 *     awgn                      one static path; says that noise is the only impairment
 *     good moderate poor flutter   ITU-R F.520: two equal Rayleigh paths of
 *                               0.5 ms/0.1 Hz, 1 ms/0.5 Hz, 2 ms/1 Hz, 0.5 ms/10 Hz
 *     paths=D:G:S,D:G:S[:F[:P]]  explicit: delay ms, gain dB, spread Hz (two sigma),
 *                               shift Hz, phase degrees (static paths)
 *     snr=DB                    white noise, SNR in 3 kHz
 *     offset=HZ  drift=HZ_PER_S frequency offset at the first sample, and its rate
 *     sweep=HZ_PER_S            offset runs as a triangle between +-offset at this rate
 *     gain=DB                   of everything, noise included
 *
 * The paths' total mean power is normalised to 1; the relative gains remain.
 */
struct channel_spec {
    std::vector<path_spec> paths{ path_spec{} };
    std::optional<double> snr_db; //!< in 3 kHz, -50 to 200; empty: no noise
    double offset_hz = 0;         //!< -4000 to 4000
    double drift_hz_per_s = 0;    //!< -1000 to 1000
    double sweep_hz_per_s = 0;    //!< 0 to 1000; 0: no sweep
    double gain_db = 0;           //!< -200 to 200

    /*! \brief Read the string form.
     *  \throws std::invalid_argument naming the item that is wrong and what is allowed.
     */
    static channel_spec parse(const std::string& text);

    //! A string form that parse() reads back to the same value.
    std::string to_string() const;

    //! \throws std::invalid_argument naming the value out of its range.
    void validate() const;

    bool operator==(const channel_spec& o) const;
};

} // namespace gr::hf::kernel
