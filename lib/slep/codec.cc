/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slep/codec.h"

#include "s5066/words/octets.h"

namespace gr::hf::slep {

namespace {

using s5066::octet_reader;
using s5066::octet_writer;

// Octet 0 has the type in the high nibble, and these flags.
constexpr unsigned flag_x = 8, flag_z = 4, flag_1 = 2, flag_0 = 1;

enum type_number : unsigned {
    type_ud = 0,
    type_rd = 1,
    type_ra = 2,
    type_so = 4,
    type_sr = 5,
    type_sd = 6,
    type_sc = 7,
    type_sx = 8
};

constexpr size_t open_data_max = 255;

// In the first field of SO: with an instance, FIN carries a digest. Version 0.2.0 discards
// such an SO, as it should: it would deliver the digest as data.
constexpr unsigned open_digest = 0x80;
// In PAR: the instance and its related fields follow.
constexpr unsigned par_instance = 8;
// In the check octet of SD: other_ended.
constexpr unsigned check_ended = 0x80;
// In the SR field with the name of the open: other_ended.
constexpr unsigned answers_ended = 0x8000;

unsigned par_octet(const stream_parameters& p, bool instance)
{
    return unsigned(p.window) << 4 | (instance ? par_instance : 0u) |
           (p.one_way ? 4u : 0u) | p.dictionary;
}

//! Hash to 32 well mixed bits.
uint32_t mix(uint32_t a, uint32_t b)
{
    uint32_t x = a * 0x9e3779b1u ^ b * 0x85ebca6bu;
    for (int k = 0; k < 2; ++k) {
        x ^= x >> 15;
        x *= 0x2c1b3c6du;
    }
    return x ^ x >> 16;
}

incarnation incarnation_from(uint32_t x)
{
    incarnation i;
    i.used = true;
    i.base = static_cast<uint16_t>(x);
    i.check = static_cast<uint8_t>(x >> 16 & 0x7f);
    if (i.name() == 0)
        i.base |= 1;
    return i;
}

stream_parameters read_par(uint8_t v)
{
    return { static_cast<uint8_t>(v >> 4), (v & 4) != 0, static_cast<uint8_t>(v & 3) };
}

bool par_fits(const stream_parameters& p) { return p.window <= 15 && p.dictionary <= 3; }

//! Writes the fields of one PDU. False: a value does not fit.
class writer
{
public:
    explicit writer(uint8_t extended) : d_extended(extended) {}
    octets take() { return std::move(d_w.out()); }

    bool operator()(const unreliable_datagram& d)
    {
        head(type_ud, d.compressed ? flag_z : 0);
        d_w.bytes(d.data);
        return true;
    }
    bool operator()(const reliable_datagram& d)
    {
        if (d.seg && d.seg->index > 127)
            return false;
        head(type_rd,
             (d.compressed ? flag_z : 0) | (d.seg ? flag_1 : 0) |
                 (d.answer_wanted ? flag_0 : 0));
        d_w.u16(d.number);
        if (d.seg)
            d_w.u8((d.seg->last ? 0x80u : 0u) | d.seg->index);
        d_w.bytes(d.data);
        return true;
    }
    bool operator()(const datagram_answer& d)
    {
        head(type_ra, 0);
        d_w.u16(d.number);
        d_w.u8(d.code);
        return true;
    }
    bool operator()(const stream_open& d)
    {
        if (d.number > 127)
            return false;
        head(type_so,
             (d.compressed ? flag_z : 0) | (d.immediate ? flag_1 : 0) |
                 (d.fin ? flag_0 : 0));
        return open_fields(
            (d.instance != 0 ? open_digest : 0) | d.number, d, [&] { d_w.u8(d.use); });
    }
    bool operator()(const stream_accept& d)
    {
        if (d.answers >= answers_ended)
            return false;
        head(type_sr, (d.compressed ? flag_z : 0) | (d.fin ? flag_0 : 0));
        return open_fields(
            d.sid, d, [&] { d_w.u16((d.other_ended ? answers_ended : 0) | d.answers); });
    }
    bool operator()(const stream_refuse& d)
    {
        head(type_sr, flag_1 | (d.answers != 0 ? flag_z : 0));
        d_w.u8(d.sid);
        d_w.u8(d.reason);
        if (d.answers != 0)
            d_w.u16(d.answers);
        d_w.bytes(reinterpret_cast<const uint8_t*>(d.text.data()), d.text.size());
        return true;
    }
    bool operator()(const stream_data& d)
    {
        if (d.check.value_or(0) >= check_ended)
            return false;
        head(type_sd,
             (d.check ? flag_z : 0) | (d.control_wanted ? flag_1 : 0) |
                 (d.fin ? flag_0 : 0));
        d_w.u8(d.sid);
        d_w.u16(d.seq);
        if (d.check)
            d_w.u8((d.other_ended ? check_ended : 0) | *d.check);
        if (d.check && d.fin)
            d_w.u32(d.digest);
        d_w.bytes(d.data);
        return true;
    }
    bool operator()(const stream_control& d)
    {
        if (d.window > 15)
            return false;
        head(type_sc, d.answer_wanted ? flag_0 : 0);
        d_w.u8(d.sid);
        d_w.u16(d.ack);
        d_w.u8(d.window);
        return true;
    }
    bool operator()(const stream_abort& d)
    {
        head(type_sx, 0);
        d_w.u8(d.sid);
        d_w.u8(d.reason);
        if (d.mark != 0)
            d_w.u16(d.mark);
        return true;
    }

private:
    void head(unsigned type, unsigned flags)
    {
        d_w.u8(type << 4 | flags | (d_extended != 0 ? flag_x : 0));
        if (d_extended != 0)
            d_w.u8(d_extended);
    }

    template <typename T, typename F>
    bool open_fields(unsigned id, const T& d, F after_instance)
    {
        if (d.open_data.size() > open_data_max || !par_fits(d.par))
            return false;
        d_w.u8(id);
        d_w.u8(par_octet(d.par, d.instance != 0));
        if (d.instance != 0) {
            d_w.u16(d.instance);
            after_instance();
            if (d.fin)
                d_w.u32(d.digest);
        }
        d_w.u8(static_cast<unsigned>(d.open_data.size()));
        d_w.bytes(d.open_data);
        d_w.bytes(d.data);
        return true;
    }

    uint8_t d_extended;
    octet_writer d_w;
};

//! Reads the fields of one PDU after its head. Empty: an invalid value. The caller
//! detects truncation through the octet_reader.
class reader
{
public:
    //! \param first octet 0 with its flags
    reader(octet_reader& r, unsigned first)
        : d_r(r), d_z(first & flag_z), d_1(first & flag_1), d_0(first & flag_0)
    {
    }

    std::optional<pdu_body> read(unsigned type)
    {
        switch (type) {
        case type_ud:
            return unreliable_datagram{ d_z, d_r.rest() };
        case type_rd:
            return datagram();
        case type_ra:
            return answer();
        case type_so:
            return open();
        case type_sr:
            if (d_1)
                return refuse();
            return accept();
        case type_sd:
            return data();
        case type_sc:
            return control();
        case type_sx:
            return abort();
        default:
            return std::nullopt;
        }
    }

private:
    reliable_datagram datagram()
    {
        reliable_datagram d;
        d.number = d_r.u16();
        if (d_1) {
            const uint8_t s = d_r.u8();
            d.seg = reliable_datagram::segment{ static_cast<uint8_t>(s & 0x7f),
                                                (s & 0x80) != 0 };
        }
        d.answer_wanted = d_0;
        d.compressed = d_z;
        d.data = d_r.rest();
        return d;
    }
    datagram_answer answer()
    {
        datagram_answer d;
        d.number = d_r.u16();
        d.code = d_r.u8();
        return d;
    }
    std::optional<stream_open> open()
    {
        stream_open d;
        const uint8_t number = d_r.u8();
        const bool digest = (number & open_digest) != 0;
        d.number = number & (open_digest - 1);
        d.immediate = d_1;
        d.fin = d_0;
        d.compressed = d_z;
        open_fields(d, digest, [&] { d.use = d_r.u8(); });
        d.outdated = d.instance != 0 && !digest;
        if (d.instance == 0 && digest)
            return std::nullopt;
        return d;
    }
    stream_refuse refuse()
    {
        stream_refuse d;
        d.sid = d_r.u8();
        d.reason = d_r.u8();
        if (d_z)
            d.answers = d_r.u16() & (answers_ended - 1);
        const auto text = d_r.rest();
        d.text.assign(text.begin(), text.end());
        return d;
    }
    stream_accept accept()
    {
        stream_accept d;
        d.sid = d_r.u8();
        d.fin = d_0;
        d.compressed = d_z;
        open_fields(d, true, [&] {
            const uint16_t v = d_r.u16();
            d.answers = v & (answers_ended - 1);
            d.other_ended = (v & answers_ended) != 0;
        });
        return d;
    }
    stream_data data()
    {
        stream_data d;
        d.sid = d_r.u8();
        d.seq = d_r.u16();
        d.control_wanted = d_1;
        d.fin = d_0;
        if (d_z) {
            const uint8_t v = d_r.u8();
            d.check = v & (check_ended - 1);
            d.other_ended = (v & check_ended) != 0;
            if (d.fin)
                d.digest = d_r.u32();
        }
        d.data = d_r.rest();
        return d;
    }
    std::optional<stream_control> control()
    {
        stream_control d;
        d.sid = d_r.u8();
        d.ack = d_r.u16();
        d.window = d_r.u8();
        d.answer_wanted = d_0;
        if (d.window > 15)
            return std::nullopt;
        return d;
    }
    stream_abort abort()
    {
        stream_abort d;
        d.sid = d_r.u8();
        d.reason = d_r.u8();
        if (d_r.left() >= 2)
            d.mark = d_r.u16();
        return d;
    }

    template <typename T, typename F>
    void open_fields(T& d, bool digest, F after_instance)
    {
        const uint8_t par = d_r.u8();
        d.par = read_par(par);
        if (par & par_instance) {
            d.instance = d_r.u16();
            after_instance();
            if (d.fin && digest)
                d.digest = d_r.u32();
        }
        const size_t n = d_r.u8();
        d.open_data = d_r.bytes(n);
        d.data = d_r.rest();
    }

    octet_reader& d_r;
    bool d_z, d_1, d_0;
};

} // namespace

incarnation incarnation::of_opener(uint16_t instance, uint8_t number, uint8_t use)
{
    if (instance == 0)
        return {};
    return incarnation_from(
        mix(uint32_t(instance) << 16 | uint32_t(number) << 8 | use, 1));
}

incarnation incarnation::of_responder(uint16_t instance, const incarnation& open)
{
    if (instance == 0)
        return {};
    return incarnation_from(
        mix(uint32_t(instance) << 16 | open.base, uint32_t(open.check) << 1));
}

octets encode(const pdu& p)
{
    writer w(p.extended);
    if (!std::visit(w, p.body))
        return {};
    return w.take();
}

std::optional<pdu> decode(const uint8_t* p, size_t n)
{
    octet_reader r(p, n);
    const unsigned first = r.u8();
    pdu out;
    if (first & flag_x) {
        out.extended = r.u8();
        if (out.extended == 0)
            return std::nullopt;
    }
    auto body = reader(r, first).read(first >> 4);
    if (!body || !r.ok())
        return std::nullopt;
    out.body = std::move(*body);
    return out;
}

} // namespace gr::hf::slep
