/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks/modem_impl.h"
#include "blocks/buffer_size.h"

#include "blocks/modem_messages.h"
#include "blocks/pdu.h"

#include <gnuradio/io_signature.h>
#include <hf/keys.h>

#include <boost/thread/thread.hpp>

#include <algorithm>
#include <chrono>

namespace gr::hf {
namespace {

// A live transmitter cannot wait longer than the samples in the radio's buffers last.
constexpr int live_wait_ms = 50;
// Time for a data link to handle a tick. It needs a fraction of a millisecond. Half a
// tick is left for the receiver.
constexpr int tick_wait_ms = 5;
// Sound systems fill buffers of some tenths of a second before anything is heard.
constexpr double live_start_delay_s = 1;
// Longest gap in samples: months.
constexpr uint64_t max_erased = uint64_t{ 1 } << 40;

// Gives the processor to others, for one who has waited for a message. The data link
// answers within a fraction of a millisecond, and a sleep takes at least 60 us. Programs on
// its sockets may take long. stop() interrupts the wait.
void pause_after(std::chrono::nanoseconds waited)
{
    constexpr std::chrono::nanoseconds usual_answer = std::chrono::microseconds(200);
    boost::this_thread::interruption_point();
    if (waited < usual_answer)
        boost::this_thread::yield();
    else
        boost::this_thread::sleep_for(
            boost::chrono::nanoseconds(std::min<int64_t>(waited.count() / 4, 1'000'000)));
}

} // namespace

modem::sptr modem::make(bool lock_step,
                        bool zero_interleaver,
                        int agc_blocks,
                        int effort,
                        std::optional<double> start_delay_s,
                        double level,
                        int bandwidth)
{
    return gnuradio::make_block_sptr<modem_impl>(
        lock_step,
        zero_interleaver,
        agc_blocks,
        effort,
        start_delay_s.value_or(lock_step ? 0 : live_start_delay_s),
        level,
        bandwidth);
}

modem_impl::modem_impl(bool lock_step,
                       bool zero_interleaver,
                       int agc_blocks,
                       int effort,
                       double start_delay_s,
                       double level,
                       int bandwidth)
    : gr::sync_block("hf_modem",
                     gr::io_signature::make(1, 1, sizeof(gr_complex)),
                     gr::io_signature::make(1, 1, sizeof(gr_complex))),
      d_level(level),
      d_modem(*this, { zero_interleaver, agc_blocks, effort, start_delay_s, bandwidth }),
      d_lock_step(lock_step), d_port(pmt::mp("modem")), d_bandwidth(bandwidth)
{
    message_port_register_in(d_port);
    message_port_register_out(d_port);
    message_port_register_out(pmt::mp("status"));
    message_port_register_out(pmt::mp("blocks"));
    message_port_register_in(pmt::mp("radio"));
    set_msg_handler(pmt::mp("radio"), [this](const pmt::pmt_t& m) { on_radio(m); });
    set_output_multiple(static_cast<int>(d_modem.tick_samples()));
    // A few ticks are enough. More would only add delay between the link and the air.
    set_max_output_buffer(whole_pages(5 * d_modem.tick_samples()));
    set_tag_propagation_policy(TPP_DONT);
}

int modem_impl::work(int noutput_items,
                     gr_vector_const_void_star& input_items,
                     gr_vector_void_star& output_items)
{
    const auto* in = static_cast<const gr_complex*>(input_items[0]);
    auto* out = static_cast<gr_complex*>(output_items[0]);
    const int tick = static_cast<int>(d_modem.tick_samples());
    const float* erased = find_erased(static_cast<size_t>(noutput_items));

    for (int k = 0; k + tick <= noutput_items; k += tick) {
        const auto span = d_modem.run(in + k, out + k, erased ? erased + k : nullptr);
        const uint64_t at = nitems_written(0) + k;
        if (span.first)
            add_item_tag(0, at + *span.first, pmt::mp("tx_sob"), pmt::PMT_T);
        if (span.last)
            add_item_tag(0, at + *span.last, pmt::mp("tx_eob"), pmt::PMT_T);
        d_level.apply(out + k, static_cast<size_t>(tick));
    }

    d_reports.at(d_modem.now());
    return noutput_items;
}

// Marks samples that replace lost ones.
const float* modem_impl::find_erased(size_t n)
{
    const uint64_t begin = nitems_read(0);
    std::vector<tag_t> tags;
    get_tags_in_window(tags, 0, 0, n, keys::erased());
    if (tags.empty() && d_erased_end <= begin)
        return nullptr;
    d_erased.assign(n, 0);
    const auto mark = [&](uint64_t from, uint64_t to) {
        const uint64_t first = std::max(from, begin), last = std::min(to, begin + n);
        for (uint64_t k = first; k < last; ++k)
            d_erased[k - begin] = 1;
    };
    mark(begin, d_erased_end);
    for (const auto& tag : tags) {
        if (!pmt::is_uint64(tag.value))
            continue;
        // Bounded, because any block may add any tag, and the sum must not overflow.
        const uint64_t end = tag.offset + std::min(pmt::to_uint64(tag.value), max_erased);
        mark(tag.offset, end);
        d_erased_end = std::max(d_erased_end, end);
    }
    return d_erased.data();
}

// Any block may post any message.
void modem_impl::on_radio(const pmt::pmt_t& msg)
{
    const pdu::reader r(msg);
    if (r.type() != "tx_damaged")
        return;
    const std::string reason = r.symbol(keys::reason());
    d_reports.tx_damaged(
        d_modem.now(), r.integer(keys::transmission()).value_or(0), reason);
    if (modem_messages::ends_transmission(reason))
        d_modem.break_off();
}

bool modem_impl::start()
{
    d_connected = pmt::length(message_subscribers(d_port)) > 0;
    if (!d_connected)
        d_logger->warn("port modem is not connected: receiving only");
    // Kept only while a block is connected.
    d_modem.keep_details(pmt::length(message_subscribers(pmt::mp("blocks"))) > 0);
    return true;
}

modem_state modem_impl::state() const { return d_reports.state(); }

// The port has no handler. Messages are taken here, in the middle of work(), because they
// decide the next samples. The scheduler has no call to wait for a message inside work(),
// so the port is asked again after a pause. Empty when patience_ms of a live modem is
// over. Messages that do not parse are dropped.
template <class Parse>
auto modem_impl::await(Parse parse, int patience_ms) -> decltype(parse(pmt::pmt_t()))
{
    using clock = std::chrono::steady_clock;
    const auto start = clock::now();
    for (;;) {
        while (const auto msg = delete_head_nowait(d_port))
            if (auto answer = parse(msg))
                return answer;
        const auto waited = clock::now() - start;
        if (!d_lock_step && waited >= std::chrono::milliseconds(patience_ms))
            return {};
        pause_after(waited);
    }
}

void modem_impl::on_tick(station_time now)
{
    d_ticks_out += d_connected;
    message_port_pub(d_port, modem_messages::tick(now, d_lock_step, channel_use()));
}

std::optional<mode> modem_impl::want_tx(station_time now)
{
    std::optional<mode> key_up;
    const auto take = [&](const modem_messages::tick_answer& a) {
        d_ticks_out -= d_ticks_out > 0;
        on_answer(a);
        if (a.key_up && a.key_up->bandwidth_hz != 1000 * d_bandwidth)
            d_logger->error(
                "mode {} is of {} kHz, this modem of bandwidth = {}: nothing is "
                "sent",
                a.key_up->to_string(),
                a.key_up->bandwidth_hz / 1000,
                d_bandwidth);
        else if (a.key_up)
            key_up = a.key_up;
    };
    if (d_lock_step) {
        while (d_ticks_out > 0)
            if (const auto a = await(modem_messages::parse_tick_done, live_wait_ms))
                take(*a);
    } else {
        // An answer that arrives in time decides this tick's samples, not the next one's.
        // The modem does not wait for a data link that still owes an earlier answer.
        while (const auto msg = delete_head_nowait(d_port))
            if (const auto a = modem_messages::parse_tick_done(msg))
                take(*a);
        if (d_ticks_out == 1)
            if (const auto a = await(modem_messages::parse_tick_done, tick_wait_ms))
                take(*a);
    }
    if (key_up)
        d_reports.tx_start(now, *key_up);
    return key_up;
}

tx_octets modem_impl::pull(station_time now, station_time air_time, size_t max_octets)
{
    message_port_pub(d_port, modem_messages::pull(now, air_time, max_octets));
    const auto answer = await(modem_messages::parse_tx_octets, live_wait_ms);
    if (!answer) {
        d_reports.late_answer();
        return { {}, true };
    }
    d_reports.sent(std::min(answer->octets.size(), max_octets));
    return *answer;
}

} // namespace gr::hf
