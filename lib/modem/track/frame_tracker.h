/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/detect/detector.h"
#include "modem/detect/frame_model.h"
#include "modem/front/half_symbol_stream.h"
#include "modem/track/block_under_way.h"
#include "modem/track/burst_tracker.h"
#include "modem/track/carrier_follower.h"
#include "modem/track/channel_estimator.h"
#include "modem/track/clock_meter.h"
#include "modem/track/diversity_link.h"
#include "modem/track/fading_watch.h"
#include "modem/track/frame_schedule.h"
#include "modem/track/level_follower.h"
#include "modem/track/presence.h"
#include "modem/track/probe_readings.h"
#include "modem/track/symbol_beliefs.h"
#include "modem/track/true_channel.h"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace gr::hf::kernel {

//! Link to the tracker of another antenna, for joint decoding. Without a link the tracker
//! decodes alone.
struct partner {
    std::shared_ptr<diversity_link> link = nullptr;
    size_t side = 0;
    iterative_detector* detector = nullptr; //!< the tracker's own
};

/*! \brief Follows waveforms of data and probe symbols in frames: all but 75 bit/s.
 *
 * Every stretch of known symbols becomes an observation of the channel. A frame is
 * processed after a few more observations, or at once if it ends a block: the
 * transmission may end there, and no later observation would arrive. Data then serve as
 * known symbols, weighted by belief (Otnes 2002; docs/receiver.md, "What each idea is
 * worth").
 */
class frame_tracker : public burst_tracker, private frame_source
{
public:
    /*! \param known the true channel, for bounds; else empty
     *  \param other the other antenna, if any
     */
    frame_tracker(const acquired& a,
                  double lost_after_s,
                  std::unique_ptr<detector> det,
                  std::shared_ptr<const known_channel> known = nullptr,
                  partner other = {});
    ~frame_tracker() override;
    frame_tracker(const frame_tracker&) = delete;
    frame_tracker& operator=(const frame_tracker&) = delete;

    std::optional<received_block> advance(const sample_buffer& in) override;
    void keep_details() override;
    bool lost() const override { return d_presence.lost(); }
    int64_t last_good_symbol() const override { return d_presence.last_good(); }
    bool heard() const override { return d_presence.confirmed(); }
    bool present() const override { return d_presence.now(); }
    std::optional<acquired> followed() const override;
    int64_t needs() const override { return d_stream.needs(); }
    double sample_of(int64_t symbol) const override;

private:
    const reception_plan& plan() const { return *d_a.plan; }
    symbol_grid grid() const { return symbol_grid(d_d.symbol_rate_bd); }
    size_t window_margin() const; // delay taps
    int64_t preamble_piece() const;
    double centre_of(const frame& f) const;
    symbol_belief belief(int64_t symbol) const;

    bool observe(const sample_buffer& in, int64_t begin, int64_t end, bool exact);
    bool observe_next(const sample_buffer& in);
    bool observe_preamble(const sample_buffer& in);
    void learn_delays(const sample_buffer& in);
    void follow_level(const sample_buffer& in);
    void follow(double centre);
    void follow_clock();
    std::complex<float> carrier_turn(double centre);
    void use_pace();
    void process(const frame& f);
    void keep_paths_in_window();
    void measure_doppler(double centre);
    void prepare(const frame& f, const channel_view& c, frame_observation& o);
    void observe_again(const std::vector<symbol_belief>& beliefs,
                       std::vector<frame_observation>& frames) override;
    bool disturbed() const override;
    void take_out_carriers();
    std::optional<received_block> end_block();
    void forget_part();
    void learn_weak_delays();
    void forget_block();

    const description& d_d;
    acquired d_a;
    half_symbol_stream d_stream;
    channel_estimator d_estimator; // from known symbols alone
    channel_estimator d_refiner;   // from data too
    std::optional<true_channel> d_true;
    carrier_follower d_carrier;
    clock_meter d_clock;
    level_follower d_level;
    frame_schedule d_schedule;
    presence d_presence;
    fading_watch d_fading;
    symbol_beliefs d_beliefs;
    probe_readings d_readings;
    frame_model d_model;
    frame_observation d_frame; // work space
    block_under_way d_block;
    std::unique_ptr<detector> d_detector;
    partner d_other;
};

} // namespace gr::hf::kernel
