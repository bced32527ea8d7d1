/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sim/air/emulated_air.h"

namespace gr::hf::sim {

//! Properties of an emulated modem.
struct modem_config {
    //! From the end of a block to its octets. Empty: 100 ms, in a wideband mode 50 ms
    //! (assumed: no such modem is available here).
    std::optional<station_time> rx_latency;
    station_time tick =
        std::chrono::milliseconds(10); //!< grid of on_tick() and want_tx()
    //! Number of the station on the air. A restarted station keeps it. Empty: a new one.
    std::optional<size_t> id;
    station_time clock{}; //!< how far the user's clock is ahead of virtual time
    //! Carrier detector: delay until a running transmission is noticed, and until its end
    //! is, as in kernel::carrier_detector at a usual SNR. Empty: no detector.
    std::optional<station_time> carrier_delay = std::chrono::milliseconds(300);
    station_time carrier_release = std::chrono::milliseconds(900);
};

/*! \brief Half-duplex modem without samples. It has the exact times of preambles and
 *         blocks of each mode, and octets instead of symbols.
 *
 * It drives a modem_user as a real modem does, but calls on_tick() only when the user's
 * next deadline is due, so that virtual time can jump.
 */
class emulated_modem
{
public:
    //! Time at which the user wants to be called. Empty: only after an event.
    using deadline_function = std::function<std::optional<station_time>()>;
    //! Called after every call of the user, to collect its output.
    using after_function = std::function<void()>;

    emulated_modem(scheduler& s,
                   emulated_air& air,
                   modem_user& user,
                   const modem_config& config,
                   deadline_function next_deadline,
                   after_function after = {});
    ~emulated_modem();
    emulated_modem(const emulated_modem&) = delete;
    emulated_modem& operator=(const emulated_modem&) = delete;

    //! The user got input from above. Its deadlines may have changed.
    void poke();
    //! Number of the station on the air.
    size_t id() const { return d_id; }
    //! Time that the user sees.
    station_time clock() const { return d_scheduler.now() + d_config.clock; }
    //! The user's clock jumps forward or back.
    void step_clock(station_time by);
    //! From the end of a block of mode \p m to its octets.
    station_time rx_latency(const mode& m) const;
    bool transmitting() const { return d_sending != nullptr; }
    bool receiving() const { return d_hearing != nullptr; }
    //! A signal is sensed that is not being received.
    bool senses_carrier() const { return d_carrier.value_or(false); }

private:
    friend class emulated_air;

    void service();
    void schedule();
    void start(const mode& m);
    void send_block(size_t k);
    void end_transmission();
    // Calls of the emulated_air.
    void preamble_over(const emulated_air::signal_ptr& s, bool noticed, double snr_db);
    void block_over(const emulated_air::signal_ptr& s, rx_octets e, bool late);
    void hand_over(const rx_octets& e);
    void listen();
    void forget_carrier();
    void sense();
    void signal_over(const emulated_air::signal_ptr& s, station_time air_end, bool eom);
    // The reception is over, but its user is not notified.
    void signal_forgotten(const emulated_air::signal_ptr& s);
    std::function<void()> guarded(std::function<void()> f);

    scheduler& d_scheduler;
    emulated_air& d_air;
    modem_user& d_user;
    modem_config d_config;
    deadline_function d_next_deadline;
    after_function d_after;
    emulated_air::signal_ptr d_sending;
    emulated_air::signal_ptr d_hearing;
    size_t d_bits = 0; // bits accepted from the user in this transmission
    size_t d_id = 0;
    station_time d_listening_since{}; // listening for transmissions that are not received
                                      // since
    std::optional<bool> d_carrier;
    std::optional<rx_octets> d_late;
    std::shared_ptr<bool> d_alive = std::make_shared<bool>(true);
    std::optional<station_time> d_scheduled;
    uint64_t d_wake = 0;
};

} // namespace gr::hf::sim
