/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "ip/address.h"

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace gr::hf {

//! Ranks of SIS clients (A.2.1.1) by the address that they connect from.
class sis_ranks
{
public:
    /*! \param entries "PREFIX=RANK": the highest rank of that network. The longest
     *         matching prefix counts. Empty: 15 (which may change the configuration) for
     *         this machine, 14 for all others.
     *  \throws std::invalid_argument names the entry and what is allowed
     */
    explicit sis_ranks(const std::vector<std::string>& entries)
    {
        for (const auto& e : entries.empty() ? by_default() : entries) {
            const auto eq = e.rfind('=');
            const std::string rank = eq == std::string::npos ? "" : e.substr(eq + 1);
            const bool number = !rank.empty() && rank.size() <= 2 &&
                                rank.find_first_not_of("0123456789") == std::string::npos;
            if (!number || std::stoi(rank) > 15)
                throw std::invalid_argument(
                    "rank '" + e +
                    "': allowed is PREFIX=RANK with a rank from 0 to 15, for example "
                    "10.66.0.0/24=4");
            d_table.add(ip::prefix(e.substr(0, eq)), std::stoi(rank));
        }
    }

    static std::vector<std::string> by_default()
    {
        return { "127.0.0.0/8=15", "::1=15", "0.0.0.0/0=14", "::/0=14" };
    }

    //! The highest rank of a client at \p a. None: it may not connect.
    std::optional<int> highest(const ip::address& a) const
    {
        const int* rank = d_table.find(a);
        return rank ? std::optional(*rank) : std::nullopt;
    }

private:
    ip::prefix_table<int> d_table;
};

} // namespace gr::hf
