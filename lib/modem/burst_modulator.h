/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/base/grid.h"
#include "modem/pulse_shaper.h"
#include "waveform/transmitter.h"

#include <hf/mode.h>
#include <hf/modem_user.h>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace gr::hf::kernel {

//! The grid of mode \p m. \throws std::invalid_argument for an unknown mode.
inline symbol_grid grid_of(const mode& m)
{
    return symbol_grid(describe(m).symbol_rate_bd);
}

/*! \brief A transmission as complex baseband samples, centred at 0 Hz.
 *
 * Each symbol is a root raised cosine pulse of roll-off 0.35, span() symbols to either
 * side. 110C 5.3.2.3 leaves the serial tone's pulse open; Appendix C recommends this
 * one. The pulse's energy is one sample per symbol times samples_per_symbol(). So the
 * mean power of the samples equals the mean power of the symbols, mean_power().
 *
 * Time: symbol 0 is the first AGC or preamble symbol. The centre of symbol i is at
 * sample
 *
 *  (i + span()) * samples_per_symbol()
 *
 * counted from the first sample of the transmission. With pulse lead and tail, a
 * transmission of n symbols has
 *
 *  (n + 2 * span() - 1) * samples_per_symbol() + 1
 *
 * samples.
 *
 * The octets of a block are pulled just before the first sample that depends on them.
 * That is span() symbols before the block is on the air, or 72 more with a reinserted
 * preamble.
 */
class burst_modulator
{
public:
    /*! \brief Source of the octets, called before each block.
     *  \details \p air_sample is the centre of the block's first symbol, counted from
     *  the first sample of the transmission. \p max_octets is as in transmitter. Fewer
     *  octets, or \c last, end the message. Octets beyond \p max_octets are cut off.
     */
    using pull = std::function<tx_octets(uint64_t air_sample, size_t max_octets)>;

    /*! \param sample_rate in samples/s: an integer multiple, at least 2, of the symbol
     *        rate of the modes to send; symbol_grid::sample_rate() for 4 samples per
     *        symbol
     *  \param span half length of the pulse in symbols, 2 to 32
     *  \throws std::invalid_argument
     */
    explicit burst_modulator(double sample_rate, size_t span = 10);

    /*! \brief Start a transmission; a current one is dropped.
     *  \throws std::invalid_argument for an unknown mode, options it does not allow, or
     *        a symbol rate that does not divide the sample rate
     */
    void start(const mode& m, pull source, tx_options options = {});
    //! The same from a description, which must outlive the transmission.
    void start(const description& d, pull source, tx_options options = {});

    //! Write at most \p n samples; fewer only at the end of the transmission.
    size_t produce(std::complex<float>* out, size_t n);

    //! True between start() and the last sample, pulse tail included.
    bool active() const { return d_shaper.active(); }
    //! Stop at once; active() is false afterwards.
    void abort() { d_shaper.abort(); }

    double sample_rate() const { return d_sample_rate; }
    size_t samples_per_symbol() const { return d_shaper.samples_per_symbol(); }
    size_t span() const { return d_shaper.span(); }
    //! Samples written since start().
    uint64_t produced() const { return d_shaper.produced(); }
    //! The sample at which symbol \p i of the transmission is centred.
    uint64_t sample_of_symbol(uint64_t i) const
    {
        return (i + span()) * samples_per_symbol();
    }

private:
    void feed();

    double d_sample_rate;
    pulse_shaper d_shaper;
    pull d_pull;
    std::unique_ptr<transmitter> d_tx;
};

} // namespace gr::hf::kernel
