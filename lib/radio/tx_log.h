/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "radio/device_time.h"

#include <cstdint>
#include <deque>
#include <optional>

namespace gr::hf::kernel {

//! Trouble with a transmission, as reported by a device.
enum class tx_trouble {
    late,      //!< it arrived after its time: its start was not sent
    underflow, //!< its samples arrived late: it has a hole
    untimed,   //!< the device has not reported a time yet: not sent
    lost,      //!< the device is gone
    unkeyed    //!< the key is up, or its state is unknown
};

const char* to_string(tx_trouble t);

/*! \brief Finds the transmission that a device's report belongs to.
 *
 * Devices report packets and times; a data link needs to know which of its transmissions
 * suffered.
 */
class tx_log
{
public:
    static constexpr size_t most = 64; //!< transmissions remembered
    //! Reports may also carry the time of a packet next to the burst; s.
    static constexpr double slack_s = 0.05;

    struct event {
        tx_trouble what;
        uint64_t transmission; //!< 0: no known one
        bool first;            //!< the first report of this transmission
    };

    void began(uint64_t number, const device_time& t);
    void ended(uint64_t number, const device_time& t);
    //! The device reports trouble, with a time of its clock if it gives one.
    event report(tx_trouble what, const std::optional<device_time>& t);

private:
    struct entry {
        uint64_t number;
        device_time begin;
        std::optional<device_time> end;
        bool reported;
    };
    std::deque<entry> d_entries;
};

} // namespace gr::hf::kernel
