/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/pdu/d_pdu.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace gr::hf::s5066 {

//! D_PDUs without data for the next transmission to one peer: answers, link control, warnings.
class control_queue
{
public:
    //! Most of them.
    static constexpr size_t most = 8;

    bool empty() const { return d_list.empty(); }
    size_t room() const { return most - d_list.size(); }
    //! One is there that \p is says true of.
    template <class predicate>
    bool has(predicate is) const
    {
        return std::any_of(d_list.begin(), d_list.end(), is);
    }
    //! Adds one; nothing happens if there is no room.
    void push(d_pdu d)
    {
        if (room() > 0) {
            d_list.push_back(std::move(d));
        }
    }
    //! Takes out those that \p is says true of.
    template <class predicate>
    void drop(predicate is)
    {
        d_list.erase(std::remove_if(d_list.begin(), d_list.end(), is), d_list.end());
    }
    //! Takes out all.
    std::vector<d_pdu> take() { return std::exchange(d_list, {}); }

private:
    std::vector<d_pdu> d_list;
};

} // namespace gr::hf::s5066
