/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/rate/block_errors.h"
#include "sim/air/fading.h"
#include "sim/air/scheduler.h"
#include "waveform/timing.h"

#include <hf/modem_user.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <vector>

namespace gr::hf::sim {

//! What happens to a transmission between two stations.
struct air_path {
    double ber = 0; //!< independent bit errors in the decoded octets
    //! Probability that a transmission is not noticed (preamble missed). 1: the other
    //! station is not heard and does not disturb either.
    double loss = 0;
    double eom_loss = 0;  //!< probability that the end-of-message marker is missed
    double snr_db = 30;   //!< reported to the receiver
    station_time delay{}; //!< propagation delay
    //! Replaces ber and snr_db: SNR over time, which decides block errors, missed
    //! preambles and the reported SNR.
    std::shared_ptr<const snr_trace> fading;
    //! Replaces ber: independent blocks with the errors measured at snr_db.
    std::shared_ptr<const s5066::block_error_curves> blocks;
    double duplicate = 0; //!< probability that the octets of a block are delivered twice
    double reorder = 0;   //!< probability that a block arrives after its successor
    //! True: the transmission is not heard at all. Called once per transmission with 0,
    //! 1, 2 ...
    std::function<bool(uint64_t)> drop;
};

/*! \brief What goes wrong with single transmissions, for tests. They are numbered from 0,
 *         over all stations, in the order of their start. Empty functions change nothing.
 */
struct air_faults {
    //! Called when a transmission begins, with its number and that of the modem. True:
    //! nobody hears it.
    std::function<bool(uint64_t, size_t)> loses;
    //! Called with the octets of each block before any station gets them. May change
    //! them. The second number is the place of the first octet in the transmission.
    std::function<void(uint64_t, size_t, std::vector<uint8_t>&)> alter;
    //! True: nobody recognises the end of message of this transmission.
    std::function<bool(uint64_t)> hides_end;
    //! True: nobody finds the preamble of this transmission, but carrier detectors notice
    //! the signal.
    std::function<bool(uint64_t)> unread;
    //! True: no receiver reports any end of this transmission to its user.
    std::function<bool(uint64_t)> loses_end;
};

//! A transmission on the air, for pictures and tables.
struct transmission_record {
    size_t station = 0; //!< number of the modem, as emulated_modem::id()
    mode m;
    station_time begin{};
    station_time end{};
    size_t octets = 0; //!< octets passed to the modem
    bool cut = false;  //!< the station was switched off in the middle
};

class emulated_modem;

/*! \brief The channel between emulated modems, with bit errors, missed preambles and
 *         collisions.
 *
 * A transmission is heard by every other station that does not transmit and hears nothing
 * else during the preamble. Blocks that overlap with another signal at the receiver
 * become noise. Same seed, same result.
 */
class emulated_air
{
public:
    explicit emulated_air(scheduler& s, uint64_t seed = 1)
        : d_scheduler(s), d_random(seed), d_readings(seed)
    {
    }

    //! Path between two stations. It stays when one of them is restarted.
    void
    set_path(const emulated_modem& from, const emulated_modem& to, const air_path& p);
    /*! \brief Blocks everything from \p from to \p to between two times.
     *  \details Numbers of modems. Empty: all. A block is spoilt if more than a tenth of
     *  it is covered. A preamble is missed.
     */
    void disturb(std::optional<size_t> from,
                 std::optional<size_t> to,
                 station_time begin,
                 station_time end);
    //! Called when a transmission has ended.
    std::function<void(const transmission_record&)> on_transmission;
    //! Sets what goes wrong with transmissions besides the properties of the paths.
    void set_faults(air_faults f) { d_faults = std::move(f); }
    //! Path of all pairs without their own path.
    void set_default_path(const air_path& p) { d_default = p; }
    //! Number of transmissions started.
    uint64_t transmissions() const { return d_count; }
    //! Pairs of transmissions that overlapped in time where one station hears both.
    uint64_t collisions() const { return d_collisions; }

private:
    friend class emulated_modem;
    struct signal {
        uint64_t id = 0;
        size_t from = 0;
        mode m;
        kernel::mode_timing timing;
        station_time begin{};
        std::optional<station_time> end;
        size_t sent_octets = 0;
        uint64_t given_blocks = 0; // blocks delivered with octets
        std::vector<uint8_t> octets;
        std::vector<size_t> dropped_at; // stations that do not hear it at all
    };
    using signal_ptr = std::shared_ptr<signal>;

    struct disturbance {
        std::optional<size_t> from, to;
        station_time begin{}, end{};
    };

    //! \return the number of the modem: \p id, or a new one
    size_t join(emulated_modem* m, std::optional<size_t> id);
    void leave(emulated_modem* m);
    const air_path& path_between(size_t from, size_t to) const;
    //! A station hears both, or is one of them and hears the other.
    bool meet(size_t a, size_t b) const;
    signal_ptr begin(emulated_modem* from, const mode& m);
    //! Block \p k of \p s is on the air from now until its end.
    void block(const signal_ptr& s, size_t k, std::vector<uint8_t> octets, bool last);
    void over(const signal& s, bool cut);
    //! Whether \p m hears a transmission that it does not receive.
    bool audible(const emulated_modem& m) const;
    bool disturbed(const signal& s, size_t at, station_time a, station_time b) const;
    //! Bit error rate of a coded block, 0 without errors.
    bool end_heard(const signal& s, const air_path& p, double ber);
    double block_ber(const air_path& p, const signal& s, station_time a, station_time b);
    //! \param burst bits that an error spreads over, half of them wrong; 1: single bits
    void add_errors(std::vector<uint8_t>& octets, double ber, double burst);
    double uniform()
    {
        return static_cast<double>(d_random() >> 11) / 9007199254740992.0;
    }
    void forget_old();

    scheduler& d_scheduler;
    std::mt19937_64 d_random;
    std::mt19937_64 d_readings; // measurement errors of receivers
    std::vector<emulated_modem*> d_modems;
    air_path d_default;
    air_faults d_faults;
    size_t d_next_id = 0;
    std::map<std::pair<size_t, size_t>, air_path>
        d_paths; // keyed by numbers of the modems
    std::map<std::pair<size_t, size_t>, uint64_t> d_numbers; // count of transmissions
    std::vector<disturbance> d_disturbances;
    std::deque<signal_ptr> d_signals;
    uint64_t d_count = 0;
    uint64_t d_collisions = 0;
};

} // namespace gr::hf::sim
