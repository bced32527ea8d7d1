/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "channel/channel.h"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gr::hf::kernel {

//! The channel between the stations of a shared_air.
struct air_options {
    size_t stations = 2;           //!< 2 to 64
    std::string channel = "clear"; //!< items of channel_spec; snr= is at each receiver
    uint64_t seed = 1;             //!< of all random processes
    double signal_power = 1;       //!< mean power of a transmission, to which snr= refers
    double delay_ms = 10;          //!< of each radio plus propagation, 10 to 1000
    /*! Bandwidth of the stations' waveforms, kHz, 1 to 100. Each kHz has 3200 samples/s,
     * four for each of 800 symbols/s. snr= refers to this bandwidth unless the channel
     * gives another.
     */
    int bandwidth_khz = 3;
};

/*! \brief The radio channel that connects several stations, sample by sample.
 *
 * Each pair of stations has its own channel model, and each receiver its own noise. A
 * station does not receive itself. At sample t a station receives what all others sent
 * up to t - delay. The same seed gives the same samples, whatever the chunks.
 *
 * No locks: write(), available() and take() of all stations exclude each other; mix()
 * only touches data of its receiver.
 */
class shared_air
{
public:
    using samples = std::vector<std::complex<float>>;

    //! \throws std::invalid_argument that names the value and what is allowed
    explicit shared_air(const air_options& options);

    size_t stations() const { return d_stations.size(); }
    double sample_rate() const { return d_sample_rate; }
    uint64_t delay_samples() const { return d_delay; }

    /*! \brief Another channel from all others to station \p to, from its seed on.
     *  \details Excludes mix() of that station.
     *  \param options as made with, but for channel
     *  \throws std::invalid_argument that names the word and what is allowed
     */
    void set_channel(size_t to, const air_options& options);

    //! Take \p n transmitted samples of \p station.
    void write(size_t station, const std::complex<float>* in, size_t n);
    //! Samples that \p station can receive by now.
    uint64_t available(size_t station) const;
    /*! \brief Whether \p station takes samples; all do at first.
     *
     * Samples that a listener has not taken are kept, and a sender does not run ahead of it.
     */
    void set_listens(size_t station, bool listens)
    {
        d_stations[station].listens = listens;
    }
    //! Samples that each listener has taken; UINT64_MAX if nobody listens.
    uint64_t taken_by_all() const;
    //! Samples of \p station beyond those that each listener, it too, has taken.
    uint64_t ahead(size_t station) const;
    //! Samples already taken by \p station.
    uint64_t taken(size_t station) const { return d_stations[station].taken; }
    /*! \brief The next \p n samples of each other station, as they were sent.
     *  \param n at most available()
     *  \param[out] heard by station; the entry of \p station itself is unchanged
     */
    void take(size_t station, size_t n, std::vector<samples>& heard);
    /*! \brief Pass the samples from take() through the channels of this receiver, add
     *         them up, and add noise.
     *  \param heard is overwritten
     *  \param[out] out \p n samples
     */
    void
    mix(size_t station, std::vector<samples>& heard, std::complex<float>* out, size_t n);

private:
    struct station_state {
        samples sent; // from sample sent_from on, until all have taken it
        uint64_t sent_from = 0;
        uint64_t written = 0;
        uint64_t taken = 0;
        bool listens = true;
        std::vector<std::unique_ptr<channel>> from; // by transmitting station
        std::unique_ptr<channel> noise;             // at this receiver
    };

    void forget_taken_samples();

    double d_sample_rate;
    uint64_t d_delay;
    std::vector<station_state> d_stations;
};

} // namespace gr::hf::kernel
