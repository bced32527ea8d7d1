/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/decode/message_parser.h"

#include "blocks/pdu.h"
#include "blocks/stage_tags.h"
#include "waveform/description.h"

#include <gnuradio/io_signature.h>
#include <hf/message_parser.h>

#include <optional>

namespace gr::hf {
namespace {

constexpr size_t max_message_octets = 16 * 1024 * 1024;

class message_parser_impl : public message_parser
{
public:
    explicit message_parser_impl(const kernel::description& d)
        : gr::tagged_stream_block("hf_message_parser",
                                  gr::io_signature::make(1, 1, sizeof(uint8_t)),
                                  gr::io_signature::make(0, 0, 0),
                                  tags::packet_len),
          d_d(d), d_pdus(pmt::mp("pdus"))
    {
        message_port_register_out(d_pdus);
    }

    int work(int,
             gr_vector_int& length,
             gr_vector_const_void_star& in,
             gr_vector_void_star&) override
    {
        const auto* bit = static_cast<const uint8_t*>(in[0]);
        const uint64_t begin = nitems_read(0);
        const auto count = static_cast<size_t>(length[0]);
        std::vector<gr::tag_t> found;
        get_tags_in_range(found, 0, begin, begin + count);
        for (const gr::tag_t& t : found)
            if (tags::begins(t.key))
                start(t.value);
        for (const gr::tag_t& t : found)
            if (pmt::eqv(t.key, keys::snr_db()) || pmt::eqv(t.key, keys::quality()))
                d_meta.set(t.key, t.value);
        if (!d_parser)
            return 0; // after the end of a message
        d_bits.assign(bit, bit + count);
        if (d_parser->push(d_bits, d_octets))
            end("eom");
        else if (d_octets.size() >= max_message_octets)
            publish();
        return 0;
    }

    // A transmission cut off by the end of the input is delivered as well.
    bool stop() override
    {
        if (d_parser)
            lost();
        return true;
    }

private:
    void start(const pmt::pmt_t& value)
    {
        if (d_parser)
            lost();
        d_meta = pdu::builder().set(keys::mode(), d_d.m.to_string());
        for (const auto* key : { &keys::snr_db(), &keys::freq_offset_hz() })
            if (pmt::is_dict(value) && pmt::dict_has_key(value, *key))
                d_meta.set(*key, pmt::dict_ref(value, *key, pmt::PMT_NIL));
        d_parser.emplace();
        d_parser->set_most_significant_first(d_d.most_significant_first);
    }

    void lost()
    {
        if (d_parser->finish(d_octets))
            end("eom"); // a damaged marker
        else
            end("lost");
    }

    void end(const char* reason)
    {
        d_meta.set(keys::reason(), std::string(reason));
        publish();
        d_parser.reset();
    }

    void publish()
    {
        message_port_pub(d_pdus, d_meta.make(d_octets));
        d_octets.clear();
    }

    const kernel::description& d_d;
    const pmt::pmt_t d_pdus;
    std::optional<kernel::message_parser> d_parser; // of the message
    pdu::builder d_meta;
    std::vector<uint8_t> d_bits, d_octets;
};

} // namespace

message_parser::sptr message_parser::make(const std::string& mode)
{
    return gnuradio::make_block_sptr<message_parser_impl>(
        kernel::describe(mode::parse(mode)));
}

} // namespace gr::hf
