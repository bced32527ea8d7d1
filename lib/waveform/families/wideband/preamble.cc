/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "waveform/families/wideband/preamble.h"

#include "waveform/families/wideband/wideband.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace gr::hf::kernel::wideband {

namespace {

// 110C table D-XIV: the chips of each di-bit.
constexpr uint8_t walsh[4][4] = { { 0, 0, 0, 0 },
                                  { 0, 4, 0, 4 },
                                  { 0, 0, 4, 4 },
                                  { 0, 4, 4, 0 } };

constexpr interleaver interleavers[4] = { interleaver::ultra_short,
                                          interleaver::short_,
                                          interleaver::medium,
                                          interleaver::long_ };

// Super-frames of waveform 0; one less for waveform 1, and one less in wider bands, with
// more chips.
constexpr int max_usual_superframes = 3;

const std::array<uint8_t, 256>& scrambling_of(preamble_part part)
{
    switch (part) {
    case preamble_part::fixed:
        return fixed_pn;
    case preamble_part::countdown:
        return count_pn;
    case preamble_part::waveform:
        break;
    }
    return wid_pn;
}

void check_dibit(unsigned dibit)
{
    if (dibit > 3)
        throw std::invalid_argument("preamble: di-bit " + std::to_string(dibit) +
                                    ", allowed are 0 to 3");
}

// Number of times the preamble of \p m is sent.
int superframes_of(const mode& m, const preamble_options& o)
{
    const int count = o.superframes.value_or(o.short_form ? 1 : usual_superframes(m));
    if (count < 1 || count > static_cast<int>(max_superframes))
        throw std::invalid_argument("preamble superframes = " + std::to_string(count) +
                                    ", allowed are 1 to " +
                                    std::to_string(max_superframes));
    if (o.short_form && count != 1)
        throw std::invalid_argument(
            "short preamble with superframes = " + std::to_string(count) +
            ": the short form is allowed with 1 only");
    return count;
}

unsigned bit(unsigned x, unsigned n) { return x >> n & 1; }

template <size_t N>
unsigned joined(const std::array<uint8_t, N>& dibits)
{
    unsigned value = 0;
    for (const uint8_t d : dibits)
        value = value << 2 | d;
    return value;
}

template <size_t N>
std::array<uint8_t, N> split(unsigned value)
{
    std::array<uint8_t, N> dibits{};
    for (size_t i = 0; i < N; ++i)
        dibits[i] = value >> 2 * (N - 1 - i) & 3;
    return dibits;
}

// Appends the channel symbols of one part, and their section.
template <class Dibits>
void append(preamble_plan& p,
            preamble_section::content what,
            preamble_part part,
            const Dibits& dibits,
            int bandwidth_khz,
            const preamble_options& o)
{
    const size_t begin = p.symbols.size();
    size_t position = 0;
    for (const uint8_t dibit : dibits) {
        const auto chips = channel_symbol(part, position++, dibit, bandwidth_khz, o);
        p.symbols.insert(p.symbols.end(), chips.begin(), chips.end());
    }
    p.sections.push_back({ what, begin, p.symbols.size() - begin });
}

std::vector<uint8_t> fixed_part(const preamble_options& o)
{
    return o.short_form ? std::vector<uint8_t>{ fixed_dibits.back() }
                        : std::vector<uint8_t>(fixed_dibits.begin(), fixed_dibits.end());
}

} // namespace

size_t channel_symbol_chips(int bandwidth_khz, preamble_above_24_khz rule)
{
    const auto& all = bandwidths_khz;
    if (std::find(all.begin(), all.end(), bandwidth_khz) == all.end())
        throw std::invalid_argument("wideband preamble: bandwidth of " +
                                    std::to_string(bandwidth_khz) + " kHz");
    const int like_khz = rule == preamble_above_24_khz::same_chips
                             ? std::min(bandwidth_khz, 24)
                             : bandwidth_khz;
    return static_cast<size_t>(32 * like_khz / 3);
}

std::vector<uint8_t> channel_symbol(preamble_part part,
                                    size_t position,
                                    unsigned dibit,
                                    int bandwidth_khz,
                                    const preamble_options& o)
{
    check_dibit(dibit);
    const auto& pn = scrambling_of(part);
    std::vector<uint8_t> chips(channel_symbol_chips(bandwidth_khz, o.above_24_khz));
    const size_t begin =
        o.scrambling == preamble_scrambling::running ? position * chips.size() : 0;
    for (size_t n = 0; n < chips.size(); ++n)
        chips[n] = (walsh[dibit][n % 4] + pn[(begin + n) % pn.size()]) & 7;
    return chips;
}

std::vector<std::complex<float>> channel_symbol_points(preamble_part part,
                                                       size_t position,
                                                       unsigned dibit,
                                                       int bandwidth_khz,
                                                       const preamble_options& o)
{
    std::vector<std::complex<float>> points;
    for (const uint8_t chip : channel_symbol(part, position, dibit, bandwidth_khz, o))
        points.push_back(psk8_points()[chip]);
    return points;
}

std::vector<std::complex<float>> fixed_part_points(int bandwidth_khz,
                                                   const preamble_options& o)
{
    std::vector<std::complex<float>> points;
    size_t position = 0;
    for (const uint8_t dibit : fixed_part(o)) {
        const auto symbol = channel_symbol_points(
            preamble_part::fixed, position++, dibit, bandwidth_khz, o);
        points.insert(points.end(), symbol.begin(), symbol.end());
    }
    return points;
}

std::array<uint8_t, countdown_symbols> countdown_dibits(unsigned count)
{
    if (count >= max_superframes)
        throw std::invalid_argument("preamble: downcount " + std::to_string(count) +
                                    ", allowed are 0 to 31");
    const unsigned b7 = bit(count, 1) ^ bit(count, 2) ^ bit(count, 3),
                   b6 = bit(count, 2) ^ bit(count, 3) ^ bit(count, 4),
                   b5 = bit(count, 0) ^ bit(count, 1) ^ bit(count, 2);
    return split<countdown_symbols>(b7 << 7 | b6 << 6 | b5 << 5 | count);
}

std::optional<unsigned> countdown_of(const std::array<uint8_t, countdown_symbols>& dibits)
{
    const unsigned count = joined(dibits) & 31;
    return countdown_dibits(count) == dibits ? std::optional(count) : std::nullopt;
}

std::array<uint8_t, waveform_symbols> waveform_dibits(const waveform_word& w)
{
    if (w.wid > 13 || (w.wid == 0 && w.il == interleaver::ultra_short) ||
        (w.constraint_length != 7 && w.constraint_length != 9))
        throw std::invalid_argument("preamble: no word for waveform " +
                                    std::to_string(w.wid) + ", interleaver " +
                                    to_string(w.il) + ", constraint length " +
                                    std::to_string(w.constraint_length));
    const unsigned d = w.wid << 6 | static_cast<unsigned>(column_of(w.il)) << 4 |
                       (w.constraint_length == 9 ? 8u : 0u);
    const unsigned d2 = bit(d, 9) ^ bit(d, 8) ^ bit(d, 7),
                   d1 = bit(d, 7) ^ bit(d, 6) ^ bit(d, 5),
                   d0 = bit(d, 5) ^ bit(d, 4) ^ bit(d, 3);
    return split<waveform_symbols>(d | d2 << 2 | d1 << 1 | d0);
}

std::optional<waveform_word>
waveform_of(const std::array<uint8_t, waveform_symbols>& dibits)
{
    const auto& book = waveform_codebook();
    const auto found = std::find_if(
        book.begin(), book.end(), [&](const auto& c) { return c.dibits == dibits; });
    return found == book.end() ? std::nullopt : std::optional(found->meaning);
}

const std::vector<codeword<unsigned, countdown_symbols>>& countdown_codebook()
{
    static const auto book = [] {
        std::vector<codeword<unsigned, countdown_symbols>> all;
        for (unsigned count = 0; count < max_superframes; ++count)
            all.push_back({ countdown_dibits(count), count });
        return all;
    }();
    return book;
}

const std::vector<codeword<waveform_word, waveform_symbols>>& waveform_codebook()
{
    static const auto book = [] {
        std::vector<codeword<waveform_word, waveform_symbols>> all;
        for (unsigned wid = 0; wid <= 13; ++wid)
            for (const interleaver il : interleavers)
                for (const int k : { 7, 9 })
                    if (wid > 0 || il != interleaver::ultra_short)
                        all.push_back(
                            { waveform_dibits({ wid, il, k }), { wid, il, k } });
        return all;
    }();
    return book;
}

std::optional<mode> mode_of(int bandwidth_khz, const waveform_word& w)
{
    for (const waveform_row& row : waveforms)
        if (row.bandwidth_khz == bandwidth_khz && row.wid == w.wid)
            return mode{ waveform_family::wideband,
                         row.rate_bps,
                         1000 * bandwidth_khz,
                         w.il,
                         w.constraint_length };
    return std::nullopt;
}

waveform_word word_of(const mode& m)
{
    return { row_of(m).wid, m.il, m.constraint_length };
}

int usual_superframes(const mode& m)
{
    if (m.reading == waveform_reading::reversed)
        return max_usual_superframes;
    const waveform_row& row = row_of(m);
    const int wider = row.bandwidth_khz > 3 ? 1 : 0;
    return std::max(1, max_usual_superframes - static_cast<int>(row.wid) - wider);
}

preamble_plan preamble(const mode& m, const preamble_options& options)
{
    preamble_options o = options;
    if (m.reading == waveform_reading::reversed)
        o.scrambling = preamble_scrambling::running;
    using content = preamble_section::content;
    const int khz = m.bandwidth_hz / 1000;
    const waveform_row& row = row_of(m);
    preamble_plan p;
    // A TLC block is the conjugate of the scrambling alone (110C D.5.2.1).
    for (const uint8_t chip : channel_symbol(preamble_part::fixed, 0, 0, khz, o))
        p.agc.push_back((8 - chip) & 7);
    for (int left = superframes_of(m, o) - 1; left >= 0; --left) {
        append(p, content::fixed, preamble_part::fixed, fixed_part(o), khz, o);
        append(p,
               content::countdown,
               preamble_part::countdown,
               countdown_dibits(static_cast<unsigned>(left)),
               khz,
               o);
        append(p,
               content::mode_word,
               preamble_part::waveform,
               waveform_dibits(word_of(m)),
               khz,
               o);
    }
    if (row.known > 0) {
        const auto probe = mini_probe_of(row.known).normal;
        p.sections.push_back({ content::fixed, p.symbols.size(), probe.size() });
        p.symbols.insert(p.symbols.end(), probe.begin(), probe.end());
        p.probe = probe.size();
    }
    return p;
}

} // namespace gr::hf::kernel::wideband
