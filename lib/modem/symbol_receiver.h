/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/base/grid.h"
#include "modem/front/sample_buffer.h"
#include "modem/track/symbol_follower.h"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

namespace gr::hf::kernel {

/*! \brief Equalised symbols of the transmissions of one mode, whose preambles another part
 *         finds.
 */
class symbol_receiver
{
public:
    //! \param d must outlive the receiver
    explicit symbol_receiver(const description& d);

    //! Take \p n samples, then call next() until it returns nothing.
    void push(const std::complex<float>* x, size_t n) { d_in.append(x, n); }
    //! Samples taken.
    int64_t samples() const { return d_in.end(); }
    /*! \brief A preamble was found, at most a second after its end.
     *  \returns false for another mode, or if its first samples are gone
     */
    bool begin(const acquired& a);

    //! A block, and what began with it: empty if it goes on.
    struct block {
        equalised_block symbols;
        std::optional<acquired> start;
    };
    std::optional<block> next();

private:
    double first_sample(const acquired& a) const;
    bool judge();

    const description& d_d;
    const symbol_grid d_grid;
    const int64_t d_history; // samples
    sample_buffer d_in;
    std::deque<acquired> d_found;
    std::optional<acquired> d_start;
    std::optional<symbol_follower> d_follower;
};

} // namespace gr::hf::kernel
