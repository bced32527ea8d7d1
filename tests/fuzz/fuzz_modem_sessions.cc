/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Both ends of both forms of the LAN interface, with a modem and a data link that do anything.
#include "fuzz/input.h"
#include "modem_interface/tcp_dte.h"
#include "modem_interface/tcp_modem.h"
#include "modem_interface/udp_dte.h"
#include "modem_interface/udp_modem.h"

#include <memory>

using namespace gr::hf;
using namespace gr::hf::fuzz;
using namespace gr::hf::modem_interface;

namespace {

const mode air_mode = mode::parse("4539-600S");

// Something that is well formed more often than not.
fuzz::octets some_packet(input& in, bool udp)
{
    const uint8_t kind = in.u8();
    if (kind % 8 == 0)
        return in.record();
    if (!udp) {
        auto payload = in.record();
        payload.resize(std::min(payload.size(), max_tcp_payload));
        static constexpr uint8_t types[] = { 0, 0, 0, 0, 0, 1, 2, 0xff };
        return encode(tcp_packet{ types[kind >> 5], payload });
    }
    udp_packet p;
    p.session = kind & 1 ? 5 : 6;
    switch (kind >> 5) {
    case 0:
        p.what = ping_request{};
        break;
    case 1:
        p.what = ping_reply{};
        break;
    case 2:
        p.what = status_request{};
        break;
    case 3: {
        status_reply s;
        s.sequence = in.u8();
        s.transfer = in.u8() % 4;
        s.errors = in.u8();
        s.carrier = kind & 2;
        s.tx = static_cast<udp_tx_state>(in.u8() % 4);
        s.tx_rate_bps = in.u16();
        s.tx_blocking_bits = in.u16();
        p.what = s;
        break;
    }
    case 4:
        p.what = command_request{ in.u16(), in.u8() };
        break;
    case 5:
        p.what = command_ack{ in.u16() };
        break;
    default: {
        encoded_data d;
        d.enhanced = kind & 2;
        d.transfer = in.u8() % 4;
        d.sequence = in.u8();
        const uint8_t bits = in.u8();
        d.holdoff = bits & 1;
        d.last_set = bits & 2;
        d.first_set = bits & 4;
        d.fec_n = bits & 8 ? 6 : static_cast<uint8_t>(2 + in.u8() % 14);
        d.fec_k = static_cast<uint8_t>(1 + in.u8() % (d.fec_n - 1));
        d.rate_bps = in.u16();
        d.blocking_bits = in.u16();
        d.data = in.record();
        d.data.resize(std::min(d.data.size(), max_encoded_data));
        p.what = d;
    }
    }
    return encode(p);
}

//! The two ends do not hear each other: each hears the input.
struct bench {
    std::unique_ptr<modem_session> modem;
    std::unique_ptr<dte_session> dte;
    station_time now{ 1 };
    bool on_air = false;

    explicit bench(bool udp)
    {
        modem_settings m;
        dte_settings d;
        m.tx_mode = d.tx_mode = air_mode;
        if (udp) {
            modem = std::make_unique<udp_modem>(m);
            dte = std::make_unique<udp_dte>(d);
        } else {
            modem = std::make_unique<tcp_modem>(m);
            dte = std::make_unique<tcp_dte>(d);
        }
        modem->open(now);
        dte->open(now);
        if (!udp)
            for (const auto& o : { encode(tcp_packet{ 1, { 12 } }),
                                   encode(tcp_packet{ 2, { 12 } }),
                                   encode(tcp_payload(connection_probe{})) })
                tell(o);
    }
    void tell(const fuzz::octets& o)
    {
        if (modem->reading() && modem->finished().empty())
            modem->receive(now, o.data(), o.size());
        if (dte->finished().empty())
            dte->receive(now, o.data(), o.size());
    }
    void drain(input& in)
    {
        for (wire* w :
             { static_cast<wire*>(modem.get()), static_cast<wire*>(dte.get()) }) {
            while (w->poll_wire())
                ;
            if (!w->finished().empty()) {
                w->close(now);
                w->open(now);
            }
        }
        for (int k = 0; auto e = dte->poll_event(); ++k) {
            FUZZ_CHECK(k < 100000);
            const auto* pull = std::get_if<pull_request>(&*e);
            if (!pull)
                continue;
            FUZZ_CHECK(pull->max_octets > 0 && pull->max_octets <= (1 << 20));
            const uint8_t how = in.u8();
            if (how % 8)
                dte->on_octets(
                    { fuzz::octets(how % 4 ? pull->max_octets : how), how > 200 });
        }
    }
    void step(input& in, bool udp)
    {
        const uint8_t what = in.u8();
        switch (what % 10) {
        case 0:
        case 1:
        case 2:
        case 3:
            tell(some_packet(in, udp));
            break;
        case 4: {
            now += some_time(in);
            for (wire* w :
                 { static_cast<wire*>(modem.get()), static_cast<wire*>(dte.get()) })
                if (const auto due = w->next_deadline(); due && *due <= now)
                    w->on_deadline(now);
            break;
        }
        case 5:
            now += std::chrono::milliseconds(10);
            dte->on_tick(now);
            modem->on_tick(now);
            if (!on_air && modem->want_tx(now))
                on_air = true;
            break;
        case 6:
            dte->key_up(now, air_mode);
            break;
        case 7:
            if (on_air && modem->pull(now, now, 45).last) {
                modem->on_tx_end(now);
                on_air = false;
            }
            break;
        case 8:
            if (what & 16)
                modem->on_rx_start(now, { air_mode, 10, 0 });
            modem->on_rx_octets(now, { in.record(), 10, 1 });
            if (what & 32)
                modem->on_rx_end(now, { rx_end_reason::eom, now });
            break;
        case 9:
            if (what >= 240) {
                modem->close(now);
                dte->close(now);
                modem->open(now);
                dte->open(now);
            }
        }
        drain(in);
        FUZZ_CHECK(modem->queued() < 100000);
    }
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* p, size_t n)
{
    input in(p, n);
    const bool udp = in.u8() & 1;
    bench b(udp);
    for (int steps = 0; !in.empty() && steps < 300; ++steps)
        b.step(in, udp);
    return 0;
}
