/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/burst_tracker.h"
#include "modem/frame_tracker.h"
#include "modem/iterative_detector.h"
#include "modem/walsh_tracker.h"

#include <algorithm>
#include <cmath>

namespace gr::hf::kernel {

double snr_in_3_khz(double es_over_n0)
{
    return 10 * std::log10(std::max(es_over_n0, 1e-9) * 2400 / 3000);
}

std::unique_ptr<burst_tracker> make_tracker(const acquired& a,
                                            double lost_after_s,
                                            int effort,
                                            std::shared_ptr<const known_channel> known)
{
    const description& d = describe(a.m);
    // Transmissions end with a block, so silence within a long one is a fade.
    constexpr double share = 0.75, longest_s = 4.5;
    const double block_s = static_cast<double>(d.block_symbols()) / d.symbol_rate;
    lost_after_s = std::max(lost_after_s, std::min(share * block_s, longest_s));
    if (d.spread())
        return std::make_unique<walsh_tracker>(
            a, lost_after_s, effort > 1 ? 4 : 2 * effort);
    std::unique_ptr<detector> det;
    // Without a code there is nobody to iterate with, and feedback of decisions is best.
    if (effort > 0 && d.code.coded)
        det = std::make_unique<iterative_detector>(d, effort > 1 ? 10 : 4);
    else
        det = std::make_unique<single_pass_detector>(
            d, std::make_unique<decision_feedback_equaliser>());
    return std::make_unique<frame_tracker>(
        a, lost_after_s, std::move(det), std::move(known));
}

} // namespace gr::hf::kernel
