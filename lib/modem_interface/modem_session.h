/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem_interface/wire.h"
#include "waveform/timing.h"

#include <hf/modem_user.h>

#include <deque>

namespace gr::hf::modem_interface {

//! Settings of the modem.
struct modem_settings {
    mode tx_mode; //!< mode of all transmissions; the interface cannot request another
    /*! \brief Half duplex, receiver master (A.5.1.2.7.2): a transmission does not end a
     *         reception. Otherwise transmitter master (A.5.1.2.7.1).
     */
    bool receiver_master = true;
    double prebuffer_blocks = 3; //!< UDP form: blocks queued before a transmission starts
};

/*! \brief The modem of the LAN interface, MIL-STD-188-110C Appendix A: the common part of
 *         both forms.
 *
 * For the real modem it is a modem_user. Octets from the network wait in a queue until
 * the modem pulls them. A queue that runs empty before the last octet has arrived ends
 * the transmission (underrun). Nothing is transmitted unless a data terminal is
 * connected.
 */
class modem_session : public wire, public modem_user
{
public:
    //! \throws std::invalid_argument for a mode that mode::all() lacks
    explicit modem_session(const modem_settings& settings);

    //! \name modem_user: station time
    //! @{
    void on_tick(station_time) override {}
    std::optional<mode> want_tx(station_time now) override;
    tx_octets pull(station_time now, station_time air_time, size_t max_octets) override;
    void on_tx_end(station_time now) override;
    void on_rx_start(station_time now, const rx_start& e) override;
    void on_rx_octets(station_time now, const rx_octets& e) override;
    void on_rx_end(station_time now, const rx_end& e) override;
    //! @}

    //! Octets of the queue that wait to be transmitted.
    size_t queued() const { return d_fifo.size(); }
    uint64_t underruns() const { return d_underruns; }

protected:
    enum class tx_state { flushed, queueing, started, draining, draining_forced };

    //! \name Events for the form of the interface @{
    virtual void tx_changed() = 0; //!< the state or the length of the queue has changed
    virtual void underrun() = 0;   //!< called before tx_changed()
    virtual void rx_carrier() = 0; //!< carrier() has changed
    virtual void rx_data(const octets& data) = 0;
    virtual void rx_last() = 0; //!< this reception has no more data
    //! @}

    //! \name Calls by the TCP or UDP form @{
    void enqueue(const octets& data);
    void begin_queueing();
    //! Key the transmitter at the modem's next question.
    void start_tx();
    //! No more octets follow in this transmission.
    void last_queued();
    //! Discard the queue and end the transmission on the air.
    void abort_tx();
    //! End the transmission because data is missing.
    void force_drain();
    //! Pass on no more of the current reception.
    void abort_rx();
    //! @}

    tx_state state() const { return d_state; }
    bool last_known() const { return d_last; }
    size_t fifo_space() const;
    //! False while a transmission of an earlier connection is still on the air. With a
    //! receiver master, also false while receiving.
    bool port_ready() const;
    bool carrier() const { return d_carrier; }
    const mode& rx_mode() const { return d_rx_mode; }
    const modem_settings& settings() const { return d_settings; }
    size_t block_octets() const { return d_timing.bits_per_block / 8; }
    static uint32_t blocking_bits(const mode& m);

private:
    const modem_settings d_settings;
    const kernel::mode_timing d_timing;
    const size_t d_capacity;
    std::deque<uint8_t> d_fifo;
    tx_state d_state = tx_state::flushed;
    bool d_last = false;   // the last octet is in the queue or was pulled
    bool d_key_up = false; // requested, not started
    bool d_on_air = false;
    bool d_carrier = false;
    bool d_receiving = false; // carrier, even if the data terminal has aborted the
                              // reception
    bool d_rx_any = false;    // data of this reception was passed on
    mode d_rx_mode;
    uint64_t d_underruns = 0;
};

} // namespace gr::hf::modem_interface
