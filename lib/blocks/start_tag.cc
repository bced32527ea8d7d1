/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks/start_tag.h"

#include "waveform/family.h"

#include <hf/keys.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace gr::hf::start_tag {
namespace {

// Delays of half a symbol that a tag may have: 100 ms in 48 kHz.
constexpr size_t max_delays = 7680;

const pmt::pmt_t symbol_0 = pmt::intern("symbol_0");
const pmt::pmt_t first_symbol = pmt::intern("first_symbol");
const pmt::pmt_t read_symbol = pmt::intern("read_symbol");
const pmt::pmt_t first_tap = pmt::intern("first_tap");
const pmt::pmt_t noise = pmt::intern("noise");
const pmt::pmt_t preamble = pmt::intern("preamble");

} // namespace

pmt::pmt_t make(const kernel::acquired& a, int64_t at)
{
    pmt::pmt_t d = pmt::make_dict();
    const auto set = [&d](const pmt::pmt_t& key, const pmt::pmt_t& value) {
        d = pmt::dict_add(d, key, value);
    };
    set(keys::mode(), pmt::intern(a.waveform->m.to_string()));
    set(keys::snr_db(), pmt::from_double(a.snr_db));
    set(keys::freq_offset_hz(), pmt::from_double(a.frequency_hz));
    set(keys::profile(), pmt::init_f32vector(a.profile.size(), a.profile));
    set(symbol_0, pmt::from_double(a.origin - static_cast<double>(at)));
    set(first_symbol, pmt::from_long(static_cast<long>(a.first_symbol)));
    set(read_symbol, pmt::from_long(static_cast<long>(a.read_symbol)));
    set(first_tap, pmt::from_long(static_cast<long>(a.first_tap)));
    set(noise, pmt::from_double(a.noise));
    set(preamble, pmt::init_c32vector(a.preamble.size(), a.preamble));
    return d;
}

std::optional<kernel::acquired> read(const pmt::pmt_t& value, int64_t at)
{
    try {
        const auto get = [&value](const pmt::pmt_t& key) {
            return pmt::dict_ref(value, key, pmt::PMT_NIL);
        };
        kernel::acquired a;
        const mode m = mode::parse(pmt::symbol_to_string(get(keys::mode())));
        a.waveform = &kernel::describe(m);
        a.plan = &kernel::family_of(m).plan_of(m);
        a.snr_db = pmt::to_double(get(keys::snr_db()));
        a.frequency_hz = pmt::to_double(get(keys::freq_offset_hz()));
        a.profile = pmt::f32vector_elements(get(keys::profile()));
        a.origin = pmt::to_double(get(symbol_0)) + static_cast<double>(at);
        a.first_symbol = pmt::to_long(get(first_symbol));
        a.read_symbol = pmt::to_long(get(read_symbol));
        a.first_tap = static_cast<size_t>(pmt::to_long(get(first_tap)));
        a.noise = static_cast<float>(pmt::to_double(get(noise)));
        a.preamble = pmt::c32vector_elements(get(preamble));
        const bool sane =
            a.first_tap < a.profile.size() && a.profile.size() <= max_delays &&
            a.noise > 0 && std::isfinite(a.origin) && std::abs(a.frequency_hz) < 1000 &&
            a.first_symbol < 0 && a.read_symbol >= a.first_symbol && a.read_symbol <= 0 &&
            std::all_of(a.profile.begin(), a.profile.end(), [](float p) {
                return p >= 0 && std::isfinite(p);
            });
        return sane ? std::optional(a) : std::nullopt;
    } catch (const std::exception&) { // another type, an unknown mode
        return std::nullopt;
    }
}

} // namespace gr::hf::start_tag
