/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/detect/belief.h"
#include "modem/detect/linear_algebra.h"
#include "waveform/coding/constellation.h"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::hf::kernel {

/*! \brief The unknown symbols of one frame after the channel's matched filter.
 *
 *     z = A a + w,   cov(w) = noise * A
 *
 * a being the transmitted symbols. Echoes of the known symbols on both sides have been
 * taken out of z. A is Hermitian, banded, and follows the channel within the frame.
 */
struct frame_observation {
    const constellation* alphabet = nullptr;
    std::vector<uint8_t> scrambling; //!< value of each symbol
    std::vector<std::complex<float>> z;
    banded_factors a; //!< A, not yet factored
    float noise = 1;
    float symbol_power = 1; //!< mean power of a
    //! What interference adds to the error of each symbol's estimate; empty if there is none.
    std::vector<float> interference;
};

//! What an equaliser finds out about a symbol: estimate = symbol + error, E|error|^2.
struct symbol_estimate {
    std::complex<float> value; //!< unbiased
    float error = 1;           //!< variance of the error
};

//! Turns a frame into estimates of its symbols. Replaceable.
class equaliser
{
public:
    virtual ~equaliser() = default;
    //! \p out gets one estimate per symbol. The observation is used up.
    virtual void equalise(frame_observation& f, std::vector<symbol_estimate>& out) = 0;
};

/*! \brief Block MMSE decision feedback: A + (noise / power) I = L D L^H, then decisions from
 *         the last symbol to the first; what is fed back is the symbol's mean given its
 *         own estimate, not a hard decision.
 *  \details The exact solution for a frame between known symbols, with the channel changing
 *  from symbol to symbol; there is no filter length to choose and nothing to adapt.
 */
class decision_feedback_equaliser : public equaliser
{
public:
    void equalise(frame_observation& f, std::vector<symbol_estimate>& out) override;

private:
    void attempt(frame_observation& f, float error, std::vector<symbol_estimate>& out);

    banded_factors d_matrix; // for another attempt
    std::vector<std::complex<float>> d_filtered;
};

/*! \brief Block linear MMSE with soft interference cancellation: with V the variances of
 *         beliefs about the symbols, mean + (A + noise V^-1)^-1 (z - A mean).
 *  \details Each estimate is what the frame says about a symbol, without the belief about
 *  that symbol itself.
 */
class linear_equaliser : public equaliser
{
public:
    //! Nothing is known beforehand.
    void equalise(frame_observation& f, std::vector<symbol_estimate>& out) override;

    //! \p beliefs holds one entry per symbol of \p f.
    void equalise(frame_observation& f,
                  const symbol_belief* beliefs,
                  std::vector<symbol_estimate>& out);

private:
    void attempt(frame_observation& f,
                 const symbol_belief* beliefs,
                 float error,
                 std::vector<symbol_estimate>& out);

    banded_factors d_matrix; // for another attempt
    std::vector<std::complex<float>> d_filtered;
    std::vector<symbol_belief> d_nothing;
    std::vector<float> d_load;
    std::vector<std::complex<float>> d_product;
    std::vector<float> d_diagonal;
};

/*! \brief Soft bits of a label from an estimate, max-log: positive for 0; first bit of the
 *         label first. \p llr holds alphabet.bits values.
 */
void soft_bits(const constellation& alphabet,
               uint8_t scrambling,
               const symbol_estimate& e,
               float* llr);

} // namespace gr::hf::kernel
