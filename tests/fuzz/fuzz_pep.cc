/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// HF-PEP: requests and answers, SOCKS5, SOCKS4 and CONNECT, and the engine between sockets and peers
// that do anything.
#include "fuzz/input.h"
#include "pep/handshake.h"
#include "pep/proxy.h"

#include <map>

using namespace gr::hf;
using namespace gr::hf::fuzz;

namespace {

hfpep::proxy_config config()
{
    hfpep::proxy_config c;
    c.slep.sap = 13;
    c.routes = { { ip::prefix("10.0.0.0/8"), "", s5066::address::node(0x01000001u) },
                 { ip::prefix("0.0.0.0/0"), ".", s5066::address::node(0x01000002u) } };
    c.allow = { hfpep::reach::parse("*:1-65535") };
    c.max_connections = 16;
    return c;
}

void shake_hands(hfpep::handshake::protocol protocol, const uint8_t* p, size_t n)
{
    hfpep::handshake h(protocol);
    for (size_t at = 0; at < n && h.now() == hfpep::handshake::state::asking; at += 7) {
        h.feed(p + at, std::min<size_t>(7, n - at));
        h.poll_reply();
    }
    if (h.now() == hfpep::handshake::state::requested) {
        h.request().to_string();
        h.answer(hfpep::status::connected);
        FUZZ_CHECK(!h.poll_reply().empty());
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* p, size_t n)
{
    const auto request = hfpep::decode_request(p, n);
    if (const auto* r = std::get_if<hfpep::connect_request>(&request)) {
        const auto again = hfpep::encode(*r);
        if (!again.empty()) {
            const auto back = hfpep::decode_request(again.data(), again.size());
            FUZZ_CHECK(std::holds_alternative<hfpep::connect_request>(back));
        }
    }
    hfpep::decode_answer(p, n);
    shake_hands(hfpep::handshake::protocol::socks5, p, n);
    shake_hands(hfpep::handshake::protocol::http_connect, p, n);

    input in(p, n);
    hfpep::proxy e(config());
    played_node node(e, 13);
    std::map<hfpep::connection_id, size_t> credit; // open connections
    hfpep::connection_id next = 1;
    for (int steps = 0; !in.empty() && steps < 200; ++steps) {
        const uint8_t what = in.u8();
        const hfpep::connection_id one =
            credit.empty() ? 0 : std::next(credit.begin(), what % credit.size())->first;
        switch (what % 12) {
        case 0: {
            const hfpep::destination to =
                what & 64 ? hfpep::destination{ ip::address("10.0.0.1"), in.u16() }
                          : hfpep::destination{ std::string("a.example"), in.u16() };
            if (e.on_accept(node.now, next, to, { ip::address("10.9.9.9"), 4000 }) ==
                hfpep::rule_action::proxy)
                credit[next] = 0;
            ++next;
            break;
        }
        case 1:
        case 2:
            if (one != 0 && credit[one] > 0) {
                auto data = in.record();
                data.resize(std::min(data.size(), credit[one]));
                credit[one] -= data.size();
                e.on_tcp_data(node.now, one, data.data(), data.size());
            }
            break;
        case 3:
            if (one != 0)
                e.on_tcp_eof(node.now, one);
            break;
        case 4:
            if (one != 0) {
                e.on_tcp_error(node.now, one);
                credit.erase(one);
            }
            break;
        default:
            node.step(in);
        }
        node.drain();
        for (int k = 0; auto a = e.poll_action(); ++k) {
            FUZZ_CHECK(k < 100000);
            using kind = hfpep::action::kind;
            if (a->what == kind::connect) {
                if (in.u8() % 4) {
                    credit[a->conn] = 0;
                    e.on_connect_ok(node.now, a->conn);
                } else {
                    e.on_connect_failed(
                        node.now, a->conn, static_cast<hfpep::status>(in.u8()));
                }
            } else if (a->what == kind::write) {
                if (in.u8() % 8)
                    e.on_tcp_written(node.now, a->conn, a->data.size());
            } else if (a->what == kind::read_more) {
                if (credit.count(a->conn))
                    credit[a->conn] += a->octets_allowed;
            } else if (a->what == kind::close || a->what == kind::reset) {
                credit.erase(a->conn);
            }
            node.drain();
        }
        FUZZ_CHECK(e.connections().size() <= 32);
    }
    return 0;
}
