/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/linear_algebra.h"
#include "waveform/constellation.h"

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
};

//! What an equaliser knows about a symbol: estimate = symbol + error, E|error|^2.
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
};

//! Block linear MMSE: (A + (noise / power) I)^-1 z with each symbol's own error.
class linear_equaliser : public equaliser
{
public:
    void equalise(frame_observation& f, std::vector<symbol_estimate>& out) override;

private:
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
