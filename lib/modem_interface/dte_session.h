/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem_interface/wire.h"
#include "waveform/timing.h"

#include <hf/modem_user.h>

#include <variant>

namespace gr::hf::modem_interface {

//! Settings of the data terminal.
struct dte_settings {
    mode tx_mode;       //!< mode that the modem is set to
    uint32_t seed = 1;  //!< UDP form: for session and transfer numbers
    size_t prefill = 3; //!< blocks sent in advance: A.5.1.2.5 step 4 asks for 3
};

//! \name Events for the user of the modem; see modem_user @{
struct pull_request {
    station_time air_time{}; //!< estimate: the interface does not report it
    size_t max_octets = 0;
};
struct tx_ended {
};
using port_event = std::variant<pull_request, tx_ended, rx_start, rx_octets, rx_end>;
//! @}

/*! \brief The data terminal of the LAN interface, MIL-STD-188-110C Appendix A: the common
 *         part of both forms.
 *
 * Acts as a modem for a data link. The data link keys up, is asked for octets, and gets
 * what is received. Octets are requested in advance of the modem's need, by the clock of
 * the station, since neither form reports reliably how much the modem still has.
 *
 * Without a modem a transmission runs all the same, but is not sent.
 *
 * The interface does not report SNR, frequency offset, quality and why a reception ended.
 * It gives modes only by rate and blocking factor, so some modes are guessed.
 */
class dte_session : public wire
{
public:
    //! \throws std::invalid_argument for a mode that mode::all() lacks
    explicit dte_session(const dte_settings& settings);

    //! \name Calls of the data link: station time @{
    void on_tick(station_time now);
    //! Transmit. \p m should be the mode that the modem is set to.
    void key_up(station_time now, const mode& m);
    //! The answer to a pull_request.
    void on_octets(const tx_octets& o);
    //! @} The next event for the data link.
    std::optional<port_event> poll_event();

    void close(station_time now) override;

    bool transmitting() const { return d_tx != tx::idle; }
    //! Transmissions that no modem sent, or not completely.
    uint64_t lost_transmissions() const { return d_lost; }
    //! Rate and blocking factor reported by the modem. 0: not yet.
    uint32_t modem_rate() const { return d_modem_rate; }
    uint32_t modem_blocking() const { return d_modem_blocking; }
    //! The modem is set to another mode than tx_mode.
    bool mismatch() const;

protected:
    //! \name Implemented by the form of the interface @{
    virtual void tx_begin() = 0;              //!< start of a transmission
    virtual bool tx_room(size_t n) const = 0; //!< the modem accepts n octets
    virtual void tx_data(const octets& data, bool first, bool last) = 0;
    virtual void tx_prefilled() = 0;           //!< enough octets are queued to start
    virtual bool starts_by_itself() const = 0; //!< the modem decides when to start
    //! Sent octets that may still be on this side of the modem's queue.
    virtual size_t tx_overhead() const { return 0; }
    virtual void on_station_tick() {}
    //! @}

    //! \name Reports of the modem @{
    void modem_setup(uint32_t rate_bps, uint32_t blocking_bits);
    void modem_started();
    void modem_flushed();
    //! The modem ends the transmission before everything was sent.
    void modem_gave_up();
    void carrier(bool on, uint32_t rate_bps, uint32_t blocking_bits);
    void data(octets o);
    void last();
    //! @}

    station_time station_now() const { return d_now; }
    bool prefilled() const { return d_prefilled; }
    bool waiting() const { return d_tx == tx::waiting; }
    bool started() const { return d_tx == tx::started; }
    const dte_settings& settings() const { return d_settings; }

private:
    enum class tx { idle, waiting, started, nowhere };

    void pull_more();
    bool pull_due() const;
    size_t block_bits() const;
    size_t lead_blocks() const;
    void end_tx();
    void end_rx(rx_end_reason why);
    mode mode_of(uint32_t rate_bps, uint32_t blocking_bits) const;
    void emit(port_event e) { d_events.push_back(std::move(e)); }

    const dte_settings d_settings;
    std::deque<port_event> d_events;
    station_time d_now{}; // station time
    uint32_t d_modem_rate = 0, d_modem_blocking = 0;

    tx d_tx = tx::idle;
    kernel::mode_timing d_timing;
    station_time d_keyed_at{};
    station_time d_anchor{}; // first symbol of the preamble on the air
    size_t d_block = 0;      // blocks requested
    size_t d_octets = 0;     // octets of this transmission
    size_t d_asked = 0;      // octets in the unanswered pull; 0: none
    size_t d_stale = 0;      // unanswered pulls of earlier transmissions
    bool d_ended = false;    // the data link has given its last octets
    bool d_prefilled = false;
    uint64_t d_lost = 0;

    bool d_receiving = false;
    bool d_rx_last = false, d_rx_off = false; // both end a reception, in either order
    station_time d_rx_ended_at{};             // when the first of them arrived
};

} // namespace gr::hf::modem_interface
