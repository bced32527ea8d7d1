/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks/stage_tags.h"
#include "blocks/start_tag.h"
#include "modem/burst_modulator.h"
#include "modem/find/preamble_watch.h"
#include "waveform/family.h"

#include <gnuradio/gr_complex.h>
#include <gnuradio/io_signature.h>
#include <hf/preamble_finder.h>

#include <algorithm>
#include <atomic>
#include <cmath>

namespace gr::hf {
namespace {

/* The search runs each time the sample count reaches a multiple of this. So tags do not
 * depend on how the scheduler cuts the stream. */
constexpr double quantum_s = 0.005;
constexpr float largest_sample = 1e12f; // larger ones are corrupt
constexpr double max_offset_hz = 75;    // 110C C.6.3

class preamble_finder_impl : public preamble_finder
{
public:
    explicit preamble_finder_impl(const mode& m)
        : gr::sync_block("hf_preamble_finder",
                         gr::io_signature::make(1, 1, sizeof(gr_complex)),
                         gr::io_signature::make(1, 1, sizeof(gr_complex))),
          d_grid(kernel::grid_of(m)), d_watch(d_grid,
                                              kernel::receptions(m.bandwidth_hz, false),
                                              max_offset_hz,
                                              { m.il == interleaver::zero }),
          d_quantum(d_grid.samples(quantum_s))
    {
    }

    uint64_t found() const override { return d_found; }

    int work(int n, gr_vector_const_void_star& in, gr_vector_void_star& out) override
    {
        const auto* x = static_cast<const gr_complex*>(in[0]);
        std::copy_n(x, n, static_cast<gr_complex*>(out[0]));
        for (int i = 0; i < n; ++i) {
            const bool sane = std::abs(x[i].real()) <= largest_sample &&
                              std::abs(x[i].imag()) <= largest_sample;
            d_in.append(sane ? x[i] : gr_complex(), 0);
            if (d_in.end() % d_quantum == 0)
                search(nitems_written(0) + static_cast<uint64_t>(i));
        }
        return n;
    }

private:
    void search(uint64_t here)
    {
        while (const auto f = d_watch.advance(d_in)) {
            ++d_found;
            add_item_tag(0,
                         here,
                         tags::hf_start(),
                         start_tag::make(f->what, static_cast<int64_t>(here)));
            // Do not find the rest of this preamble as another one.
            d_watch.restart(static_cast<int64_t>(f->what.origin));
        }
        d_in.drop_before(std::min(d_in.end(), d_watch.needs()));
    }

    const kernel::symbol_grid d_grid;
    kernel::preamble_watch d_watch;
    const int64_t d_quantum; // samples
    kernel::sample_buffer d_in;
    std::atomic<uint64_t> d_found{ 0 };
};

} // namespace

preamble_finder::sptr preamble_finder::make(const std::string& mode_text)
{
    return gnuradio::make_block_sptr<preamble_finder_impl>(mode::parse(mode_text));
}

} // namespace gr::hf
