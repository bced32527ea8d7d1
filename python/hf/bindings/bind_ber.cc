/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "channel/channel.h"
#include "channel/counter_random.h"
#include "modem/burst_modulator.h"
#include "modem/burst_receiver.h"
#include "waveform/description.h"
#include "waveform/timing.h"

#include <hf/mode.h>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <complex>
#include <ctime>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace py = pybind11;
using namespace gr::hf;

namespace {

using samples = std::vector<std::complex<float>>;

struct trial {
    uint64_t bits = 0, errors = 0; // a lost transmission counts half of its bits
    uint64_t blocks = 0, bad_blocks = 0;
    uint64_t receptions = 0; // transmissions the receiver saw: 1 is right
    bool found = false;      // in the right mode, at the right place
    bool ended = false;      // by its end-of-message marker
    double snr_db = 0, offset_hz = 0, air_s = 0, cpu_s = 0;
};

double cpu_seconds()
{
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// What the receiver would know of a simulated channel if it knew everything.
class simulated : public kernel::known_channel
{
public:
    simulated(const kernel::channel& c, double first_symbol)
        : d_channel(c), d_first_symbol(first_symbol)
    {
        const auto& s = c.spec();
        if (s.clock_ppm != 0 || s.step || s.agc_s != 0 || s.gain_db != 0)
            throw std::invalid_argument(
                "a known channel may not have clock=, step=, agc= or gain=");
    }
    void paths(double sample, std::vector<path>& p) const override
    {
        p.clear();
        for (const auto& one : d_channel.paths())
            p.push_back({ one.delay(), one.gain(sample + one.delay()) });
    }
    double carrier_turns(double sample) const override
    {
        return d_channel.carrier_turns(sample);
    }
    double first_symbol() const override { return d_first_symbol; }
    double noise_power() const override { return d_channel.noise_power(); }

private:
    const kernel::channel& d_channel;
    double d_first_symbol;
};

samples modulate(const mode& m, const std::vector<uint8_t>& octets, double& first_symbol)
{
    kernel::burst_modulator mod(kernel::burst_receiver::sample_rate);
    size_t at = 0;
    mod.start(m, [&](uint64_t, size_t max) {
        const size_t n = std::min(max, octets.size() - at);
        tx_octets t;
        t.octets.assign(octets.begin() + static_cast<long>(at),
                        octets.begin() + static_cast<long>(at + n));
        at += n;
        t.last = at == octets.size();
        return t;
    });
    first_symbol =
        static_cast<double>(mod.sample_of_symbol(kernel::describe(m).preamble.size()));
    samples all, piece(4096);
    while (mod.active()) {
        const size_t n = mod.produce(piece.data(), piece.size());
        all.insert(all.end(), piece.begin(), piece.begin() + static_cast<long>(n));
    }
    return all;
}

struct reception {
    rx_start start;
    int64_t sample = 0;
    std::vector<uint8_t> octets;
    bool eom = false;
};

std::vector<reception>
receive(kernel::burst_receiver& rx, kernel::channel& ch, const samples& x)
{
    std::vector<reception> all;
    samples piece(4800);
    for (size_t i = 0; i < x.size(); i += piece.size()) {
        const size_t n = std::min(piece.size(), x.size() - i);
        ch.process(&x[i], piece.data(), n);
        rx.push(piece.data(), n);
        while (const auto e = rx.poll()) {
            if (const auto* s = std::get_if<rx_start>(&e->what))
                all.push_back({ *s, e->sample, {}, false });
            else if (const auto* o = std::get_if<rx_octets>(&e->what))
                all.back().octets.insert(
                    all.back().octets.end(), o->octets.begin(), o->octets.end());
            else
                all.back().eom = std::get<rx_end>(e->what).reason == rx_end_reason::eom;
        }
    }
    return all;
}

/* One transmission of random octets with noise before and after it. Whole interleaver
 * blocks, the last one but for the end-of-message marker. */
trial run_trial(const std::string& mode_text,
                const std::string& channel,
                double seconds,
                uint64_t seed,
                int effort,
                bool genie)
{
    const mode m = mode::parse(mode_text);
    const auto timing = kernel::timing_of(m);
    const auto whole = static_cast<size_t>(seconds * timing.symbol_rate /
                                           static_cast<double>(timing.block_symbols));
    const size_t octets =
        std::max<size_t>(1, timing.octets_in(std::max<size_t>(1, whole)));
    const kernel::counter_random random(seed, 0x6265722d62697473); // not the channel's
    std::vector<uint8_t> sent(octets);
    for (size_t i = 0; i < octets; ++i)
        sent[i] = static_cast<uint8_t>(random.bits(i));

    // Somewhere on the sample grid, after time for the receiver to hear noise alone.
    const size_t lead = 4800 + random.bits(octets) % 480;
    samples x(lead);
    double first_symbol = 0;
    const samples t = modulate(m, sent, first_symbol);
    x.insert(x.end(), t.begin(), t.end());
    x.resize(x.size() + 24000);

    kernel::channel ch(kernel::channel_spec::parse(channel),
                       kernel::burst_receiver::sample_rate,
                       seed,
                       kernel::mean_power(m));
    kernel::rx_options options;
    options.effort = effort;
    if (genie)
        options.known =
            std::make_shared<simulated>(ch, static_cast<double>(lead) + first_symbol);
    kernel::burst_receiver rx(options);
    trial r;
    const double begin = cpu_seconds();
    const auto got = receive(rx, ch, x);
    r.cpu_s = cpu_seconds() - begin;
    r.air_s = static_cast<double>(x.size()) / kernel::burst_receiver::sample_rate;
    r.receptions = got.size();
    r.bits = 8 * octets;

    // The preamble may be joined late; false ones lie elsewhere or have another mode.
    const auto right = std::find_if(got.begin(), got.end(), [&](const reception& g) {
        return g.start.m == m && g.sample > static_cast<int64_t>(lead) - 480 &&
               g.sample < static_cast<int64_t>(lead + t.size());
    });
    const size_t per_block = std::max<size_t>(1, timing.bits_per_block / 8);
    r.blocks = (octets + per_block - 1) / per_block;
    if (right == got.end()) {
        r.errors = r.bits / 2;
        r.bad_blocks = r.blocks;
        return r;
    }
    r.found = true;
    r.ended = right->eom && right->octets.size() == octets;
    r.snr_db = right->start.snr_db;
    r.offset_hz = right->start.freq_offset_hz;
    for (size_t i = 0; i < octets; i += per_block) {
        uint64_t e = 0;
        for (size_t k = i; k < std::min(octets, i + per_block); ++k)
            e += k < right->octets.size() ? static_cast<uint64_t>(__builtin_popcount(
                                                sent[k] ^ right->octets[k]))
                                          : 4;
        r.errors += e;
        r.bad_blocks += e > 0;
    }
    return r;
}

// What the receiver takes for transmissions where nobody sends.
std::vector<std::string>
run_silence(const std::string& channel, double seconds, uint64_t seed, int effort)
{
    constexpr double rate = kernel::burst_receiver::sample_rate;
    kernel::channel ch(kernel::channel_spec::parse(channel), rate, seed);
    kernel::rx_options options;
    options.effort = effort;
    kernel::burst_receiver rx(options);
    std::vector<std::string> found;
    samples piece(48000);
    for (auto left = static_cast<size_t>(seconds * rate); left > 0;) {
        const size_t n = std::min(piece.size(), left);
        std::fill_n(piece.begin(), n, 0.0f);
        ch.process(piece.data(), piece.data(), n);
        rx.push(piece.data(), n);
        while (const auto e = rx.poll())
            if (const auto* s = std::get_if<rx_start>(&e->what))
                found.push_back(s->m.to_string());
        left -= n;
    }
    return found;
}

} // namespace

void bind_ber(py::module& m)
{
    m.def("ber_silence",
          &run_silence,
          py::arg("channel"),
          py::arg("seconds"),
          py::arg("seed") = 1,
          py::arg("effort") = 1,
          py::call_guard<py::gil_scoped_release>(),
          "The modes of what the receiver finds in so many seconds of noise and "
          "interference, "
          "of power relative to 1, without any transmission: all are false.");
    m.def(
        "ber_trial",
        [](const std::string& mode_text,
           const std::string& channel,
           double seconds,
           uint64_t seed,
           int effort,
           bool genie) {
            trial r;
            {
                py::gil_scoped_release release;
                r = run_trial(mode_text, channel, seconds, seed, effort, genie);
            }
            py::dict d;
            d["bits"] = r.bits;
            d["errors"] = r.errors;
            d["blocks"] = r.blocks;
            d["bad_blocks"] = r.bad_blocks;
            d["receptions"] = r.receptions;
            d["found"] = r.found;
            d["ended"] = r.ended;
            d["snr_db"] = r.snr_db;
            d["offset_hz"] = r.offset_hz;
            d["air_s"] = r.air_s;
            d["cpu_s"] = r.cpu_s;
            return d;
        },
        py::arg("mode"),
        py::arg("channel"),
        py::arg("seconds") = 30.0,
        py::arg("seed") = 1,
        py::arg("effort") = 1,
        py::arg("genie") = false,
        "One transmission of random octets, about so many seconds, through a simulated "
        "channel, with noise before and after it; what the receiver made of it, as a "
        "dictionary. genie: the receiver is told the channel, as a bound on what it can "
        "do "
        "by itself. Releases the interpreter lock: runs in threads.");
}
