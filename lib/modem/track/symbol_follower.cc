/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/track/symbol_follower.h"

#include "modem/track/frame_tracker.h"
#include "modem/track/walsh_tracker.h"

#include <utility>

namespace gr::hf::kernel {

// Keeps the symbols of a block.
class symbol_follower::taker : public detector
{
public:
    explicit taker(std::unique_ptr<equaliser> eq) : d_equaliser(std::move(eq)) {}

    void frame(frame_observation& f) override
    {
        d_block.noise.push_back(f.noise);
        d_equaliser->equalise(f, d_estimates);
        for (const symbol_estimate& e : d_estimates) {
            d_block.symbols.push_back(e.value);
            d_block.errors.push_back(e.error);
        }
    }
    decoded_block end_block(frame_source&) override { return {}; }
    void forget() override { d_block = {}; }

    equalised_block take() { return std::exchange(d_block, {}); }

private:
    std::unique_ptr<equaliser> d_equaliser;
    std::vector<symbol_estimate> d_estimates;
    equalised_block d_block;
};

symbol_follower::symbol_follower(const acquired& a, double lost_after_s)
    : d_d(*a.waveform)
{
    if (d_d.spread()) {
        d_tracker = std::make_unique<walsh_tracker>(a, lost_after_s, 0);
    } else {
        auto own = std::make_unique<taker>(single_pass_equaliser(a));
        d_taker = own.get();
        d_tracker = std::make_unique<frame_tracker>(a, lost_after_s, std::move(own));
    }
    d_tracker->keep_details();
}

symbol_follower::~symbol_follower() = default;

std::optional<equalised_block> symbol_follower::advance(const sample_buffer& in)
{
    auto received = d_tracker->advance(in);
    if (!received)
        return std::nullopt;
    equalised_block b;
    if (d_taker != nullptr) {
        b = d_taker->take();
        b.taps = std::move(received->details->taps);
    } else {
        const std::vector<float>& llr = received->details->llrs;
        for (size_t i = 0; i + 1 < llr.size(); i += 2)
            b.symbols.emplace_back(llr[i], llr[i + 1]);
        b.errors.assign(b.symbols.size(), 1);
    }
    b.channel = received->channel;
    return b;
}

} // namespace gr::hf::kernel
