/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/detect/channel_view.h"
#include "modem/track/known_channel.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace gr::hf::kernel {

//! Taps of a known channel instead of estimated ones.
class true_channel : public channel_view
{
public:
    //! \param taps number of taps in the receiver's window of delays
    true_channel(std::shared_ptr<const known_channel> channel, size_t taps);

    //! Read the channel around symbol \p centre, received in \p y.
    void look(const half_symbol_stream& y, double centre);

    const std::vector<uint16_t>& selected() const override { return d_selected; }
    void at(double n, channel_taps& g) const override;
    std::complex<float> reference(const half_symbol_stream& y, double row) const override;
    float noise() const override;

private:
    double sent_at(double n) const;
    double place(double n, double delay) const;

    std::shared_ptr<const known_channel> d_channel;
    size_t d_taps;
    double d_row_0 = 0; // input sample of row 0
    std::vector<uint16_t> d_selected;
    mutable std::vector<known_channel::path> d_paths; // work space
};

} // namespace gr::hf::kernel
