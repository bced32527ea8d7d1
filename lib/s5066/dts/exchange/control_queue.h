/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/pdu/d_pdu.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace gr::hf::s5066 {

//! D_PDUs without data for the next transmission to one peer: answers, link control,
//! warnings.
class control_queue
{
public:
    //! Capacity.
    static constexpr size_t most = 8;

    bool empty() const { return d_list.empty(); }
    size_t room() const { return most - d_list.size(); }
    //! True if predicate \p is holds for one of them.
    template <class predicate>
    bool has(predicate is) const
    {
        return std::any_of(d_list.begin(), d_list.end(), is);
    }
    //! Adds one; ignored if there is no room.
    void push(d_pdu d)
    {
        if (room() > 0)
            d_list.push_back(std::move(d));
    }
    //! Removes those for which predicate \p is holds.
    template <class predicate>
    void drop(predicate is)
    {
        d_list.erase(std::remove_if(d_list.begin(), d_list.end(), is), d_list.end());
    }
    //! Removes and returns all.
    std::vector<d_pdu> take() { return std::exchange(d_list, {}); }

private:
    std::vector<d_pdu> d_list;
};

} // namespace gr::hf::s5066
