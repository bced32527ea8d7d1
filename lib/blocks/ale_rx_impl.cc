/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ale/frames/frame_reader.h"
#include "ale/modem/receiver.h"
#include "blocks/pdu.h"
#include "radio/audio_rates.h"

#include <gnuradio/io_signature.h>
#include <hf/ale_rx.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

namespace gr::hf {
namespace {

constexpr double votes = 48;

class ale_rx_impl : public ale_rx
{
public:
    ale_rx_impl()
        : gr::sync_block("hf_ale_rx",
                         gr::io_signature::make(1, 1, sizeof(gr_complex)),
                         gr::io_signature::make(0, 0, 0)),
          d_frames(pmt::mp("frames")), d_words(pmt::mp("words"))
    {
        message_port_register_out(d_frames);
        message_port_register_out(d_words);
    }

    uint64_t frames() const override { return d_count; }

    int work(int n, gr_vector_const_void_star& in, gr_vector_void_star&) override
    {
        d_receiver.push(static_cast<const gr_complex*>(in[0]), static_cast<size_t>(n));
        while (const auto e = d_receiver.poll()) {
            if (e->what == ale::rx_event::kind::word)
                publish(*e);
            d_reader.push(*e);
            publish_frames();
        }
        return n;
    }

    // A frame cut off by the end of the input is delivered as well.
    bool stop() override
    {
        d_reader.finish();
        publish_frames();
        return true;
    }

private:
    static pdu::builder
    figures(double snr_db, double offset_hz, double start_s, double end_s)
    {
        const auto sample = [](double seconds) {
            return static_cast<uint64_t>(
                std::max(seconds, 0.0) * kernel::audio_rates::default_modem + 0.5);
        };
        return pdu::builder()
            .set(keys::snr_db(), snr_db)
            .set(keys::freq_offset_hz(), offset_hz)
            .set(keys::start_sample(), sample(start_s))
            .set(keys::end_sample(), sample(end_s));
    }
    static std::vector<uint8_t> octets(const std::string& text)
    {
        return { text.begin(), text.end() };
    }

    void publish(const ale::rx_event& e)
    {
        auto meta = figures(e.snr_db, e.offset_hz, e.start_s, e.start_s + ale::word_s);
        message_port_pub(
            d_words,
            meta.set(keys::quality(), e.votes / votes).make(octets(e.text.to_string())));
    }

    void publish_frames()
    {
        while (const auto f = d_reader.poll()) {
            ++d_count;
            auto meta = figures(f->snr_db, f->offset_hz, f->start_s, f->end_s);
            message_port_pub(
                d_frames,
                meta.set(keys::type(), std::string(ale::to_string(f->kind())))
                    .make(octets(f->to_string())));
        }
    }

    ale::receiver d_receiver;
    ale::frame_reader d_reader;
    const pmt::pmt_t d_frames, d_words;
    std::atomic<uint64_t> d_count{ 0 };
};

} // namespace

ale_rx::sptr ale_rx::make() { return gnuradio::make_block_sptr<ale_rx_impl>(); }

} // namespace gr::hf
