/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/pdu/eow.h"

#include "waveform/family.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>

namespace gr::hf::s5066 {

namespace {

// Indexed by their code in EOW 1.
constexpr int rates[] = { 75,   150,  300,  600,  1200, 2400,
                          3200, 3600, 4800, 6400, 8000, 9600 };
constexpr unsigned il_none = 0, il_short = 1, il_long = 2;
constexpr size_t high_rate_octets = 6;

const kernel::link_facts& facts(const mode& m) { return kernel::family_of(m).link; }

bool has_code(const mode& m, unsigned waveform)
{
    const auto& codes = facts(m).eow7_codes;
    return std::find(codes.begin(), codes.end(), waveform) != codes.end();
}

std::optional<unsigned> interleaver_code(interleaver il)
{
    switch (il) {
    case interleaver::none:
    case interleaver::zero:
        return il_none;
    case interleaver::short_:
        return il_short;
    case interleaver::long_:
        return il_long;
    default:
        return std::nullopt;
    }
}

// Interleaver length that the standards state, in 1/100 s.
unsigned interleaver_cs(const mode& m)
{
    switch (m.il) {
    case interleaver::ultra_short:
        return 12;
    case interleaver::very_short:
        return 36;
    case interleaver::short_:
        return facts(m).short_cs;
    case interleaver::medium:
        return 216;
    case interleaver::long_:
        return facts(m).long_cs;
    case interleaver::very_long:
        return 864;
    default:
        return 0;
    }
}

} // namespace

std::optional<management_message> encode_rate_request(const mode& m, rate_other other)
{
    const auto& codes = facts(m).eow7_codes;
    if (codes.empty())
        return std::nullopt;
    management_message r;
    const auto il = interleaver_code(m.il);
    for (unsigned i = 0; i < std::size(rates); ++i) {
        if (il && rates[i] == m.rate_bps) {
            r.eow = make_eow(eow_type::rate_request,
                             i << 4 | *il << 2 | static_cast<unsigned>(other));
            return r;
        }
    }
    const unsigned channels = 1;
    r.eow = make_eow(eow_type::high_rate_request, codes.front() << 3 | channels);
    const auto rate = static_cast<uint32_t>(m.rate_bps);
    const unsigned cs = interleaver_cs(m);
    for (int shift = 24; shift >= 0; shift -= 8)
        r.extended.push_back(static_cast<uint8_t>(rate >> shift));
    r.extended.push_back(static_cast<uint8_t>(cs >> 8));
    r.extended.push_back(static_cast<uint8_t>(cs));
    return r;
}

std::optional<rate_parameters> decode_rate_request(const management_message& m)
{
    rate_parameters p;
    const unsigned contents = m.eow & 0xff;
    if (eow_kind(m.eow) == static_cast<unsigned>(eow_type::rate_request)) {
        if (contents >> 4 >= std::size(rates) || (contents >> 2 & 3) > il_long)
            return std::nullopt;
        p.rate_bps = rates[contents >> 4];
        p.interleaver_code = contents >> 2 & 3;
        p.other = static_cast<rate_other>(contents & 3);
        return p;
    }
    if (eow_kind(m.eow) != static_cast<unsigned>(eow_type::high_rate_request) ||
        m.extended.size() != high_rate_octets)
        return std::nullopt;
    const auto& e = m.extended;
    const uint32_t rate = uint32_t(e[0]) << 24 | uint32_t(e[1]) << 16 | e[2] << 8 | e[3];
    if (rate > 1000000)
        return std::nullopt;
    p.high_rate = true;
    p.waveform = contents >> 3;
    p.channels = contents & 7 ? contents & 7 : 8;
    p.rate_bps = static_cast<int>(rate);
    p.interleaver_cs = static_cast<unsigned>(e[4] << 8 | e[5]);
    return p;
}

std::optional<mode> find_mode(const rate_parameters& p, uint8_t& why)
{
    if (p.high_rate && p.waveform != kernel::waveform_110a &&
        p.waveform != kernel::waveform_4539 && p.waveform != kernel::waveform_110b) {
        why = rate_reason_rate; // not this waveform
        return std::nullopt;
    }
    if (p.high_rate && p.channels != 1) {
        why = rate_reason_interleaver; // only one channel is supported
        return std::nullopt;
    }
    bool rate = false, il = false;
    for (const mode& m : mode::all()) {
        if (facts(m).eow7_codes.empty())
            continue;
        const bool same_il = p.high_rate ? interleaver_cs(m) == p.interleaver_cs
                                         : interleaver_code(m.il) == p.interleaver_code;
        const bool same_rate =
            m.rate_bps == p.rate_bps && (!p.high_rate || has_code(m, p.waveform));
        if (same_rate && same_il)
            return m;
        rate |= same_rate;
        il |= same_il;
    }
    if (p.high_rate) {
        why = rate ? rate_reason_neither : rate_reason_rate;
    } else {
        why = rate ? rate_reason_interleaver
                   : (il ? rate_reason_rate : rate_reason_neither);
    }
    return std::nullopt;
}

namespace {

// Our EOW 8: index of the rate in the list of its family and bandwidth, lowest first, and
// the code of the interleaver.
constexpr std::array<interleaver, 4> advised_interleavers = { interleaver::ultra_short,
                                                              interleaver::short_,
                                                              interleaver::medium,
                                                              interleaver::long_ };
constexpr size_t max_rates = 16; // a field of four bits

// Bits 1-0: the family, and one more for constraint length 9.
unsigned advice_code(const mode& m)
{
    return facts(m).advice_code + (m.constraint_length == 9 ? 1 : 0);
}

const std::vector<int>& advised_rates(unsigned code, int bandwidth_hz)
{
    using place = std::pair<unsigned, int>;
    static const auto all = [] { // cached: needed for every D_PDU
        std::map<place, std::set<int>> found;
        for (const mode& m : mode::all())
            if (facts(m).advice_code != 0)
                found[{ advice_code(m), m.bandwidth_hz }].insert(m.rate_bps);
        std::map<place, std::vector<int>> lists;
        for (const auto& [where, rates_there] : found)
            lists[where].assign(rates_there.begin(), rates_there.end());
        return lists;
    }();
    static const std::vector<int> none;
    const auto it = all.find({ code, bandwidth_hz });
    return it == all.end() ? none : it->second;
}

std::optional<uint16_t> encode_own_advice(const mode& m)
{
    const auto& list = advised_rates(advice_code(m), m.bandwidth_hz);
    const auto rate = std::find(list.begin(), list.end(), m.rate_bps);
    const auto il =
        std::find(advised_interleavers.begin(), advised_interleavers.end(), m.il);
    if (rate == list.end() || rate - list.begin() >= std::ptrdiff_t(max_rates) ||
        il == advised_interleavers.end())
        return std::nullopt;
    return make_eow(eow_type::own_advice,
                    static_cast<unsigned>(rate - list.begin()) << 4 |
                        static_cast<unsigned>(il - advised_interleavers.begin()) << 2 |
                        advice_code(m));
}

std::optional<mode> decode_own_advice(uint16_t eow, int bandwidth_hz)
{
    const unsigned code = eow & 3;
    const auto& list = advised_rates(code, bandwidth_hz);
    const size_t rate = eow >> 4 & 0xf;
    if (rate >= list.size())
        return std::nullopt;
    // Waveform 0 has no ultra short interleaver.
    const auto& all = mode::all();
    const auto it = std::find_if(all.begin(), all.end(), [&](const mode& m) {
        return facts(m).advice_code != 0 && advice_code(m) == code &&
               m.bandwidth_hz == bandwidth_hz && m.rate_bps == list[rate] &&
               m.il == advised_interleavers[eow >> 2 & 3];
    });
    return it != all.end() ? std::optional(*it) : std::nullopt;
}

} // namespace

std::optional<uint16_t> encode_rate_advice(const mode& m)
{
    if (facts(m).advice_code != 0)
        return encode_own_advice(m);
    const auto il = interleaver_code(m.il);
    const auto rate = std::find(std::begin(rates), std::end(rates), m.rate_bps);
    if (facts(m).eow7_codes.empty() || !il || *il == il_none || rate == std::end(rates))
        return std::nullopt;
    return make_eow(eow_type::rate_request,
                    static_cast<unsigned>(rate - std::begin(rates)) << 4 | *il << 2 |
                        static_cast<unsigned>(rate_other::advisory));
}

std::optional<mode> decode_rate_advice(uint16_t eow, int bandwidth_hz)
{
    if (eow_kind(eow) == static_cast<unsigned>(eow_type::own_advice))
        return decode_own_advice(eow, bandwidth_hz);
    const auto p = decode_rate_request({ eow, {} });
    if (!p || p->high_rate || p->other < rate_other::advisory ||
        p->interleaver_code == il_none)
        return std::nullopt;
    uint8_t why = rate_reason_none;
    return find_mode(*p, why);
}

} // namespace gr::hf::s5066
