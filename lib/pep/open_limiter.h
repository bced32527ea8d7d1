/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/words/address.h"
#include <hf/station_time.h>

#include <cstddef>
#include <map>

namespace gr::hf::hfpep {

//! Limits of new and of standing connections. Our choice; S5066-APP9 has none.
struct open_limits {
    double per_second = 100;     //!< all peers together, 0.01 to 1e6
    double per_second_peer = 20; //!< one peer, 0.01 to 1e6
    size_t burst = 256;          //!< either, in one burst after a pause, 1 to 100000
    size_t standing_peer = 200; //!< connections with one peer, both directions, 1 to 4096

    //! \throws std::invalid_argument names the value and what is allowed.
    void validate() const;
};

/*! \brief Rates of open_limits for one direction, as token buckets.
 *  \details A refused open costs no tokens. Memory: one entry for each peer that opened
 *  recently, at most peers_max.
 */
class open_limiter
{
public:
    //! \throws std::invalid_argument as open_limits::validate()
    explicit open_limiter(const open_limits& l);

    //! Whether a connection with \p peer may start now. If so, it is counted.
    bool take(station_time now, const s5066::address& peer);
    size_t peers() const { return d_peers.size(); } //!< peers remembered

    static constexpr size_t peers_max = 4096;

private:
    struct bucket {
        double tokens;
        station_time at;
    };
    void fill(bucket& b, double per_second, station_time now) const;
    void forget_full(station_time now);

    open_limits d_limits;
    bucket d_all;
    std::map<s5066::address, bucket> d_peers;
    size_t d_tidy_at;        // number of peers at which to remove old ones
    station_time d_tidied{}; // time of the last removal
};

} // namespace gr::hf::hfpep
