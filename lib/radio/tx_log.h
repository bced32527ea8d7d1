/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "radio/device_time.h"

#include <cstdint>
#include <deque>
#include <optional>

namespace gr::hf::kernel {

//! What a device tells of a transmission that did not leave it as it should.
enum class tx_trouble {
    late,      //!< its time had passed when it came: its beginning was not sent
    underflow, //!< its samples did not come in time: it has a hole
    untimed,   //!< the device has told no time yet: it was not sent
    lost,      //!< the device is gone
    unkeyed    //!< the key is up, or it is not known what it is
};

const char* to_string(tx_trouble t);

/*! \brief Which transmission a device's report belongs to.
 *
 * Devices tell of packets and times; a data link wants to know which of its transmissions suffered.
 */
class tx_log
{
public:
    static constexpr size_t most = 64; //!< transmissions remembered
    //! Reports carry the time of a packet beside the burst, too; s.
    static constexpr double slack_s = 0.05;

    struct event {
        tx_trouble what;
        uint64_t transmission; //!< 0: none that we know
        bool first;            //!< the first report of this transmission
    };

    void began(uint64_t number, const device_time& t);
    void ended(uint64_t number, const device_time& t);
    //! The device tells of trouble, at a time of its clock if it says when.
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
