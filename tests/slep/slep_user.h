/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "slep/endpoint.h"
#include "slep/fake_sis.h"

#include <map>

namespace gr::hf::test {

//! Octets that depend on position and seed.
inline octets pattern(size_t n, uint32_t seed = 1)
{
    std::mt19937 rng(seed);
    octets v(n);
    for (auto& o : v)
        o = static_cast<uint8_t>(rng());
    return v;
}

//! A user of an endpoint: accepts streams, reads all octets, records events.
struct slep_user {
    explicit slep_user(const slep::endpoint_config& c) : link(c) { link.listen(0); }

    struct seen {
        octets data, open_data, answer;
        bool opened = false, fin = false, closed = false, aborted = false,
             refused = false;
        int code = -1;
        octets to_send; // with back-pressure
        size_t sent = 0;
        bool then_finish = false, finished = false;
        size_t unread = 0;
        slep::user_address from;
    };

    slep::endpoint link;
    std::map<slep::stream_id, seen> streams;
    std::vector<slep::stream_id> offered; // in order
    std::vector<slep::event> datagrams;
    bool accept_all = true, read_all = true, finish_after_fin = false;
    slep::stream_options accept_options;
    octets reply; // sent by the responder after accept
    size_t max_unread = 0;

    std::function<void(station_time)> hook()
    {
        return [this](station_time now) { work(now); };
    }

    void send(slep::stream_id s, octets data, bool then_finish)
    {
        seen& x = streams[s];
        x.to_send.insert(x.to_send.end(), data.begin(), data.end());
        x.then_finish = then_finish;
    }

    void work(station_time now)
    {
        while (auto e = link.poll_event()) {
            using type = slep::event::type;
            if (e->what == type::datagram || e->what == type::datagram_done) {
                datagrams.push_back(*e);
                continue;
            }
            seen& x = streams[e->stream];
            x.from = e->from;
            switch (e->what) {
            case type::open:
                x.open_data = e->data;
                offered.push_back(e->stream);
                if (accept_all) {
                    link.accept(now, e->stream, { 0 }, accept_options);
                    x.to_send = reply;
                }
                break;
            case type::opened:
                x.opened = true;
                x.answer = e->data;
                break;
            case type::data:
                x.data.insert(x.data.end(), e->data.begin(), e->data.end());
                if (read_all)
                    link.consumed(now, e->stream, e->data.size());
                else
                    x.unread += e->data.size();
                max_unread = std::max(max_unread, x.unread);
                break;
            case type::fin:
                x.fin = true;
                if (finish_after_fin)
                    x.then_finish = true;
                break;
            case type::closed:
                x.closed = true;
                break;
            case type::aborted:
                x.aborted = true;
                x.code = e->code;
                break;
            case type::refused:
                x.refused = true;
                x.code = e->code;
                break;
            default:
                break;
            }
        }
        for (auto& s : streams) {
            seen& x = s.second;
            if (x.sent < x.to_send.size())
                x.sent += link.write(
                    now, s.first, x.to_send.data() + x.sent, x.to_send.size() - x.sent);
            if (x.then_finish && !x.finished && x.sent == x.to_send.size()) {
                x.finished = true;
                link.finish(now, s.first);
            }
        }
    }
};

} // namespace gr::hf::test
