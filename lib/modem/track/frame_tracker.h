/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/detect/detector.h"
#include "modem/detect/frame_model.h"
#include "modem/front/half_symbol_stream.h"
#include "modem/front/level_steps.h"
#include "modem/track/burst_tracker.h"
#include "modem/track/channel_estimator.h"
#include "modem/track/clock_meter.h"
#include "modem/track/diversity_link.h"
#include "modem/track/frequency_loop.h"
#include "modem/track/presence.h"
#include "modem/track/probe_readings.h"
#include "modem/track/true_channel.h"

#include <deque>
#include <memory>

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
    bool heard() const override { return d_heard; }
    bool present() const override { return d_presence.now(); }
    std::optional<acquired> followed() const override;
    int64_t needs() const override { return d_stream.needs(); }
    double sample_of(int64_t symbol) const override;

private:
    symbol_belief belief(int64_t symbol) const;
    std::optional<received_block> end_block();
    void forget_part();
    bool observe(const sample_buffer& in, int64_t begin, int64_t end, bool exact);
    bool observe_next(const sample_buffer& in);
    void follow_level(const sample_buffer& in);
    void follow(double centre);
    void follow_clock();
    void process(const frame& f);
    void keep_paths_in_window();
    void count_gain(const frame_observation& o);
    void prepare(const frame& f, const channel_view& c, frame_observation& o);
    void observe_again(const std::vector<symbol_belief>& beliefs,
                       std::vector<frame_observation>& frames) override;
    void forget_block();
    std::complex<float> carrier_turn(double centre);
    void measure_doppler(double centre);
    void choose_pace(double hz);
    double centre_of(const frame& f) const;

    const description& d_d;
    const reception_plan& d_plan;
    acquired d_a;
    symbol_grid d_grid;
    int64_t d_begin;        // first symbol of data
    size_t d_window_margin; // delay taps
    half_symbol_stream d_stream;
    channel_estimator d_estimator; // from known symbols alone
    channel_estimator d_refiner;   // from data too
    std::optional<true_channel> d_true;
    frequency_loop d_loop;
    clock_meter d_clock;
    double d_clock_at = -1e9; // symbol of the last estimate given to d_clock
    level_steps d_steps;
    int64_t d_level_begin, d_level_at; // first sample of d_steps, next sample
    presence d_presence;
    bool d_heard = false; // true after the first probe
    std::unique_ptr<detector> d_detector;
    partner d_other;
    bool d_partial;                // the block under way began before d_begin
    bool d_block_complete = false; // and not decoded yet
    uint64_t d_block_number = 0;
    probe_readings d_readings;
    frame_cursor d_to_observe, d_to_process;
    frame d_observing, d_processing;
    bool d_reinserted_done;           // of d_observing
    int64_t d_preamble_at;            // next preamble symbol to observe
    uint64_t d_observed, d_processed; // frames
    frame_observation d_frame;
    double d_centre = 0;
    double d_mean_power = 0; // mean power of the channel
    double d_gain_sum = 0;
    size_t d_gain_count = 0;
    double d_symbol_power, d_mean_signal;    // of data; of data and probes
    doppler_meter d_doppler, d_fast_doppler; // of estimates; of each stretch alone
    doppler_meter d_preamble_doppler;        // of stretches closer together than probes
    size_t d_pace = 0, d_since_look = 0;     // index in the plan; stretches
    double d_doppler_at = 0, d_doppler_hz, d_carrier_turns = 0;
    //! Of the carrier, Hz, while the signal was there; the newest may be by what came after it.
    std::deque<double> d_good_hz;
    size_t d_doubtful; // most entries of d_good_hz
    frame_model d_model;
    std::shared_ptr<block_details> d_details; // of the current block, if wanted

    // For iterating detectors: frames of the block, and beliefs about their symbols.
    struct kept_frame {
        frame f;
        double hz, drift; // of the carrier, Hz/s
    };
    std::vector<kept_frame> d_block;
    bool d_again = false;                 // its data have been observed before
    std::vector<symbol_belief> d_beliefs; // of every symbol from d_beliefs_begin on
    int64_t d_beliefs_begin = 0;
};

} // namespace gr::hf::kernel
