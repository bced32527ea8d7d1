/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// DNS-PEP: messages of DNS and our own, and the engine between clients, resolver and peers.
#include "dns/codec.h"
#include "dns/forwarder.h"
#include "dns/message.h"
#include "fuzz/input.h"

using namespace gr::hf;
using namespace gr::hf::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* p, size_t n)
{
    if (const auto r = dns::read_response(p, n)) {
        FUZZ_CHECK(r->answer_end <= n);
        dns::only_answer(p, *r);
    }
    const auto q = dns::read_query(p, n);
    if (const auto* query = std::get_if<dns::query>(&q)) {
        dns::make_reply(*query, octets(p, p + n), 60);
        const auto reply = dns::make_reply(*query, { ip::address("10.0.0.1") }, 60);
        FUZZ_CHECK(dns::read_response(reply.data(), reply.size()));
    }
    if (const auto m = dns::decode(p, n)) {
        const auto again = dns::encode(*m);
        if (!again.empty())
            FUZZ_CHECK(dns::decode(again.data(), again.size()));
    }
    dns::normal_name(std::string(p, p + n));

    input in(p, n);
    dns::forwarder_config c;
    c.routes = { { ".", s5066::address::node(0x01000001u) } };
    c.serve = true;
    dns::forwarder e(c);
    played_node node(e, 15);
    std::vector<uint64_t> asked;
    uint64_t client = 0;
    for (int steps = 0; !in.empty() && steps < 100; ++steps) {
        const uint8_t what = in.u8();
        if (what % 4 == 0) {
            const auto o = in.record();
            e.on_query(node.now, client++, o.data(), o.size());
        } else if (what % 4 == 1 && !asked.empty()) {
            const auto o = in.record();
            if (what & 64)
                e.on_ask_failed(node.now, asked.back());
            else
                e.on_response(node.now, asked.back(), o.data(), o.size());
            asked.pop_back();
        } else {
            node.step(in);
        }
        node.drain();
        for (int k = 0; auto a = e.poll_action(); ++k) {
            FUZZ_CHECK(k < 100000);
            if (a->what == dns::action::kind::ask && asked.size() < 64)
                asked.push_back(a->id);
        }
    }
    return 0;
}
