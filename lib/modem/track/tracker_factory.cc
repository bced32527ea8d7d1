/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/detect/iterative_detector.h"
#include "modem/track/burst_tracker.h"
#include "modem/track/frame_tracker.h"
#include "modem/track/symbol_follower.h"
#include "modem/track/walsh_tracker.h"

#include <algorithm>
#include <cmath>

namespace gr::hf::kernel {

double snr_in_bandwidth(double es_over_n0, const description& d)
{
    return 10 *
           std::log10(std::max(es_over_n0, 1e-9) * d.symbol_rate_bd / d.m.bandwidth_hz);
}

channel_estimator::options estimator_options(const acquired& a)
{
    channel_estimator::options o;
    o.taps = a.profile.size();
    o.symbol_rate_bd = a.waveform->symbol_rate_bd;
    o.fading = a.plan->paces.front().pace;
    o.finds_paths = a.plan->finds_paths;
    o.plan = a.plan->estimator;
    return o;
}

// Decision feedback needs the factors of a matrix, which a long channel makes too large.
std::unique_ptr<equaliser> single_pass_equaliser(const acquired& a)
{
    if (a.profile.size() > dense_delays)
        return std::make_unique<linear_equaliser>();
    return std::make_unique<decision_feedback_equaliser>();
}

std::unique_ptr<burst_tracker> make_tracker(const acquired& a,
                                            double lost_after_s,
                                            int effort,
                                            std::shared_ptr<const known_channel> known,
                                            std::shared_ptr<diversity_link> link,
                                            size_t side)
{
    const description& d = *a.waveform;
    const reception_plan& p = *a.plan;
    const auto rounds = [effort](size_t usual, size_t most) {
        return effort > 1 ? most : effort > 0 ? usual : 0;
    };
    if (d.spread())
        return std::make_unique<walsh_tracker>(
            a, lost_after_s, rounds(p.walsh.rounds, p.walsh.max_rounds));
    std::unique_ptr<detector> det;
    // Without a code there is nothing to iterate with. Decision feedback is best then,
    // but it needs the factors of a matrix.
    if (effort > 0 && d.code.coded) {
        auto iterating = std::make_unique<iterative_detector>(
            d, rounds(p.rounds, p.max_rounds), a.reading);
        partner other{ std::move(link), side, iterating.get() };
        return std::make_unique<frame_tracker>(
            a, lost_after_s, std::move(iterating), std::move(known), std::move(other));
    }
    det = std::make_unique<single_pass_detector>(d, single_pass_equaliser(a), a.reading);
    return std::make_unique<frame_tracker>(
        a, lost_after_s, std::move(det), std::move(known));
}

} // namespace gr::hf::kernel
