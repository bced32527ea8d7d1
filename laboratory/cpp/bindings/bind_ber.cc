/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "channel/channel.h"
#include "channel/counter_random.h"
#include "modem/burst_modulator.h"
#include "modem/burst_receiver.h"
#include "modem/diversity_receiver.h"
#include "trials/channel_bound.h"
#include "waveform/description.h"
#include "waveform/family.h"
#include "waveform/timing.h"

#include <hf/mode.h>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>
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
    uint64_t bits = 0, errors = 0; // a lost transmission counts half of its bits as
                                   // errors
    uint64_t blocks = 0, bad_blocks = 0;
    uint64_t receptions = 0; // transmissions that the receiver detected: 1 is right
    bool found = false;      // in the right mode and at the right time
    bool ended = false;      // ended by its end-of-message marker
    double snr_db = 0, offset_hz = 0, air_s = 0, cpu_s = 0;
    double start_true_db = 0; // true SNR during the preamble
    struct report {           // report of a block
        double true_db = 0, snr_db = 0, doppler_hz = 0, delay_ms = 0;
    };
    std::vector<report> reports;
};

double cpu_seconds()
{
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Reports a simulated channel exactly, as for a receiver that knew everything.
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

/* SNR in the mode's bandwidth, from the power of the paths between samples \p begin and
 *  \p end, dB. 99 without noise.
 */
double true_snr_db(const kernel::channel& c, const mode& m, double begin, double end)
{
    const kernel::symbol_grid grid = kernel::grid_of(m);
    const auto step =
        static_cast<double>(grid.samples(0.005)); // short compared with fading of
                                                  // 30 Hz
    double power = 0, count = 0;
    for (double t = begin; t < end; t += step, ++count)
        for (const auto& p : c.paths())
            power += std::norm(std::complex<double>(p.gain(t)));
    if (!(c.noise_power() > 0) || count == 0)
        return 99;
    const double noise = c.noise_power() * m.bandwidth_hz / grid.sample_rate();
    return 10 * std::log10(kernel::mean_power(m) * power / count / noise);
}

samples modulate(const mode& m,
                 const std::vector<uint8_t>& octets,
                 std::optional<int> superframes,
                 double& first_symbol)
{
    kernel::tx_options options;
    options.preamble.superframes = superframes;
    const size_t preamble = kernel::timing_of(m, options).preamble_symbols;
    kernel::burst_modulator mod(kernel::grid_of(m).sample_rate());
    size_t at = 0;
    mod.start(
        m,
        [&](uint64_t, size_t max) {
            const size_t n = std::min(max, octets.size() - at);
            tx_octets t;
            t.octets.assign(octets.begin() + static_cast<long>(at),
                            octets.begin() + static_cast<long>(at + n));
            at += n;
            t.last = at == octets.size();
            return t;
        },
        options);
    first_symbol = static_cast<double>(mod.sample_of_symbol(preamble));
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
    struct block {
        int64_t sample;
        kernel::channel_report channel;
    };
    std::vector<block> blocks = {};
};

void take(const kernel::rx_event& e, std::vector<reception>& all)
{
    if (const auto* s = std::get_if<rx_start>(&e.what))
        all.push_back({ *s, e.sample, {}, false });
    else if (const auto* o = std::get_if<rx_octets>(&e.what)) {
        all.back().octets.insert(
            all.back().octets.end(), o->octets.begin(), o->octets.end());
        if (!e.channel.profile.empty())
            all.back().blocks.push_back({ e.sample, e.channel });
    } else
        all.back().eom = std::get<rx_end>(e.what).reason == rx_end_reason::eom;
}

constexpr size_t piece_length = 4800;

std::vector<reception>
receive(kernel::burst_receiver& rx, kernel::channel& ch, const samples& x)
{
    std::vector<reception> all;
    samples piece(piece_length);
    for (size_t i = 0; i < x.size(); i += piece.size()) {
        const size_t n = std::min(piece.size(), x.size() - i);
        ch.process(&x[i], piece.data(), n);
        rx.push(piece.data(), n);
        while (const auto e = rx.poll())
            take(*e, all);
    }
    return all;
}

// The same with two antennas.
std::vector<reception> receive(kernel::diversity_receiver& rx,
                               kernel::channel& first,
                               kernel::channel& second,
                               const samples& x)
{
    std::vector<reception> all;
    samples a(piece_length), b(piece_length);
    for (size_t i = 0; i < x.size(); i += a.size()) {
        const size_t n = std::min(a.size(), x.size() - i);
        first.process(&x[i], a.data(), n);
        second.process(&x[i], b.data(), n);
        rx.push(a.data(), b.data(), n);
        while (const auto e = rx.poll())
            take(*e, all);
    }
    return all;
}

kernel::channel channel_of(const std::string& words, const mode& m, uint64_t seed)
{
    auto spec = kernel::channel_spec::parse(words);
    spec.bandwidth_khz = spec.bandwidth_khz.value_or(m.bandwidth_hz / 1e3);
    return { spec, kernel::grid_of(m).sample_rate(), seed, kernel::mean_power(m) };
}

// Seed of the second antenna: another stream of random numbers than that of any first
// one.
constexpr uint64_t second_seed = uint64_t{ 1 } << 40;

// A transmission in the channel's input samples.
struct transmission {
    mode m;
    std::vector<uint8_t> octets;
    size_t lead = 0, length = 0; // samples before the transmission, and its own
    size_t anywhere = 0;         // samples by which a false detection may be early
    double first_symbol = 0;     // first data symbol, after the lead

    double data() const { return static_cast<double>(lead) + first_symbol; }
    double end() const { return static_cast<double>(lead + length); }
};

// The receiver may miss a super-frame or two. If it misses the whole preamble, the
// transmission counts as missed, even if its data is joined.
const reception* right_of(const std::vector<reception>& got, const transmission& t)
{
    mode announced = t.m; // the preamble says nothing of the reading
    announced.reading = waveform_reading::standard;
    for (const reception& g : got)
        if (g.start.m == announced && !g.start.joined &&
            g.sample > static_cast<int64_t>(t.lead) - static_cast<int64_t>(t.anywhere) &&
            g.sample < static_cast<int64_t>(t.lead + t.length))
            return &g;
    return nullptr;
}

void compare_reports(trial& r,
                     const reception& right,
                     const transmission& t,
                     const kernel::channel& ch)
{
    r.start_true_db = true_snr_db(
        ch, t.m, static_cast<double>(std::max<int64_t>(right.sample, 0)), t.data());
    const double block_samples =
        kernel::symbol_grid::samples_per_symbol *
        static_cast<double>(kernel::describe(t.m).block_symbols());
    for (const auto& b : right.blocks) {
        const auto begin = static_cast<double>(b.sample);
        if (begin + block_samples / 2 > t.end())
            break; // the end-of-message marker was missed
        r.reports.push_back({ true_snr_db(ch, t.m, begin, begin + block_samples),
                              b.channel.snr_db,
                              b.channel.doppler_hz,
                              b.channel.delay_spread_ms });
    }
}

void count_errors(trial& r,
                  const reception& right,
                  const transmission& t,
                  size_t octets_per_block)
{
    for (size_t i = 0; i < t.octets.size(); i += octets_per_block) {
        uint64_t e = 0;
        for (size_t k = i; k < std::min(t.octets.size(), i + octets_per_block); ++k)
            e += k < right.octets.size() ? static_cast<uint64_t>(__builtin_popcount(
                                               t.octets[k] ^ right.octets[k]))
                                         : 4;
        r.errors += e;
        r.bad_blocks += e > 0;
    }
}

// Octets in whole interleaver blocks.
size_t octets_in(const kernel::mode_timing& timing, double seconds)
{
    const auto whole = static_cast<size_t>(seconds * timing.symbol_rate_bd /
                                           static_cast<double>(timing.block_symbols));
    return std::max<size_t>(1, timing.octets_in(std::max<size_t>(1, whole)));
}

std::vector<uint8_t> random_octets(const kernel::counter_random& random, size_t count)
{
    std::vector<uint8_t> octets(count);
    for (size_t i = 0; i < count; ++i)
        octets[i] = static_cast<uint8_t>(random.bits(i));
    return octets;
}

/* One transmission of random octets with noise before and after it. Its octets fill whole
 *  interleaver blocks, with room for the end-of-message marker in the last one.
 */
trial run_trial(const std::string& mode_text,
                const std::string& channel,
                double seconds,
                uint64_t seed,
                int effort,
                bool genie,
                double lead_s,
                std::optional<int> superframes,
                const std::string& second)
{
    if (!(lead_s >= 0 && lead_s <= 600))
        throw std::invalid_argument("ber_trial: lead_s = " + std::to_string(lead_s) +
                                    " is not in 0 to 600");
    const mode m = mode::parse(mode_text);
    const auto timing = kernel::timing_of(m);
    const size_t octets = octets_in(timing, seconds);
    const kernel::counter_random random(
        seed, 0x6265722d62697473); // different from the channel's
                                   // seed
    transmission sent{ m, random_octets(random, octets) };

    // A random position on the sample grid, after enough noise for the receiver.
    const kernel::symbol_grid grid = kernel::grid_of(m);
    sent.anywhere = static_cast<size_t>(grid.samples(0.05));
    sent.lead = static_cast<size_t>(lead_s * grid.sample_rate()) +
                random.bits(octets) % sent.anywhere;
    samples x(sent.lead);
    const samples t = modulate(m, sent.octets, superframes, sent.first_symbol);
    sent.length = t.size();
    x.insert(x.end(), t.begin(), t.end());
    x.resize(x.size() + static_cast<size_t>(grid.samples(2.5)));

    kernel::channel ch = channel_of(channel, m, seed);
    kernel::rx_options options;
    options.effort = effort;
    if (genie && !second.empty())
        throw std::invalid_argument("ber_trial: genie is for one antenna");
    if (genie)
        options.known = std::make_shared<simulated>(ch, sent.data());
    trial r;
    const double begin = cpu_seconds();
    std::vector<reception> got;
    if (second.empty()) {
        kernel::burst_receiver rx(options, kernel::receptions(m.bandwidth_hz));
        got = receive(rx, ch, x);
    } else {
        kernel::diversity_receiver rx(options, kernel::receptions(m.bandwidth_hz));
        kernel::channel other = channel_of(second, m, seed + second_seed);
        got = receive(rx, ch, other, x);
    }
    r.cpu_s = cpu_seconds() - begin;
    r.air_s = static_cast<double>(x.size()) / grid.sample_rate();
    r.receptions = got.size();
    r.bits = 8 * octets;

    const reception* const right = right_of(got, sent);
    const size_t per_block = std::max<size_t>(1, timing.bits_per_block / 8);
    r.blocks = (octets + per_block - 1) / per_block;
    if (right == nullptr) {
        r.errors = r.bits / 2;
        r.bad_blocks = r.blocks;
        return r;
    }
    r.found = true;
    r.ended = right->eom && right->octets.size() == octets;
    r.snr_db = right->start.snr_db;
    r.offset_hz = right->start.freq_offset_hz;
    compare_reports(r, *right, sent, ch);
    count_errors(r, *right, sent, per_block);
    return r;
}

// False detections of the receiver without any transmission.
std::vector<std::string> run_silence(const std::string& channel,
                                     double seconds,
                                     uint64_t seed,
                                     int effort,
                                     int bandwidth_khz)
{
    kernel::rx_options options;
    options.effort = effort;
    kernel::burst_receiver rx(options, kernel::listened_for(bandwidth_khz));
    const double rate = rx.grid().sample_rate();
    auto spec = kernel::channel_spec::parse(channel);
    spec.bandwidth_khz = spec.bandwidth_khz.value_or(bandwidth_khz);
    kernel::channel ch(spec, rate, seed);
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

py::dict to_dict(const trial& r)
{
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
    d["start_true_db"] = r.start_true_db;
    py::list reports;
    for (const auto& b : r.reports)
        reports.append(py::make_tuple(b.true_db, b.snr_db, b.doppler_hz, b.delay_ms));
    d["reports"] = reports;
    return d;
}

py::dict run_bound(const std::string& mode_text,
                   const std::string& channel,
                   double seconds,
                   uint64_t seed)
{
    const double begin = cpu_seconds();
    sim::channel_bound_result r;
    {
        py::gil_scoped_release release;
        r = sim::channel_bound(mode::parse(mode_text), channel, seconds, seed);
    }
    py::dict d;
    d["bits"] = r.bits;
    d["errors"] = r.errors;
    d["blocks"] = r.blocks;
    d["bad_blocks"] = r.bad_blocks;
    d["air_s"] = r.air_s;
    d["cpu_s"] = cpu_seconds() - begin;
    return d;
}

} // namespace

void bind_ber(py::module& m)
{
    m.def(
        "channel_bound",
        &run_bound,
        py::arg("mode"),
        py::arg("channel"),
        py::arg("seconds") = 30.0,
        py::arg("seed") = 1,
        "Errors of a receiver that knows the channel and gets every symbol alone, about "
        "the given number of seconds: the matched-filter bound. Returns a dictionary. "
        "Releases the interpreter lock: runs in threads.");
    m.def("ber_silence",
          &run_silence,
          py::arg("channel"),
          py::arg("seconds"),
          py::arg("seed") = 1,
          py::arg("effort") = 1,
          py::arg("bandwidth") = 3,
          py::call_guard<py::gil_scoped_release>(),
          "Modes of false detections in a given number of seconds of noise and "
          "interference, of power relative to 1, without any transmission.");
    m.def(
        "ber_trial",
        [](const std::string& mode_text,
           const std::string& channel,
           double seconds,
           uint64_t seed,
           int effort,
           bool genie,
           double lead_s,
           std::optional<int> superframes,
           const std::string& second) {
            trial r;
            {
                py::gil_scoped_release release;
                r = run_trial(mode_text,
                              channel,
                              seconds,
                              seed,
                              effort,
                              genie,
                              lead_s,
                              superframes,
                              second);
            }
            return to_dict(r);
        },
        py::arg("mode"),
        py::arg("channel"),
        py::arg("seconds") = 30.0,
        py::arg("seed") = 1,
        py::arg("effort") = 1,
        py::arg("genie") = false,
        py::arg("lead_s") = 0.5,
        py::arg("superframes") = py::none(),
        py::arg("second") = "",
        "One transmission of random octets, about the given number of seconds, through a "
        "simulated channel, with noise before and after it. Returns what the receiver "
        "decoded, as a dictionary. genie: the receiver gets the channel instead of "
        "estimating it. lead_s: noise before it. reports: for each block its "
        "true SNR, dB in the mode's bandwidth, and the SNR, dB, Doppler spread, Hz, and "
        "delay spread, ms, that the receiver reported. snr= of the channel refers to the "
        "mode's bandwidth. superframes: of wideband preambles. second: channel of a "
        "second antenna, which fades independently; empty: none. Releases the "
        "interpreter lock: runs in threads.");
}
