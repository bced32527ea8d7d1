/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/detect/detector.h"
#include "modem/front/sample_buffer.h"
#include "modem/track/burst_tracker.h"
#include "waveform/reception.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Finds out which of several modes with the same frames is on the air, where no preamble
 *         said it.
 *
 * The data are equalised once. Which alphabet they are of shows in how likely the estimates are;
 * which code and interleaver, in whether a block's soft bits agree with the code better than the
 * same ones with signs at random do. Shorter blocks come first, so it is known as soon as a block
 * or two of the mode have arrived.
 */
class mode_trial
{
public:
    enum class state { pending, found, none };

    /*! \param a where the data begin, by a description with the frames of all modes
     *  \param modes what it may be; outlives this
     */
    mode_trial(const acquired& a, const std::vector<possible_mode>& modes);
    ~mode_trial();

    //! Go on; pending means that more samples are needed.
    state advance(const sample_buffer& in);

    //! What was found.
    const description* waveform() const { return d_waveform; }
    const reception_plan* plan() const { return d_plan; }

private:
    class estimates;
    //! Modes with the same points.
    struct alphabet {
        const description* d;  // one of its modes, with the shortest blocks
        double likelihood = 0; // of all estimates so far, logarithm
    };
    struct hypothesis {
        const possible_mode* what;
        const alphabet* points;
        size_t blocks = 0; //!< that were decoded
        //! Of their soft bits: what agrees with the code, and by chance; sums of magnitudes.
        double all = 0, agree = 0, chance = 0;
        double contradictions = 0; //!< so many bits would contradict by chance
        bool refuted = false;
    };

    void weigh_alphabets();
    const alphabet* likeliest() const;
    bool decode_next(hypothesis& h);
    state judge(hypothesis& h);

    std::vector<std::unique_ptr<alphabet>> d_alphabets;
    std::vector<hypothesis> d_hypotheses; // shorter blocks first
    estimates* d_estimates;               // the tracker's
    std::unique_ptr<burst_tracker> d_tracker;
    size_t d_frame; // data symbols
    size_t d_most;  // of them until it is given up
    size_t d_weighed = 0;
    const description* d_waveform = nullptr;
    const reception_plan* d_plan = nullptr;
};

} // namespace gr::hf::kernel
