/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/burst_modulator.h"
#include "modem/burst_receiver.h"
#include "modem/front/carrier_detector.h"

#include <hf/modem_user.h>

#include <complex>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace gr::hf::kernel {

//! Settings of a half-duplex modem.
struct half_duplex_options {
    bool zero_interleaver = false; //!< see rx_options
    int agc_blocks = 0;            //!< before preambles that allow them, 0 to 7
    int effort = 1;                //!< of the receiver, see rx_options
    /*! \brief Station time of the user's first tick, and earliest transmission, 0 to
     *         60 s. Sound cards and radios lose samples while their buffers fill. The
     *         modem receives from the first sample on.
     */
    double start_delay_s = 0;
    //! Bandwidth for sending and receiving, kHz, see listened_for().
    int bandwidth_khz = 3;
};

//! Time of the start of sample \p sample, 0 or more, at \p rate samples/s, rounded down.
station_time sample_time(int64_t sample, int64_t rate);

/*! \brief Modulator and receiver of one station with one antenna.
 *
 * One output sample for each input sample of the grid, in ticks of 10 ms. The receiver
 * is off while transmitting. Station time is the number of received samples.
 */
class half_duplex_modem
{
public:
    //! Start and end of a transmission within a tick, as sample indices.
    struct tx_span {
        std::optional<size_t> first;
        std::optional<size_t> last;
    };

    /*! \param user is called from run(); must outlive the modem
     *  \throws std::invalid_argument for \p options
     */
    half_duplex_modem(modem_user& user, half_duplex_options options);

    //! Grid of both streams.
    const symbol_grid& grid() const { return d_receiver.grid(); }
    //! Samples per tick: 96 in 3 kHz.
    size_t tick_samples() const { return d_tick; }

    /*! \brief Take tick_samples() samples from \p rx, write as many to \p tx.
     *  \param erased null, or for each sample of \p rx the missing share, 0 to 1
     *  \throws std::invalid_argument if the user wants to transmit in a mode of another
     *        symbol rate
     */
    tx_span run(const std::complex<float>* rx,
                std::complex<float>* tx,
                const float* erased = nullptr);

    //! Station time: received samples.
    station_time now() const { return time_of(static_cast<int64_t>(d_samples)); }
    bool transmitting() const { return d_modulator.active(); }
    /*! \brief End the transmission with the next tick, without an end of message.
     *  \details For a radio that cannot send the rest: the receiver is on again at once.
     */
    void break_off() { d_break_off = transmitting(); }
    /*! \brief The channel during the block of the last on_rx_octets(). Without a profile
     *         it is unknown.
     */
    const channel_report& channel() const { return d_channel; }
    //! The receiver's details of that block, if keep_details() asked for them; else null.
    const std::shared_ptr<const block_details>& details() const { return d_block; }
    //! See burst_receiver::keep_details().
    void keep_details(bool wanted) { d_receiver.keep_details(wanted); }

private:
    station_time time_of(int64_t sample) const;
    void receive(const std::complex<float>* rx, const float* erased);
    void sense(const std::complex<float>* rx);
    void key_up(const mode& m);

    modem_user& d_user;
    half_duplex_options d_options;
    burst_receiver d_receiver;
    burst_modulator d_modulator;
    size_t d_tick; // samples
    bool d_receiving = false;
    bool d_break_off = false;
    channel_report d_channel;
    std::shared_ptr<const block_details> d_block;
    carrier_detector d_carrier;
    std::optional<bool> d_carrier_reported;
    uint64_t d_samples = 0;   // received
    uint64_t d_tx_origin = 0; // station sample of the first sample of the transmission
};

} // namespace gr::hf::kernel
