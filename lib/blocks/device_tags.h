/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "radio/device_time.h"

#include <pmt/pmt.h>

#include <optional>

/*! \file device_tags.h
 *  \brief Device times in the tags rx_time and tx_time. As in gr-uhd, each is a tuple of
 *         whole seconds and the rest of a second.
 */
namespace gr::hf::device_tags {

inline pmt::pmt_t tag(const kernel::device_time& t)
{
    return pmt::make_tuple(pmt::from_uint64(static_cast<uint64_t>(t.seconds)),
                           pmt::from_double(t.fraction));
}

//! Empty if the value is something else: any block may add any tag.
inline std::optional<kernel::device_time> time(const pmt::pmt_t& value)
{
    pmt::pmt_t seconds, fraction;
    if (pmt::is_tuple(value) && pmt::length(value) >= 2) {
        seconds = pmt::tuple_ref(value, 0);
        fraction = pmt::tuple_ref(value, 1);
    } else if (pmt::is_pair(value)) { // in gr-uhd's messages
        seconds = pmt::car(value);
        fraction = pmt::cdr(value);
    } else {
        return std::nullopt;
    }
    if (!pmt::is_real(fraction) || !(pmt::is_uint64(seconds) || pmt::is_integer(seconds)))
        return std::nullopt;
    const double rest = pmt::to_double(fraction);
    if (!(rest >= 0 && rest <= 1))
        return std::nullopt;
    return kernel::device_time{ pmt::is_uint64(seconds)
                                    ? static_cast<int64_t>(pmt::to_uint64(seconds))
                                    : pmt::to_long(seconds),
                                rest };
}

} // namespace gr::hf::device_tags
