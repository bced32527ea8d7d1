/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks/device_tags.h"
#include "blocks/modem_messages.h"
#include "blocks/pdu.h"
#include "radio/transmission_cut.h"
#include "radio/tx_bursts.h"
#include "radio/tx_log.h"

#include <gnuradio/io_signature.h>
#include <hf/to_sdr.h>

#include <algorithm>
#include <deque>
#include <mutex>

namespace gr::hf {
namespace {

using kernel::tx_trouble;

class to_sdr_impl : public to_sdr
{
public:
    explicit to_sdr_impl(const kernel::tx_burst_settings& settings)
        : gr::block("hf_to_sdr",
                    gr::io_signature::make(1, 1, sizeof(gr_complex)),
                    gr::io_signature::make(1, 1, sizeof(gr_complex))),
          d_bursts(settings)
    {
        set_relative_rate(settings.device_rate / settings.modem_rate);
        set_tag_propagation_policy(TPP_DONT);
        message_port_register_in(pmt::mp("time"));
        set_msg_handler(pmt::mp("time"), [this](const pmt::pmt_t& m) { on_time(m); });
        message_port_register_in(pmt::mp("reports"));
        set_msg_handler(pmt::mp("reports"),
                        [this](const pmt::pmt_t& m) { on_report(m); });
        message_port_register_out(pmt::mp("key"));
        message_port_register_out(pmt::mp("events"));
        d_state.delay_s = d_bursts.delay_s();
    }

    void forecast(int, gr_vector_int& required) override { required[0] = 1; }

    int general_work(int n,
                     gr_vector_int& available,
                     gr_vector_const_void_star& in,
                     gr_vector_void_star& out) override
    {
        if (d_out.samples.size() < static_cast<size_t>(n) && available[0] > 0) {
            const int take = std::min(available[0], max_at_once);
            push(static_cast<const gr_complex*>(in[0]), static_cast<size_t>(take));
            consume(0, take);
        }
        auto& waiting = d_out.samples;
        const size_t made = std::min(waiting.size(), static_cast<size_t>(n));
        std::copy_n(waiting.begin(), made, static_cast<gr_complex*>(out[0]));
        waiting.erase(waiting.begin(),
                      waiting.begin() + static_cast<std::ptrdiff_t>(made));
        d_written = nitems_written(0) + made;
        while (!d_marks.empty() && d_marks.front().first < d_written) {
            const auto& [at, mark] = d_marks.front();
            if (mark.begin) {
                add_item_tag(0, at, pmt::mp("tx_sob"), pmt::PMT_T);
                add_item_tag(0, at, pmt::mp("tx_time"), device_tags::tag(mark.time));
            } else {
                add_item_tag(0, at, pmt::mp("tx_eob"), pmt::PMT_T);
            }
            d_marks.pop_front();
        }
        return static_cast<int>(made);
    }

    // A flowgraph that ends in the middle of a transmission must not leave the key down.
    bool stop() override
    {
        if (d_bursts.keyed())
            tell_key(false);
        return true;
    }

    to_sdr_state state() const override
    {
        std::lock_guard<std::mutex> lock(d_mutex);
        return d_state;
    }

private:
    static constexpr int max_at_once = 2048;

    void push(const gr_complex* x, size_t n)
    {
        const auto tagged = [this, n](const char* name) {
            std::vector<tag_t> tags;
            const uint64_t begin = nitems_read(0);
            get_tags_in_range(tags, 0, begin, begin + n, pmt::mp(name));
            std::vector<size_t> at;
            for (const auto& tag : tags)
                at.push_back(tag.offset - begin);
            return at;
        };
        for (const auto& run :
             kernel::cut_transmissions(n, tagged("tx_sob"), tagged("tx_eob")))
            one(x + run.at, run);
    }

    void one(const gr_complex* x, const kernel::transmission_run& run)
    {
        d_out.marks.clear();
        d_out.key.clear();
        d_out.untimed.reset();
        d_bursts.push(x, run.count, run.first, run.last, d_out);
        for (const auto& mark : d_out.marks) {
            d_marks.emplace_back(d_written + mark.at, mark);
            if (mark.begin)
                d_log.began(mark.number, mark.time);
            else
                d_log.ended(mark.number, mark.time);
        }
        for (const bool down : d_out.key)
            tell_key(down);
        if (d_out.untimed)
            tell_damage(*d_out.untimed, tx_trouble::untimed);
        std::lock_guard<std::mutex> lock(d_mutex);
        d_state.keyed = d_bursts.keyed();
        d_state.transmissions = d_bursts.transmissions();
    }

    void on_time(const pmt::pmt_t& msg)
    {
        const pdu::reader r(msg);
        const auto seconds = r.integer(keys::seconds());
        if (r.type() != "time")
            return;
        if (seconds)
            d_bursts.set_origin(
                { static_cast<int64_t>(*seconds), r.real(keys::fraction()) });
        else
            d_bursts.forget_origin();
    }

    // Message of gr-uhd's port async_msgs: a dictionary after a word.
    void on_report(const pmt::pmt_t& msg)
    {
        if (!pmt::is_pair(msg) || !pmt::is_dict(pmt::cdr(msg)))
            return;
        const auto codes =
            pmt::dict_ref(pmt::cdr(msg), pmt::mp("event_code"), pmt::PMT_NIL);
        const auto time = device_tags::time(
            pmt::dict_ref(pmt::cdr(msg), pmt::mp("time_spec"), pmt::PMT_NIL));
        for (auto list = codes; pmt::is_pair(list); list = pmt::cdr(list)) {
            if (!pmt::is_symbol(pmt::car(list)))
                continue;
            const std::string code = pmt::symbol_to_string(pmt::car(list));
            // Packets that arrive out of order or not at all make a hole as well.
            if (code == "time_error")
                report(tx_trouble::late, time);
            else if (code == "device_lost")
                report(tx_trouble::lost, time);
            else if (code != "burst_ack")
                report(tx_trouble::underflow, time);
        }
    }

    void report(tx_trouble what, const std::optional<kernel::device_time>& time)
    {
        {
            std::lock_guard<std::mutex> lock(d_mutex);
            d_state.late += what == tx_trouble::late;
            d_state.underflows += what == tx_trouble::underflow;
        }
        if (what == tx_trouble::lost && d_bursts.keyed())
            tell_key(false);
        const auto e = d_log.report(what, time);
        if (e.first && e.transmission > 0)
            tell_damage(e.transmission, what);
    }

    void tell_damage(uint64_t number, tx_trouble what)
    {
        const auto now = from_seconds(static_cast<double>(nitems_read(0)) /
                                      d_bursts.settings().modem_rate);
        message_port_pub(
            pmt::mp("events"),
            modem_messages::tx_damaged(now, number, kernel::to_string(what)));
        std::lock_guard<std::mutex> lock(d_mutex);
        ++d_state.damaged;
    }

    void tell_key(bool down)
    {
        message_port_pub(pmt::mp("key"),
                         pdu::builder("key").set(keys::down(), down).make());
    }

    kernel::tx_bursts d_bursts;
    kernel::tx_log d_log;
    kernel::tx_bursts::output d_out;
    uint64_t d_written = 0; // output sample of d_out.samples[0]
    std::deque<std::pair<uint64_t, kernel::tx_bursts::mark>>
        d_marks; // keyed by output sample
    mutable std::mutex d_mutex;
    to_sdr_state d_state;
};

} // namespace

to_sdr::sptr to_sdr::make(double device_rate,
                          double modem_rate,
                          double latency_s,
                          double lead_s,
                          double tail_s,
                          bool keyed_by_burst)
{
    return gnuradio::make_block_sptr<to_sdr_impl>(kernel::tx_burst_settings{
        device_rate, modem_rate, latency_s, lead_s, tail_s, keyed_by_burst });
}

} // namespace gr::hf
