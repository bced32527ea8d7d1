/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// A whole data link: octets and soft bits from the air with and without right CRCs, primitives
// of several clients, transmissions, time.
#include "fuzz/input.h"
#include "modem/decode/segment_decoder.h"
#include "s5066/node/node.h"
#include "s5066/pdu/c_pdu.h"
#include "s5066/pdu/d_pdu.h"
#include "waveform/coding/convolutional_code.h"
#include "waveform/timing.h"

using namespace gr::hf;
using namespace gr::hf::fuzz;
using namespace gr::hf::s5066;

namespace {

const address own("1.1.0.0"), peer("1.2.0.0");
const mode air_mode = mode::parse("4539-1200S");
// Its code does not run on through the blocks, so its soft bits are of no use.
const mode other_mode = mode::parse("4539-9600S");

// Bits of the octet that describes a reception. The two lowest ones are the reason of its end.
enum : uint8_t { soft = 4, numbered = 8, block_code = 16 };

//! What the modem gives for octets: code bits without noise.
std::vector<int8_t> ratios_of(const octets& o)
{
    std::vector<uint8_t> bits, code;
    for (size_t k = 0; k < 8 * o.size(); ++k)
        bits.push_back(o[k / 8] >> (k & 7) & 1);
    kernel::convolutional_encoder(kernel::serial_tone_code(1))
        .encode(bits.data(), bits.size(), code);
    std::vector<int8_t> ratios;
    for (const uint8_t c : code)
        ratios.push_back(c ? -32 : 32);
    return ratios;
}

struct station {
    explicit station(bool large)
        : n(
              [large] {
                  node_config c;
                  c.own = own;
                  c.mode = "4539-1200S";
                  c.keep_alive_s = 60;
                  c.trace = c.tap = true;
                  c.extensions = c.large_windows = large;
                  return c;
              }(),
              kernel::decode_after_zeros)
    {
        for (uint8_t k = 1; k <= 2; ++k)
            n.sis_in(now,
                     k,
                     encode(s_bind_request{
                         uint8_t(2 + k), k == 1 ? uint8_t(15) : uint8_t(0), {} }));
        drain();
    }
    node n;
    station_time now{ 1 };

    void drain()
    {
        for (int k = 0; auto p = n.poll_sis(); ++k) {
            FUZZ_CHECK(decode_primitive(p->octets));
            FUZZ_CHECK(k < 100000);
        }
        while (n.poll_trace())
            ;
        while (n.poll_tap())
            ;
    }
    /*! A reception of \p o. With soft bits \p in has two records of pairs: octets with
     *  errors, of which the soft bits know nothing, and soft bits that are wrong. Then
     *  the number of the bit that each block's soft bits start with.
     */
    void receive(octets o, uint8_t how, input& in)
    {
        std::vector<int8_t> ratios;
        if (how & soft) {
            ratios = ratios_of(o);
            const octets wrong = in.record(), noisy = in.record();
            for (size_t k = 1; k < wrong.size() && !o.empty(); k += 2)
                o[wrong[k - 1] % o.size()] ^= wrong[k];
            for (size_t k = 1; k < noisy.size() && !ratios.empty(); k += 2)
                ratios[noisy[k - 1] * 7u % ratios.size()] = static_cast<int8_t>(noisy[k]);
        }
        n.on_rx_start(now, { how & block_code ? other_mode : air_mode, 12.0, 0 });
        uint64_t number = 0;
        for (size_t at = 0; at < o.size(); at += 90) {
            const auto begin = o.begin() + static_cast<ptrdiff_t>(at);
            const size_t size = std::min<size_t>(90, o.size() - at);
            rx_octets e{ { begin, begin + static_cast<ptrdiff_t>(size) }, 12.0, 0.9 };
            if (how & soft)
                add_ratios(e, ratios, 16 * at, in);
            if (how & numbered) {
                // Missing, repeated, late and impossible numbers, too.
                const uint8_t jump = in.u8();
                number = jump < 224 ? number : number + jump - 232;
                e.number = number++;
            }
            now += std::chrono::milliseconds(600);
            n.on_tick(now);
            n.on_rx_octets(now, e);
        }
        n.on_rx_end(now, { static_cast<rx_end_reason>(how % 4), now });
    }
    void add_ratios(rx_octets& e, const std::vector<int8_t>& all, size_t begin, input& in)
    {
        const uint8_t from = in.u8();
        e.ratios_from = from < 128 ? from : uint64_t(in.u32()) << (from & 31);
        // Usually they reach further than the octets, by the decoder's delay of 45 bits.
        const size_t first =
            std::min<size_t>(all.size(), begin + 2 * (from < 128 ? from : 0));
        const size_t end = std::min(all.size(), begin + 16 * e.octets.size() + 90);
        for (size_t k = first; k < end; ++k)
            e.ratios.push_back(all[k]);
    }
    void transmit()
    {
        const auto m = n.want_tx(now);
        if (!m)
            return;
        const auto t = kernel::timing_of(*m);
        const station_time begin = now;
        for (size_t k = 0;; ++k) {
            FUZZ_CHECK(k < 100000);
            const auto o = n.pull(now, begin + t.block_begin(k), t.bits_per_block / 8);
            FUZZ_CHECK(o.octets.size() <= t.bits_per_block / 8);
            now = begin + t.block_end(k);
            if (o.last || o.octets.size() < t.bits_per_block / 8)
                break;
            n.on_tick(now);
        }
        n.on_tx_end(now);
    }
    void move(station_time by)
    {
        const station_time end = now + by;
        for (int k = 0; k < 50 && now < end; ++k) {
            const auto due = n.next_deadline();
            if (!due || *due > end)
                break;
            now = std::max(now + std::chrono::milliseconds(10), *due);
            n.on_tick(now);
            transmit();
            drain();
        }
        now = std::max(now, end);
        n.on_tick(now);
    }
};

// A D_PDU that is well formed and makes what sense it happens to make.
octets some_d_pdu(input& in, bool large)
{
    d_pdu d;
    d.type = static_cast<d_pdu_type>(in.u8() % 16);
    d.src = in.u8() % 16 ? peer : address::node(in.u32());
    d.dst = in.u8() % 16 ? own : address::broadcast();
    d.eow = in.u16() & 0x0fff;
    d.eot = in.u8();
    d.arq.fsn = in.u8();
    const uint8_t bits = in.u8();
    d.arq.start = bits & 1;
    d.arq.end = bits & 2;
    d.arq.uwe = bits & 4;
    d.arq.lwe = bits & 8;
    d.arq.drop = bits & 16;
    d.arq.in_order = bits & 32;
    d.ack.rx_lwe = in.u8();
    d.ack.selective = in.bytes(bits >> 6 == 3 ? 16 : bits >> 6);
    d.reset.full = bits & 1;
    d.reset.ack = bits & 2;
    d.reset.tx_rqst = bits & 4;
    d.reset.rx_cmnd = bits & 8;
    d.reset.frame_id = in.u8();
    d.reset.new_rx_lwe = in.u8();
    d.expedited.start = bits & 1;
    d.expedited.end = bits & 2;
    d.expedited.c_pdu_id = d.reset.frame_id & 15;
    d.expedited.fsn = d.arq.fsn;
    d.management.valid = bits & 1;
    d.management.ack = bits & 2;
    d.management.frame_id = d.reset.frame_id;
    d.non_arq.c_pdu_id = in.u16() & 0x0fff;
    d.non_arq.in_order = bits & 32;
    d.non_arq.group = bits & 16;
    d.non_arq.c_pdu_size = in.u16();
    d.non_arq.offset = in.u16();
    d.non_arq.window = in.u16();
    d.warning.received_type = in.u8() & 15;
    d.warning.reason = in.u8() & 15;
    d.segment = in.record();
    d.large = large && is_large(d.type);
    if (d.large) {
        d.arq.fsn = static_cast<uint16_t>(d.arq.fsn | (d.non_arq.offset & 0x300));
        d.ack.from = d.ack.selective.empty() ? 0 : d.non_arq.window & 0x3ff;
    }
    return encode(d);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* p, size_t size)
{
    input in(p, size);
    // Windows of both sizes.
    const bool large = size % 2 == 1;
    station s(large);
    for (int steps = 0; !in.empty() && steps < 200; ++steps) {
        const uint8_t what = in.u8();
        switch (what % 8) {
        case 0:
            s.receive(in.record(), what >> 3, in);
            break;
        case 1:
        case 2: {
            octets o;
            for (unsigned k = 1 + (what >> 3) % 4; k > 0; --k) {
                const auto d = some_d_pdu(in, large);
                o.insert(o.end(), d.begin(), d.end());
            }
            s.receive(o, in.u8(), in);
            break;
        }
        case 3:
            s.n.sis_in(s.now, 1 + (what >> 3) % 4, in.record());
            break;
        case 4: {
            s_unidata_request u;
            u.expedited = in.u8() % 8 == 0;
            u.priority = in.u8();
            u.dst_sap = in.u8();
            u.dst = what & 8 ? peer : address::node(0x01000000u + in.u8());
            const uint8_t mode = in.u8();
            u.mode.mode = static_cast<transmission_mode>(mode & 3);
            u.mode.confirmation = static_cast<delivery_confirmation>((mode >> 2) % 3);
            u.mode.order = static_cast<delivery_order>(mode >> 4 & 1);
            u.mode.retransmissions = mode >> 5;
            u.ttl = in.u8();
            u.u_pdu = in.record();
            s.n.sis_in(s.now, 1 + in.u8() % 2, encode(u));
            break;
        }
        case 5:
            s.move(some_time(in));
            break;
        case 6:
            if (what >> 3 < 4)
                s.n.on_carrier(s.now, what & 8);
            s.n.on_tick(s.now);
            s.transmit();
            break;
        case 7: { // link set-up, which makes more of the rest possible
            d_pdu d;
            d.type = d_pdu_type::expedited_non_arq_data;
            d.src = peer;
            d.dst = own;
            d.non_arq.c_pdu_id = what >> 3;
            d.segment = encode(
                c_pdu{ static_cast<c_pdu_type>(in.u8() % 8), in.u8(), in.record() });
            d.non_arq.c_pdu_size = static_cast<uint16_t>(d.segment.size());
            s.receive(encode(d), 0, in);
        }
        }
        s.drain();
    }
    FUZZ_CHECK(s.n.state().queued_octets <= 1000000);
    return 0;
}
