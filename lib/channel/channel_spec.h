/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "channel/learned_channel.h"

#include <memory>
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

//! Bursts of white noise at random times (a Poisson process): atmospherics, switching.
struct impulse_spec {
    double rate = 0;      //!< bursts per second, above 0, to 1000
    double level_db = 0;  //!< power of a sample, relative to the signal, -100 to 100
    double length_ms = 1; //!< above 0, to 1000
};

//! A foreign carrier in the receiver's channel.
struct carrier_spec {
    double frequency_hz = 0; //!< from the middle of the channel, -5000 to 5000
    double level_db = 0;     //!< power, relative to the signal, -100 to 100
    //! Speed of the frequency, -1000 to 1000. It turns round 1500 Hz from the middle, or
    //! at frequency_hz if that is further away.
    double hz_per_s = 0;
};

//! A softly keyed carrier: Morse code with characters of random length.
struct morse_spec {
    double frequency_hz = 0;   //!< from the middle of the channel, -5000 to 5000
    double level_db = 0;       //!< power while the key is down, relative to the signal
    double words_per_min = 20; //!< 1 to 100; a dot lasts 1.2 s divided by this
};

//! Radio teletype: a carrier of steady level and phase that jumps between two frequencies
//! with random characters of five bits, one start bit and 1.5 stop bits.
struct rtty_spec {
    double frequency_hz = 0; //!< middle of the two, as for carriers
    double level_db = 0;     //!< power, relative to the signal, -100 to 100
    double baud = 45.45;     //!< bits/s, 10 to 1000
    double shift_hz = 170;   //!< from one frequency to the other, 10 to 2000
};

//! Kinds of receiver_filter.
enum class filter_kind { fir, butterworth, elliptic };

//! The filter of the receiver's radio.
struct filter_spec {
    filter_kind kind = filter_kind::fir;
    //! Edges, Hz from the middle of the channel (1800 Hz of audio), -5000 to 5000.
    double low_hz = -1500, high_hz = 1500;
};

//! Level that steps up or down and back again.
struct step_spec {
    double step_db = 0; //!< -100 to 100
    double every_s = 1; //!< time between two steps, 0.001 to 3600
};

/*! \brief A channel as a value with a string form, for command lines, GRC and tests.
 *
 * The string is a list of items, separated by spaces or semicolons:
 *
 *  clear                        no impairment: samples pass unchanged
 *  awgn                         one static path: noise is the only impairment
 *  good moderate poor flutter   ITU-R F.520: two equal Rayleigh paths of
 *                               0.5 ms/0.1 Hz, 1 ms/0.5 Hz, 2 ms/1 Hz, 0.5 ms/10 Hz
 *  low-quiet ... high-disturbed nvis   ITU-R F.1487, two equal Rayleigh paths, see
 *                               names() or docs/channel.md
 *  paths=D:G:S,D:G:S[:F[:P]]    explicit: delay ms, gain dB, spread Hz (two sigma),
 *                               shift Hz, phase degrees (static paths)
 *  learned=FILE                 paths from a channel file, see learned_channel; a name
 *                               with blanks or semicolons needs double quotes
 *  snr=DB                       white noise, SNR in the bandwidth
 *  bandwidth=KHZ                bandwidth of snr=; by default that of the waveform, or 3
 *                               if the waveform is unknown
 *  offset=HZ  drift=HZ_PER_S    frequency offset at the first sample, and its rate
 *  sweep=HZ_PER_S               offset runs as a triangle between +-offset at this rate
 *  clock=PPM                    how much faster the sender's sample clock runs
 *  impulses=RATE:DB[:MS]        RATE noise bursts per second, DB relative to the signal
 *  carriers=HZ:DB[:HZ_PER_S],.. interferers, DB relative to the signal; they may move
 *  morse=HZ:DB[:WPM]            keyed carrier, DB relative to the signal while it is on
 *  rtty=HZ:DB[:BAUD:SHIFT]      radio teletype, DB relative to the signal
 *  filter=KIND:LOW:HIGH         the radio's filter: fir, butterworth or elliptic, edges
 *                               in Hz from the middle of the channel
 *  gain=DB                      gain of everything, noise included
 *  step=DB:S                    level changes by DB, and back, every S seconds
 *  agc=S                        the receiver's gain control, S seconds to recover
 *
 * The paths' total mean power is normalised to 1; the relative gains remain.
 */
struct channel_spec {
    std::vector<path_spec> paths{ path_spec{} };
    std::shared_ptr<const learned_channel> learned; //!< replaces paths; else null
    std::optional<double> snr_db; //!< in the bandwidth, -50 to 200; empty: no noise
    std::optional<double> bandwidth_khz; //!< of snr_db, 0.1 to 1000; empty: 3
    double offset_hz = 0;                //!< -4000 to 4000
    double drift_hz_per_s = 0;           //!< -1000 to 1000
    double sweep_hz_per_s = 0;           //!< 0 to 1000; 0: no sweep
    double clock_ppm = 0;                //!< -1000 to 1000; see sample_clock
    std::optional<impulse_spec> impulses;
    std::vector<carrier_spec> carriers; //!< up to 16
    std::optional<morse_spec> morse;
    std::optional<rtty_spec> rtty;
    std::optional<filter_spec> filter;
    double gain_db = 0; //!< -200 to 200
    std::optional<step_spec> step;
    double agc_s = 0; //!< time constant, 0.001 to 60; 0: no gain control

    //! The named channels that parse() knows, in the order of the documentation.
    static std::vector<std::string> names();

    /*! \brief Read the string form.
     *  \details Reads the file of learned=.
     *  \throws std::invalid_argument that names the wrong item and what is allowed
     */
    static channel_spec parse(const std::string& text);

    //! The string form; parse() reads it back to the same value.
    std::string to_string() const;

    //! \throws std::invalid_argument that names the value out of its range
    void validate() const;

    bool operator==(const channel_spec& o) const;
};

} // namespace gr::hf::kernel
