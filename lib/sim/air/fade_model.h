/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <hf/mode.h>

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>

namespace gr::hf::sim {

/*! \brief Level of two paths of equal mean power that fade independently with a Gaussian
 *         Doppler spectrum (Watterson), each a sum of rotating phasors.
 */
class two_path_fading
{
public:
    /*! \param two_sigma_hz Doppler spread of each path
     *  \param step_s between values
     *  \param random source of phases and frequencies
     */
    two_path_fading(double two_sigma_hz, double step_s, std::mt19937_64& random);
    //! The next value relative to the mean power, dB, at least -40.
    double next_db();

private:
    class tap
    {
    public:
        tap(double two_sigma_hz, double step_s, std::mt19937_64& random);
        double next_power();

    private:
        std::array<std::complex<double>, 24> d_phasor;
        std::array<std::complex<double>, 24> d_turn;
    };
    tap d_first, d_second;
};

/*! \brief Effect of fades inside a block on a mode.
 *
 * All levels in a block have the effect of one level on a channel without fading, the
 * exponential effective SNR, less a loss. The loss is fitted to measured_block_errors()
 * of the channel with the nearest Doppler spread (0.5, 1 or 10 Hz). Under Rayleigh fading
 * of that spread the model then loses as many D_PDUs of 220 octets as the receiver does,
 * at 20 % and 50 %. A mode without a curve has the loss of the mode whose curve is used
 * for it.
 */
class fade_model
{
public:
    /*! \brief Model of mode \p m. Lives as long as the program.
     *  \param fading_hz two-sigma Doppler spread of each path; 0: not known, no loss
     */
    static const fade_model& of(const mode& m, double fading_hz);

    //! Mean effect of levels. Each is given in dB by one call of add().
    class block
    {
    public:
        explicit block(const fade_model& of) : d_of(of) {}
        void add(double snr_db);
        //! SNR without fading that has the same effect, dB.
        double effective_db() const;

    private:
        const fade_model& d_of;
        double d_sum = 0;
        size_t d_n = 0;
    };

    //! SNR that the fit subtracts, dB. 100 if the receiver reaches nothing at any SNR.
    double loss_db() const { return d_loss_db; }
    //! Mean power of the mode relative to a constant envelope with the same peak.
    double power() const { return d_power; }

private:
    fade_model(const mode& m, const char* curves, double fading_hz);

    double d_scale; // linear SNR that levels are compared to
    double d_power;
    double d_loss_db = 0;
};

} // namespace gr::hf::sim
