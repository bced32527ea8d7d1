/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <hf/station_time.h>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gr::hf::ale {

/*! \brief Link quality of each station on each channel, in both directions
 *         (MIL-STD-188-141B A.5.4.1).
 *  \details Entries older than lifetime do not count. The oldest entry makes room when
 *  the store is full.
 */
class lqa_store
{
public:
    static constexpr size_t max_cells = 4096;
    static constexpr station_time lifetime = std::chrono::hours(1);

    //! The station was heard with \p snr_db in 3 kHz, by ALE or by ordinary traffic.
    void
    heard(const std::string& station, size_t channel, double snr_db, station_time now);
    //! SNR with which it was heard; empty: not known, or too old.
    std::optional<double>
    heard_db(const std::string& station, size_t channel, station_time now) const;
    //! The station reported that it hears us with \p snr_db.
    void
    reported(const std::string& station, size_t channel, double snr_db, station_time now);
    //! The station did not answer a call: what is known of the channel is forgotten.
    void unanswered(const std::string& station, size_t channel, station_time now);

    /*! \brief Mean of both directions, dB. A direction that is not known counts as the
     *         other one.
     *  \return empty: nothing known, or all of it too old
     */
    std::optional<double>
    score(const std::string& station, size_t channel, station_time now) const;

    /*! \brief Channels 0 to \p count - 1, best first.
     *  \details Channels of which nothing is known follow in the order of their numbers,
     *  then those without an answer.
     */
    std::vector<size_t>
    order(const std::string& station, size_t count, station_time now) const;

    /*! \brief Channel 0 to \p count - 1 of which nothing is known, not even that a call met
     *         no answer.
     *  \param except a channel that does not count
     *  \return the one with the oldest knowledge; empty: something is known of each
     */
    std::optional<size_t> unknown(const std::string& station,
                                  size_t count,
                                  size_t except,
                                  station_time now) const;

    //! What is known of a station on a channel.
    struct entry {
        std::string station;
        size_t channel = 0;
        double score_db = 0;
        station_time age{};
    };
    //! All scores that count, by station and channel.
    std::vector<entry> entries(station_time now) const;

    size_t size() const { return d_cells.size(); }

private:
    struct cell {
        std::optional<double> heard_db, reported_db;
        bool unanswered = false;
        station_time at{};
    };
    cell& at(const std::string& station, size_t channel, station_time now);
    const cell* find(const std::string& station, size_t channel, station_time now) const;

    std::map<std::pair<std::string, size_t>, cell> d_cells;
};

} // namespace gr::hf::ale
