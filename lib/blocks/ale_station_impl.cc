/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ale/station/link_radio.h"
#include "blocks/modem_impl.h"
#include "blocks/modem_messages.h"
#include "blocks/pdu.h"
#include "s5066/rate/channel_promise.h"
#include "s5066/words/address.h"

#include <gnuradio/io_signature.h>
#include <hf/ale_station.h>

#include <algorithm>
#include <mutex>
#include <stdexcept>

namespace gr::hf {
namespace {

constexpr double live_start_delay_s = 1;
constexpr uint64_t max_unanswered = 1000;

ale::link_settings
link_settings(int channels, bool wide, const std::map<std::string, double>& settings)
{
    ale::link_settings s;
    if (channels < 1 || channels > 100)
        throw std::invalid_argument("channels " + std::to_string(channels) +
                                    ": allowed are 1 to 100");
    s.channels = static_cast<size_t>(channels);
    s.wide = wide;
    ale::apply(settings, s);
    return s;
}

ale::address_book known_stations(const ale_book& book)
{
    ale::address_book known{ book.self, book.nets, book.scanned };
    for (const auto& [address, station] : book.peers)
        known.peers.push_back(station);
    return known;
}

class ale_station_impl : public ale_station, public modem_impl
{
public:
    ale_station_impl(const ale_book& book,
                     const ale::link_settings& settings,
                     int streams,
                     bool lock_step,
                     double start_delay_s,
                     double level,
                     uint64_t seed)
        : gr::sync_block("hf_ale_station",
                         gr::io_signature::make(streams, streams, sizeof(gr_complex)),
                         gr::io_signature::make(streams, streams, sizeof(gr_complex))),
          modem_impl(lock_step, false, 0, 1, start_delay_s, level, 3),
          d_radio(settings,
                  known_stations(book),
                  static_cast<size_t>(streams),
                  seed,
                  s5066::promised_bps),
          d_channels(static_cast<int>(settings.channels)), d_ale(pmt::mp("ale")),
          d_log(pmt::mp("log"))
    {
        for (const auto& [address, station] : book.peers) {
            d_names[s5066::address(address).to_string()] = station;
            d_addresses[station] = s5066::address(address).to_string();
        }
        message_port_register_out(d_ale);
        message_port_register_out(d_log);
    }

    int work(int noutput_items,
             gr_vector_const_void_star& input_items,
             gr_vector_void_star& output_items) override
    {
        const int tick = static_cast<int>(d_modem.tick_samples());
        for (int k = 0; k + tick <= noutput_items; k += tick)
            run_tick(k, static_cast<size_t>(tick), input_items, output_items);
        d_reports.at(d_modem.now());
        return noutput_items;
    }

    ale_state ale() const override
    {
        ale_state s;
        {
            const std::lock_guard<std::mutex> lock(d_mutex);
            s = d_state;
        }
        const std::lock_guard<std::mutex> lock(d_link_mutex);
        for (const auto& e : d_radio.link().quality().entries(d_radio.now()))
            s.quality.push_back({ e.station, e.channel, e.score_db, to_seconds(e.age) });
        return s;
    }
    void call(const std::string& to, const std::string& text) override
    {
        const std::lock_guard<std::mutex> lock(d_link_mutex);
        d_radio.link().call(to, text, d_radio.now());
    }
    void hang_up() override
    {
        const std::lock_guard<std::mutex> lock(d_link_mutex);
        d_radio.link().end(d_radio.now());
    }
    void note(const std::string& station, int channel, double snr_db) override
    {
        if (channel < 0 || channel >= d_channels)
            throw std::invalid_argument("channel " + std::to_string(channel) +
                                        ": allowed are 0 to " +
                                        std::to_string(d_channels - 1));
        const std::lock_guard<std::mutex> lock(d_link_mutex);
        d_radio.link().quality().heard(
            station, static_cast<size_t>(channel), snr_db, d_radio.now());
    }

private:
    void run_tick(int at,
                  size_t n,
                  gr_vector_const_void_star& input_items,
                  gr_vector_void_star& output_items)
    {
        std::vector<const gr_complex*> in;
        std::vector<gr_complex*> out;
        for (const void* x : input_items)
            in.push_back(static_cast<const gr_complex*>(x) + at);
        for (void* x : output_items)
            out.push_back(static_cast<gr_complex*>(x) + at);
        d_to_modem.resize(n);
        d_of_modem.resize(n);
        {
            const std::lock_guard<std::mutex> lock(d_link_mutex);
            d_radio.receive(in, n, d_to_modem.data());
        }
        const bool before = d_modem.transmitting();
        const auto span = d_modem.run(d_to_modem.data(), d_of_modem.data());
        const std::lock_guard<std::mutex> lock(d_link_mutex);
        const auto ale_span = d_radio.transmit(d_of_modem.data(), n, out);
        if (before != d_modem.transmitting())
            d_radio.keeper().keyed(!before, d_radio.now());
        for (size_t k = 0; k < out.size(); ++k) {
            d_level.apply(out[k], n);
            const uint64_t first = nitems_written(static_cast<unsigned>(k)) + at;
            if (k == (out.size() == 1 ? 0 : d_radio.link().channel())) {
                tag(k, first, "tx_sob", span.first);
                tag(k, first, "tx_eob", span.last);
                tag(k, first, "tx_sob", ale_span.first);
                tag(k, first, "tx_eob", ale_span.last);
            }
        }
        publish();
    }

    void tag(size_t stream, uint64_t first, const char* name, std::optional<size_t> at)
    {
        if (at)
            add_item_tag(
                static_cast<unsigned>(stream), first + *at, pmt::mp(name), pmt::PMT_T);
    }

    void publish()
    {
        ale_state s = d_state;
        while (const auto a = d_radio.poll()) {
            s.links += a->what == ale::link_action::kind::linked;
            s.failures += a->what == ale::link_action::kind::failed;
            const auto text = line(*a);
            message_port_pub(d_ale,
                             pdu::builder(ale::to_string(a->what))
                                 .set(keys::now(), d_radio.now())
                                 .set(keys::ale_channel(), uint64_t{ a->channel })
                                 .make(std::vector<uint8_t>(text.begin(), text.end())));
            if (a->what != ale::link_action::kind::tune)
                message_port_pub(d_log,
                                 pdu::line(d_radio.now(),
                                           std::string("ALE: ") +
                                               ale::to_string(a->what) + " on channel " +
                                               std::to_string(a->channel) + ": " + text));
        }
        s.state = to_string(d_radio.link().state());
        s.channel = d_radio.link().channel();
        s.peer = d_radio.link().peer();
        s.now = to_seconds(d_radio.now());
        const std::lock_guard<std::mutex> lock(d_mutex);
        d_state = s;
    }

    static std::string line(const ale::link_action& a)
    {
        std::string text = a.text;
        if (a.what != ale::link_action::kind::transmit && !a.peer.empty())
            text = a.peer + (text.empty() ? "" : ": " + text);
        if (a.reason != ale::link_reason::none)
            text += std::string(": ") + to_string(a.reason);
        return text;
    }

    // The data link, through the modem port
    std::optional<modem_messages::channel_use> channel_use() override
    {
        const std::lock_guard<std::mutex> lock(d_link_mutex);
        modem_messages::channel_use use;
        use.open = d_radio.link().state() == ale::link_state::linked;
        const auto only = d_addresses.find(d_radio.link().peer());
        if (only != d_addresses.end())
            use.only = only->second;
        return use;
    }
    void on_answer(const modem_messages::tick_answer& a) override
    {
        const std::lock_guard<std::mutex> lock(d_link_mutex);
        std::string wanted;
        if (const auto name = d_names.find(a.wanted); name != d_names.end())
            wanted = name->second;
        else if (!a.wanted.empty() && d_unknown != a.wanted)
            d_logger->warn("{}: no ALE address is known, its data wait",
                           d_unknown = a.wanted);
        // Any block may send any number.
        const auto unanswered =
            static_cast<unsigned>(std::min<uint64_t>(a.unanswered, max_unanswered));
        d_radio.keeper().update({ wanted, a.active, a.joined, unanswered },
                                d_radio.now());
    }
    void on_rx_start(station_time now, const rx_start& e) override
    {
        modem_impl::on_rx_start(now, e);
        const std::lock_guard<std::mutex> lock(d_link_mutex);
        d_radio.keeper().traffic({}, d_radio.now());
    }
    void on_rx_octets(station_time now, const rx_octets& e) override
    {
        modem_impl::on_rx_octets(now, e);
        const std::lock_guard<std::mutex> lock(d_link_mutex);
        d_radio.keeper().traffic(e.snr_db, d_radio.now());
    }
    void on_rx_end(station_time now, const rx_end& e) override
    {
        modem_impl::on_rx_end(now, e);
        const std::lock_guard<std::mutex> lock(d_link_mutex);
        d_radio.keeper().turn(d_radio.now());
    }
    void on_carrier(station_time now, bool present) override
    {
        modem_impl::on_carrier(now, present);
        const std::lock_guard<std::mutex> lock(d_link_mutex);
        if (present)
            d_radio.keeper().heard();
    }

    // Of the engine; callers come from other threads.
    mutable std::mutex d_link_mutex;
    mutable ale::link_radio d_radio;
    const int d_channels;
    const pmt::pmt_t d_ale, d_log;
    std::map<std::string, std::string> d_names, d_addresses;
    std::string d_unknown; // the latest address that was reported as unknown
    std::vector<gr_complex> d_to_modem, d_of_modem;
    mutable std::mutex d_mutex;
    ale_state d_state;
};

} // namespace

ale_station::sptr ale_station::make(const ale_book& book,
                                    int channels,
                                    bool wide,
                                    int streams,
                                    const std::map<std::string, double>& settings,
                                    bool lock_step,
                                    std::optional<double> start_delay_s,
                                    double level,
                                    uint64_t seed)
{
    if (streams < 1)
        throw std::invalid_argument("streams " + std::to_string(streams) +
                                    ": allowed are 1 and the number of channels");
    const auto known = known_stations(book);
    for (const auto& [address, station] : book.peers) {
        static_cast<void>(s5066::address(address));
        known.check_callable(station);
    }
    return gnuradio::make_block_sptr<ale_station_impl>(
        book,
        link_settings(channels, wide, settings),
        streams,
        lock_step,
        start_delay_s.value_or(lock_step ? 0 : live_start_delay_s),
        level,
        seed);
}

std::map<std::string, double> ale_station::settings()
{
    std::map<std::string, double> values;
    for (const auto& s : ale::describe_link_settings())
        values[s.name] = s.value;
    return values;
}
std::vector<setting_info> ale_station::describe_settings()
{
    return ale::describe_link_settings();
}

} // namespace gr::hf
