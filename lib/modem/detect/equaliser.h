/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/detect/belief.h"
#include "modem/detect/linear_algebra.h"
#include "modem/detect/path_matrix.h"
#include "modem/detect/soft_symbols.h"
#include "waveform/coding/constellation.h"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::hf::kernel {

/*! \brief The unknown symbols of one frame after the channel's matched filter.
 *
 *  z = A a + w,   cov(w) = noise * A
 *
 * a are the transmitted symbols. Echoes of the known symbols on both sides are already
 * subtracted from z. A is Hermitian, banded, and follows the channel within the frame.
 */
struct frame_observation {
    const constellation* alphabet = nullptr;
    std::vector<uint8_t> scrambling; //!< value of each symbol
    size_t frame_in_cycle = 0;       //!< place of the frame
    std::vector<std::complex<float>> z;
    bool sparse = false; //!< A is given by paths, else by a
    banded_factors a;    //!< A as a banded matrix, not yet factored
    path_matrix paths;
    float noise = 1;
    float symbol_power = 1; //!< mean power of a
    //! Error variance of each symbol's estimate by interference; empty if there is none.
    std::vector<float> interference;

    //! Diagonal element \p i of A.
    float energy(size_t i) const { return sparse ? paths.energy(i) : a.at(i, 0).real(); }
};

//! Turns a frame into estimates of its symbols. Replaceable.
class equaliser
{
public:
    virtual ~equaliser() = default;
    //! \p out gets one estimate per symbol. The observation is consumed.
    virtual void equalise(frame_observation& f, std::vector<symbol_estimate>& out) = 0;
};

/*! \brief Block MMSE decision feedback: A + (noise / power) I = L D L^H, then decisions
 *         from the last symbol to the first. It feeds back a symbol's mean given its own
 *         estimate, not a hard decision.
 *  \details This is the exact solution for a frame between known symbols, with a channel
 *  that changes from symbol to symbol. There is no filter length to choose and nothing
 *  to adapt.
 */
class decision_feedback_equaliser : public equaliser
{
public:
    void equalise(frame_observation& f, std::vector<symbol_estimate>& out) override;

private:
    void attempt(frame_observation& f, float error, std::vector<symbol_estimate>& out);

    banded_factors d_matrix; // copy for another attempt
    std::vector<std::complex<float>> d_filtered;
};

//! Error of the model itself, relative to the signal's power: cut pulses, a constant
//! channel in sub-blocks.
constexpr float model_error = 3e-4f;
constexpr float min_error =
    1e-6f; //!< least error of an estimate: keeps soft bits finite on a clean channel
constexpr float min_gain = 1e-4f; //!< least gain of an estimate: -40 dB, pure noise
/*! Least variance of a belief, relative to what the frame itself tells. Extrinsic
 * information is the difference of two numbers that become equal.
 */
constexpr float min_variance = 0.02f;

/*! \brief The linear_equaliser for an A that is a path_matrix.
 *
 * Method: conjugate gradients, with the channel's spectrum as preconditioner;
 * docs/receiver.md, "Wide bandwidths". The certainty of an estimate also comes from the
 * spectrum, for pieces of some milliseconds: it is the diagonal of the inverse for equal
 * beliefs throughout.
 */
class path_equaliser
{
public:
    void equalise(frame_observation& f,
                  const symbol_belief* beliefs,
                  std::vector<symbol_estimate>& out);

private:
    using value = std::complex<float>;
    using values = std::vector<value>;

    float mean_energy(const frame_observation& f) const;
    void measure_information(const frame_observation& f, float noise);
    void take_out_erased(const path_matrix& a);
    void precondition(const values& r, values& x);
    size_t solve(path_matrix& a, float noise);

    fourier d_pieces, d_whole;
    std::vector<float> d_spectrum, d_inverse;
    std::vector<float> d_information; // about each symbol, from the rest of the frame
    std::vector<float> d_root;        // root of each belief's variance
    std::vector<float> d_balance;     // diagonal correction of the preconditioner
    double d_mean_gain = 1;
    values d_means, d_right, d_x, d_p, d_q, d_z, d_product;
};

/*! \brief Block linear MMSE with soft interference cancellation: mean + (A + noise
 *         V^-1)^-1 (z - A mean), with V the variances of the beliefs. Method: Tuchler,
 *         Singer, Koetter 2002; docs/receiver.md, "What each idea is worth".
 *  \details Each estimate is the frame's evidence about a symbol, without the belief
 *  about that symbol itself.
 */
class linear_equaliser : public equaliser
{
public:
    //! Equalise without any beliefs.
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

    path_equaliser d_sparse;
    banded_factors d_matrix; // copy for another attempt
    std::vector<std::complex<float>> d_filtered;
    std::vector<symbol_belief> d_nothing;
    std::vector<float> d_load;
    std::vector<std::complex<float>> d_product;
    std::vector<float> d_diagonal;
};

} // namespace gr::hf::kernel
