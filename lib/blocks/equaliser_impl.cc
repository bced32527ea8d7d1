/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks/stage_tags.h"
#include "blocks/start_tag.h"
#include "modem/symbol_receiver.h"

#include <gnuradio/gr_complex.h>
#include <gnuradio/io_signature.h>
#include <hf/equaliser.h>
#include <hf/keys.h>

#include <algorithm>

namespace gr::hf {
namespace {

constexpr int chunk = 512; // samples between two looks at the tags

class equaliser_impl : public equaliser
{
public:
    explicit equaliser_impl(const kernel::description& d)
        : gr::block("hf_equaliser",
                    gr::io_signature::make(1, 1, sizeof(gr_complex)),
                    gr::io_signature::make2(2, 2, sizeof(gr_complex), sizeof(float))),
          d_d(d), d_receiver(d)
    {
        set_tag_propagation_policy(TPP_DONT);
        for (int port = 0; port < 2; ++port)
            set_min_output_buffer(
                port,
                static_cast<long>(2 * std::max(d.labels_per_block(), d.coded_bits / 2)));
    }

    void forecast(int, gr_vector_int& required) override
    {
        required[0] = d_at < d_block.symbols.symbols.size() ? 0 : 1;
    }

    int general_work(int n,
                     gr_vector_int& available,
                     gr_vector_const_void_star& in,
                     gr_vector_void_star& out) override
    {
        const auto* x = static_cast<const gr_complex*>(in[0]);
        int used = 0, done = 0;
        while (done < n) {
            if (d_at < d_block.symbols.symbols.size()) {
                write(static_cast<gr_complex*>(out[0])[done],
                      static_cast<float*>(out[1])[done],
                      static_cast<uint64_t>(done));
                ++done;
            } else if (auto b = d_receiver.next()) {
                d_block = std::move(*b);
                d_at = 0;
            } else if (used < available[0]) {
                const int k = std::min(available[0] - used, chunk);
                d_receiver.push(x + used, static_cast<size_t>(k));
                used += k;
                look_for_starts(static_cast<uint64_t>(d_receiver.samples() - k));
            } else {
                break;
            }
        }
        consume(0, used);
        return done;
    }

private:
    void look_for_starts(uint64_t from)
    {
        std::vector<gr::tag_t> found;
        get_tags_in_range(found,
                          0,
                          from,
                          static_cast<uint64_t>(d_receiver.samples()),
                          tags::hf_start());
        for (const gr::tag_t& t : found)
            if (const auto a = start_tag::read(t.value, static_cast<int64_t>(t.offset)))
                d_receiver.begin(*a);
    }

    // The next symbol of the block, \p at items from the first one of this call.
    void write(gr_complex& symbol, float& error, uint64_t at)
    {
        const kernel::equalised_block& b = d_block.symbols;
        const auto tag = [&](unsigned port, const pmt::pmt_t& key, const pmt::pmt_t& v) {
            add_item_tag(port, nitems_written(port) + at, key, v);
        };
        if (d_at == 0) {
            const auto length = pmt::from_long(static_cast<long>(b.symbols.size()));
            tag(0, pmt::intern(tags::packet_len), length);
            tag(1, pmt::intern(tags::packet_len), length);
            tag(0, keys::snr_db(), pmt::from_double(b.channel.snr_db));
            if (d_block.start)
                tag(0, tags::hf_start(), start_tag::make(*d_block.start, 0));
        }
        if (d_at % d_d.unknown == 0 && !b.noise.empty()) {
            const size_t frame = d_at / d_d.unknown,
                         taps = b.taps.size() / b.noise.size();
            tag(0, keys::taps(), pmt::init_c32vector(taps, b.taps.data() + frame * taps));
            tag(0, pmt::intern("noise"), pmt::from_double(b.noise[frame]));
        }
        symbol = b.symbols[d_at];
        error = b.errors[d_at++];
    }

    const kernel::description& d_d;
    kernel::symbol_receiver d_receiver;
    kernel::symbol_receiver::block d_block;
    size_t d_at = 0; // in it
};

} // namespace

equaliser::sptr equaliser::make(const std::string& mode)
{
    return gnuradio::make_block_sptr<equaliser_impl>(kernel::describe(mode::parse(mode)));
}

} // namespace gr::hf
