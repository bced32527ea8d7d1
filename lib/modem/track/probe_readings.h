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

/*! \brief Decides which reading of a description's probes is on the air, by the probes in
 *         which the readings differ.
 *
 * Despreads the probe that each reading expects at the delays of the known paths. Adds
 * the energies with the weights for independent Rayleigh paths, as log-likelihoods over
 * all probes up to now. So the decision precedes training on the probe, and a fading
 * probe does not outweigh earlier ones.
 */
class probe_readings
{
public:
    //! The description must outlive it.
    explicit probe_readings(const description& d);

    //! True if the readings expect different probes after frame \p frame of a cycle.
    bool differ(size_t frame) const;

    /*! \brief The probe after that frame was received, symbols from \p probe on.
     *  \param channel gives the delays and the noise
     */
    void hear(const half_symbol_stream& y,
              int64_t probe,
              size_t frame,
              const channel_estimator& channel);

    //! The likeliest reading, see description::at(). 0, the one that is sent, until the
    //! probes prove another.
    size_t chosen() const { return d_chosen; }

private:
    const description& d_d;
    std::vector<float> d_score; // log-likelihood of each reading
    size_t d_chosen = 0;
};

} // namespace gr::hf::kernel
