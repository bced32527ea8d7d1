/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/pdu/s_primitive.h"

#include <hf/station_time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <vector>

/*! \file input.h
 *  \brief What the fuzz targets share: octets as a source of decisions, and a node that is
 *         played to a client engine.
 */
namespace gr::hf::fuzz {

using octets = std::vector<uint8_t>;

//! A property that must hold, whatever came in.
#define FUZZ_CHECK(condition)                                                    \
    do {                                                                         \
        if (!(condition)) {                                                      \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            std::abort();                                                        \
        }                                                                        \
    } while (false)

//! Takes fields from the input. After its end all are 0.
class input
{
public:
    input(const uint8_t* p, size_t n) : d_p(p), d_left(n) {}

    bool empty() const { return d_left == 0; }
    uint8_t u8()
    {
        if (d_left == 0)
            return 0;
        --d_left;
        return *d_p++;
    }
    uint16_t u16() { return static_cast<uint16_t>(u8() << 8 | u8()); }
    uint32_t u32() { return uint32_t(u16()) << 16 | u16(); }
    octets bytes(size_t n)
    {
        n = std::min(n, d_left);
        octets o(d_p, d_p + n);
        d_p += n;
        d_left -= n;
        return o;
    }
    //! A record: its length in one octet (255: two more), then its octets.
    octets record()
    {
        const uint8_t n = u8();
        return bytes(n == 255 ? u16() : n);
    }
    octets rest() { return bytes(d_left); }

private:
    const uint8_t* d_p;
    size_t d_left;
};

//! Times from 0 to about 18 h, short ones more often.
inline station_time some_time(input& in)
{
    const uint8_t k = in.u8();
    return station_time(int64_t(1 + (k & 15)) << (16 + 2 * (k >> 4)));
}

/*! \brief Plays the node for an engine that is a client: confirms or rejects its U_PDUs,
delivers those of peers, and advances time.
 */
template <class Engine>
class played_node
{
public:
    played_node(Engine& e, uint8_t sap) : d_engine(e), d_sap(sap)
    {
        drain();
        tell(s5066::s_bind_accepted{ sap, 2048 });
    }

    station_time now{ 1 };

    void tell(const s5066::s_primitive& p)
    {
        const auto v = s5066::encode(p);
        d_engine.sis_in(now, v.data(), v.size());
        drain();
    }
    //! One of what can happen, chosen by \p in.
    void step(input& in)
    {
        switch (in.u8() % 8) {
        case 0: {
            const auto v = in.record();
            d_engine.sis_in(now, v.data(), v.size());
            break;
        }
        case 1:
        case 2:
        case 3: {
            s5066::s_unidata_indication u;
            u.src = s5066::address::node(0x01000000u + in.u8() % 4);
            u.src_sap = u.dst_sap = in.u8() % 4 == 0 ? in.u8() % 16 : d_sap;
            u.u_pdu = in.record();
            tell(u);
            break;
        }
        case 4:
        case 5:
            if (!d_sent.empty()) {
                const size_t k = in.u8() % d_sent.size();
                const auto u = d_sent[k];
                d_sent.erase(d_sent.begin() + static_cast<ptrdiff_t>(k));
                if (in.u8() % 4)
                    tell(s5066::s_unidata_request_confirm{
                        false, u.dst_sap, u.dst, u.u_pdu });
                else
                    tell(s5066::s_unidata_request_rejected{
                        false, in.u8(), u.dst_sap, u.dst, u.u_pdu });
            }
            break;
        case 6:
            move(some_time(in));
            break;
        case 7:
            if (in.u8() % 8 == 0) {
                d_engine.sis_reset(now);
                drain();
                tell(s5066::s_bind_accepted{ d_sap, 2048 });
            }
        }
        drain();
    }
    void move(station_time by)
    {
        const station_time end = now + by;
        for (int k = 0; k < 1000; ++k) {
            const auto due = d_engine.next_deadline();
            if (!due || *due > end)
                break;
            now = std::max(now, *due);
            d_engine.on_deadline(now);
            drain();
        }
        now = end;
    }
    void drain()
    {
        for (int k = 0; auto v = d_engine.poll_sis(); ++k) {
            FUZZ_CHECK(k < 100000);
            const auto p = s5066::decode_primitive(*v);
            FUZZ_CHECK(p); // what our engines say is well formed
            if (const auto* u = std::get_if<s5066::s_unidata_request>(&*p)) {
                if (d_sent.size() < 64)
                    d_sent.push_back(*u);
            }
        }
    }

private:
    Engine& d_engine;
    const uint8_t d_sap;
    std::vector<s5066::s_unidata_request> d_sent;
};

} // namespace gr::hf::fuzz
