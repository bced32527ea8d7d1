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

/*! \brief Finds which of several modes with the same frames is on the air, if no preamble
 *         said it.
 *
 * The data are equalised once. The likelihood of the estimates shows the alphabet. The
 * code and interleaver show in the soft bits of a block: with the right ones they agree
 * with the code better than the same soft bits with random signs. Shorter blocks come
 * first, so a block or two of the mode are enough.
 */
class mode_trial
{
public:
    enum class state { pending, found, none };

    /*! \param a where the data begin, by a description with the frames of all modes
     *  \param modes what it may be, and where its blocks begin; outlives this
     */
    mode_trial(const acquired& a, const std::vector<possible_mode>& modes);
    ~mode_trial();

    //! Continue; pending means that more samples are needed.
    state advance(const sample_buffer& in);

    //! The mode found.
    const description* waveform() const { return d_waveform; }
    const reception_plan* plan() const { return d_plan; }
    //! The same as it was given, with the place of its blocks.
    const possible_mode* found() const { return d_found; }

private:
    class estimates;
    //! Modes with the same points.
    struct alphabet {
        const description* d; // description of one of its modes, with the shortest blocks
        double likelihood = 0; // log likelihood of all estimates up to now
    };
    struct hypothesis {
        const possible_mode* what;
        const alphabet* points;
        size_t blocks = 0; //!< blocks decoded
        //! Sums of magnitudes of the soft bits: all, those that agree with the code, and
        //! those that would agree by chance.
        double all = 0, agree = 0, chance = 0;
        double contradictions = 0; //!< so many bits would contradict by chance
        bool refuted = false, right = false;

        //! Of the soft bits: how much less contradicts the code than by chance.
        double clear() const
        {
            return (agree - chance) / (all - chance > 1e-30 ? all - chance : 1e-30);
        }
    };

    uint8_t scrambling(const description& d, size_t n) const;
    void weigh_alphabets();
    const alphabet* likeliest() const;
    bool decode_next(hypothesis& h);
    const hypothesis* best_place_like(const hypothesis& h) const;
    state judge(hypothesis& h);

    std::vector<std::unique_ptr<alphabet>> d_alphabets;
    std::vector<hypothesis> d_hypotheses; // shorter blocks first
    estimates* d_estimates;               // owned by the tracker
    std::unique_ptr<burst_tracker> d_tracker;
    size_t d_frame; // data symbols
    uint64_t d_first_frame;
    size_t d_most; // of them until it is given up
    size_t d_weighed = 0;
    const description* d_waveform = nullptr;
    const reception_plan* d_plan = nullptr;
    const possible_mode* d_found = nullptr;
};

} // namespace gr::hf::kernel
