/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// SLEP: PDUs, the inflater, and an endpoint whose peers send anything.
#include "fuzz/input.h"
#include "slep/deflate.h"
#include "slep/endpoint.h"

#include <set>

using namespace gr::hf;
using namespace gr::hf::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* p, size_t n)
{
    if (const auto pdu = slep::decode(p, n)) {
        const auto again = slep::encode(*pdu);
        if (!again.empty())
            FUZZ_CHECK(slep::decode(again));
    }
    slep::inflater inflater;
    if (const auto o = inflater.run(p, n, 4096))
        FUZZ_CHECK(o->size() <= 4096);

    input in(p, n);
    slep::endpoint e{ slep::endpoint_config() };
    e.listen(0);
    e.listen(16);
    played_node node(e, 13);
    std::set<slep::stream_id> streams;
    for (int steps = 0; !in.empty() && steps < 200; ++steps) {
        const uint8_t what = in.u8();
        const slep::user_address to{ s5066::address::node(0x01000000u + (what >> 4) % 4),
                                     13,
                                     0 };
        switch (what % 12) {
        case 0:
            if (const auto s = e.open(node.now, to, in.record(), in.record(), what & 64))
                streams.insert(*s);
            break;
        case 1:
            if (!streams.empty()) {
                const auto data = in.record();
                e.write(node.now, *streams.rbegin(), data.data(), data.size(), what & 64);
            }
            break;
        case 2:
            if (!streams.empty()) {
                if (what & 64)
                    e.finish(node.now, *streams.begin());
                else
                    e.abort(node.now, *streams.begin(), in.u8());
            }
            break;
        case 3:
            e.send_reliable(node.now, to, in.record(), what >> 4);
            break;
        case 4:
            e.send_unreliable(node.now, to, in.record());
            break;
        default:
            node.step(in);
        }
        node.drain();
        for (int k = 0; auto event = e.poll_event(); ++k) {
            FUZZ_CHECK(k < 100000);
            using type = slep::event::type;
            if (event->what == type::open) {
                const uint8_t how = in.u8();
                slep::stream_options options;
                options.compress = how & 2;
                if (how % 8) {
                    streams.insert(event->stream);
                    e.accept(node.now, event->stream, in.bytes(how >> 4), options);
                } else {
                    e.refuse(node.now, event->stream, how >> 4);
                }
            } else if (event->what == type::data && in.u8() % 8) {
                e.consumed(node.now, event->stream, event->data.size());
            } else if (event->what == type::closed || event->what == type::aborted ||
                       event->what == type::refused) {
                streams.erase(event->stream);
            }
        }
        FUZZ_CHECK(e.streams() <= e.config().streams_max);
    }
    return 0;
}
