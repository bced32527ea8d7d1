/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Divides the bins of a spectrum among carriers. A carrier keeps its number from
 *         one spectrum to the next while it moves by few bins.
 */
class carrier_bins
{
public:
    //! Bins first .. end - 1 of a carrier.
    struct range {
        int first = 0, end = 0;
        bool empty() const { return first == end; }
    };

    //! \param count most carriers at once
    explicit carrier_bins(size_t count) : d_carriers(count) {}

    //! Forget all carriers.
    void restart();

    /*! \brief Take the next spectrum.
     *  \details Bins above \p strong that touch, or have one bin between them, are one
     *  carrier. Every bin belongs to the nearest one. Without any carrier 0 has them all.
     */
    void update(const std::vector<float>& powers, float strong);

    //! Bins of carrier \p number, 0 .. count - 1. Empty: there is no such carrier.
    range of(size_t number) const { return d_carriers[number].bins; }

private:
    struct carrier {
        std::optional<double> centre; // empty: there is none
        range bins = {};
    };
    struct group { // of strong bins
        int first, last;
        double moment = 0, power = 0;
        carrier* owner = nullptr;
        double centre() const { return moment / power; }
    };

    std::vector<group> groups_of(const std::vector<float>& powers, float strong) const;
    void follow(std::vector<group>& groups);
    carrier& unused();

    std::vector<carrier> d_carriers;
};

} // namespace gr::hf::kernel
