/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/pulse_shaper.h"

#include "blocks/level.h"
#include "blocks/stage_tags.h"
#include "modem/burst_modulator.h"

#include <gnuradio/gr_complex.h>
#include <gnuradio/io_signature.h>
#include <hf/pulse_shaper.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace gr::hf {
namespace {

class pulse_shaper_impl : public pulse_shaper
{
public:
    pulse_shaper_impl(double sample_rate, double gap_ms, bool continuous, double level)
        : gr::block("hf_pulse_shaper",
                    gr::io_signature::make(1, 1, sizeof(gr_complex)),
                    gr::io_signature::make(1, 1, sizeof(gr_complex))),
          d_gap(static_cast<size_t>(std::lround(gap_ms * 1e-3 * sample_rate))),
          d_continuous(continuous), d_level(level)
    {
        set_tag_propagation_policy(TPP_DONT);
        set_relative_rate(kernel::symbol_grid::samples_per_symbol, 1);
        if (continuous)
            set_max_output_buffer(4096); // zeros that stand before the next transmission
    }

    void set_level(double level) override { d_level.set(level); }

    void forecast(int, gr_vector_int& required) override
    {
        const bool waits = d_shaper.active() ? d_shaper.hungry() : !d_continuous;
        required[0] = d_silence > 0 || !waits ? 0 : 1;
    }

    int general_work(int n,
                     gr_vector_int& available,
                     gr_vector_const_void_star& in,
                     gr_vector_void_star& items) override
    {
        const auto* symbols = static_cast<const gr_complex*>(in[0]);
        auto* out = static_cast<gr_complex*>(items[0]);
        int used = 0, done = 0;
        while (done < n) {
            if (d_silence > 0) {
                const auto k = static_cast<int>(
                    std::min<size_t>(d_silence, static_cast<size_t>(n - done)));
                std::fill_n(out + done, k, gr_complex());
                d_silence -= static_cast<size_t>(k);
                done += k;
            } else if (d_shaper.active() && !d_shaper.hungry()) {
                done += shape(out + done, n - done, done);
            } else if (used == available[0]) {
                if (d_continuous && !d_shaper.active()) {
                    std::fill(out + done, out + n, gr_complex());
                    done = n;
                }
                break;
            } else if (!d_shaper.active()) {
                d_shaper.start(kernel::symbol_grid::samples_per_symbol);
                d_silence = d_gap;
            } else {
                d_shaper.give(symbols[used]);
                if (ends_at(nitems_read(0) + static_cast<uint64_t>(used)))
                    d_shaper.finish();
                ++used;
            }
        }
        consume(0, used);
        return done;
    }

private:
    bool ends_at(uint64_t symbol)
    {
        std::vector<gr::tag_t> found;
        get_tags_in_range(found, 0, symbol, symbol + 1, pmt::intern(tags::tx_eob));
        return !found.empty();
    }

    int shape(gr_complex* out, int room, int done)
    {
        const uint64_t here = nitems_written(0) + static_cast<uint64_t>(done);
        if (d_shaper.produced() == 0)
            add_item_tag(0, here, pmt::intern(tags::tx_sob), pmt::PMT_T);
        const size_t k = d_shaper.produce(out, static_cast<size_t>(room));
        d_level.apply(out, k);
        if (!d_shaper.active()) {
            add_item_tag(0, here + k - 1, pmt::intern(tags::tx_eob), pmt::PMT_T);
            d_silence = d_gap; // a receiver needs some time after the last symbol
        }
        return static_cast<int>(k);
    }

    const size_t d_gap;
    const bool d_continuous;
    hf::level d_level;
    kernel::pulse_shaper d_shaper;
    size_t d_silence = 0;
};

} // namespace

pulse_shaper::sptr
pulse_shaper::make(const std::string& mode, double gap_ms, bool continuous, double level)
{
    if (!(gap_ms >= 0 && gap_ms <= 60000))
        throw std::invalid_argument("gap_ms " + std::to_string(gap_ms) +
                                    ": allowed are 0 to 60000");
    return gnuradio::make_block_sptr<pulse_shaper_impl>(
        kernel::grid_of(mode::parse(mode)).sample_rate(), gap_ms, continuous, level);
}

} // namespace gr::hf
