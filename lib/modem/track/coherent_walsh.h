/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/front/fourier.h"
#include "waveform/description.h"

#include <complex>
#include <cstddef>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Soft bits of Walsh words with the phases of the paths, once the words are roughly
 *         known.
 *
 * Beliefs about the words of a block come from their metrics and from what the decoder
 * adds. With them, each delay has one complex gain per set. Each gain is predicted from its neighbours, itself left out, with the averaging
 * width that predicts best. That is wide on a steady channel, where phases are worth
 * nearly 2 dB, and zero in fast fading. The metric of a word treats the gain as Gaussian
 * around the prediction. Without a prediction it is the non-coherent metric (STANAG
 * 4415; docs/receiver.md, "What each idea is worth"). What the decoder says of the other
 * bits of a word counts in the soft bit of each, as in BICM with iterative decoding (Li and
 * Ritcey, 1997).
 */
class coherent_walsh
{
public:
    //! Correlation of a set with each word, at each delay.
    using correlations = std::vector<std::vector<std::complex<float>>>;
    //! A value for each word of a set.
    using values_of_words = std::vector<float>;

    /*! \param d must outlive this
     *  \param widest largest width of averaging, a standard deviation, sets
     */
    explicit coherent_walsh(const description& d, double widest = 32)
        : d_d(d), d_chips(static_cast<float>(d.chips())), d_widest(widest)
    {
    }

    /*! \brief Add the next set of the block.
     *  \param metric log-likelihood of each word without phases
     *  \param power mean power of each delay; 0: not used
     *  \param noise variance of a half-symbol row
     */
    void add(const correlations& c,
             values_of_words metric,
             const std::vector<float>& power,
             float noise);

    /*! \brief Compute the soft bits of all sets again.
     *  \param posterior log-likelihood ratios of the bits from the decoder, positive for
     *        0
     *  \param overlap sum of a path's power over the delays it appears on
     *  \param[in,out] soft those that the decoder had; then the new ones
     */
    void
    refine(const std::vector<float>& posterior, float overlap, std::vector<float>& soft);

    //! Soft bits of all sets without what the decoder added: what was received alone.
    std::vector<float> received() const;

    //! End of the block: start again.
    void clear();

    //! Sets averaged on either side by the last refine(); 0: none.
    double width() const { return d_width; }

private:
    using value = std::complex<float>;

    void form_gains();
    void form_spectra();
    double predict(double width, std::vector<std::vector<value>>& prediction);
    std::vector<float> weights(float overlap) const;
    void form_metrics(float overlap);

    const description& d_d;
    float d_chips;
    double d_widest; // sets
    std::vector<correlations> d_sets;
    std::vector<values_of_words> d_metrics;
    std::vector<float> d_prior;              // of the bits, from the decoder
    std::vector<float> d_power, d_noise;     // sums over sets per delay; per set
    std::vector<size_t> d_delays;            // in use
    std::vector<std::vector<value>> d_gains; // [delay in use][set]
    fourier d_fourier;
    std::vector<std::vector<value>> d_spectra; // spectra of the gains
    std::vector<float> d_response;             // spectrum of the averaging weights
    std::vector<std::vector<value>> d_prediction, d_best;
    double d_turn = 0; // phase turn from set to set, rad
    double d_width = 0;
};

/*! \brief Converts the metric of each word of a set to ratios of its bits, appended to
 *         \p soft.
 *  \param prior ratios of the bits of the set from elsewhere, or null. Each counts for the
 *        other bits, not for its own.
 */
void word_soft_bits(const constellation& alphabet,
                    const coherent_walsh::values_of_words& metric,
                    const float* prior,
                    std::vector<float>& soft);

} // namespace gr::hf::kernel
