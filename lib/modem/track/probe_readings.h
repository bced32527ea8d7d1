/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/front/half_symbol_stream.h"
#include "modem/track/channel_estimator.h"
#include "waveform/description.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Which reading of a description's probes is on the air, by what is received of those
 *         probes in which the readings differ.
 *
 * Each probe that a reading expects is despread at the delays of the known paths; the energies
 * are added with the weights that are right for independent Rayleigh paths, as log-likelihoods
 * over all probes so far. So a probe is decided before it trains anything, and one that fades
 * does not outweigh those before it.
 */
class probe_readings
{
public:
    //! The description must outlive it.
    explicit probe_readings(const description& d);

    //! Whether the readings expect different probes after frame \p frame of a cycle.
    bool differ(size_t frame) const;

    /*! \brief The probe after that frame was received: symbols from \p probe on.
     *  \param channel knows the delays and the noise
     */
    void hear(const half_symbol_stream& y,
              int64_t probe,
              size_t frame,
              const channel_estimator& channel);

    //! The likeliest, see description::at(); 0, the one that is sent, until another is heard.
    size_t chosen() const { return d_chosen; }

private:
    const description& d_d;
    std::vector<float> d_score; // of each reading, log-likelihood
    size_t d_chosen = 0;
};

} // namespace gr::hf::kernel
