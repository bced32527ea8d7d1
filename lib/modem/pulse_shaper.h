/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <volk/volk_alloc.hh>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Symbols to samples by root raised cosine pulses, see burst_modulator for pulse,
 *         level and times.
 */
class pulse_shaper
{
public:
    /*! \param span half length of the pulse in symbols, 2 to 32
     *  \throws std::invalid_argument
     */
    explicit pulse_shaper(size_t span = 10);

    //! Start a transmission of \p samples_per_symbol samples per symbol, at least 2.
    void start(size_t samples_per_symbol);
    //! True if the next sample needs a symbol that was not given.
    bool hungry() const { return d_window + 2 * d_span + 1 > d_symbols.size(); }
    //! The next symbol.
    void give(std::complex<float> symbol);
    //! No symbol follows.
    void finish();
    //! Write at most \p n samples; fewer if hungry() and at the end.
    size_t produce(std::complex<float>* out, size_t n);
    //! True between start() and the last sample, pulse tail included.
    bool active() const { return d_active; }
    //! Stop at once; active() is false afterwards.
    void abort() { d_active = false; }

    size_t span() const { return d_span; }
    size_t samples_per_symbol() const { return d_sps; }
    //! Samples written since start().
    uint64_t produced() const { return d_produced; }

private:
    void design(size_t sps);

    size_t d_span;
    size_t d_sps = 0;
    bool d_active = false;
    // Branches of the filter, by sample phase. Aligned, as VOLK 2.5 loads taps as aligned memory also
    // in its unaligned kernels.
    std::vector<volk::vector<float>> d_taps;
    // The window and the symbols waiting after it.
    volk::vector<std::complex<float>> d_symbols;
    size_t d_window = 0;   // start of the window in d_symbols
    size_t d_phase = 0;    // sample within the symbol
    uint64_t d_given = 0;  // symbols
    uint64_t d_length = 0; // total samples, once known
    uint64_t d_produced = 0;
};

} // namespace gr::hf::kernel
