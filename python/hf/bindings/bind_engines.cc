/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* BINDTOOL_HEADER_FILE(mode.h) */
/* BINDTOOL_HEADER_FILE_HASH(0) */
#include "channel/channel.h"
#include "mode_argument.h"
#include "modem/burst_modulator.h"
#include "modem/burst_receiver.h"
#include "modem/combining_receiver.h"
#include "modem/diversity_receiver.h"
#include "s5066/rate/rate_range.h"
#include "waveform/description.h"
#include "waveform/families/wideband/preamble.h"
#include "waveform/family.h"
#include "waveform/timing.h"

#include <hf/mode.h>

#include <pybind11/complex.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;
using namespace gr::hf;

namespace {

using samples =
    py::array_t<std::complex<float>, py::array::c_style | py::array::forcecast>;
using shares = py::array_t<float, py::array::c_style | py::array::forcecast>;

kernel::tx_options options_of(int agc_blocks,
                              bool eom,
                              bool eot,
                              std::optional<int> superframes,
                              bool short_preamble)
{
    kernel::tx_options o;
    o.agc_blocks = agc_blocks;
    o.eom = eom;
    o.eot = eot;
    o.preamble.superframes = superframes;
    o.preamble.short_form = short_preamble;
    return o;
}

//! A transmission of known octets, made piece by piece.
class stream_modulator
{
public:
    stream_modulator(const mode& m,
                     const py::bytes& octets,
                     const kernel::tx_options& options)
        : d_octets(octets), d_modulator(kernel::grid_of(m).sample_rate())
    {
        d_modulator.start(
            m,
            [this](uint64_t, size_t room) {
                tx_octets o;
                const size_t n = std::min(room, d_octets.size() - d_used);
                const auto from = d_octets.begin() + static_cast<ptrdiff_t>(d_used);
                o.octets.assign(from, from + static_cast<ptrdiff_t>(n));
                d_used += n;
                o.last = d_used == d_octets.size();
                return o;
            },
            options);
    }
    stream_modulator(const stream_modulator&) = delete;
    stream_modulator& operator=(const stream_modulator&) = delete;

    double sample_rate() const { return d_modulator.sample_rate(); }
    size_t produce(std::complex<float>* out, size_t n)
    {
        return d_modulator.active() ? d_modulator.produce(out, n) : 0;
    }
    samples read(size_t n)
    {
        // A piece that fits no memory is requested by mistake.
        std::vector<std::complex<float>> out(std::min<size_t>(n, 1 << 24));
        out.resize(produce(out.data(), out.size()));
        return samples(static_cast<py::ssize_t>(out.size()), out.data());
    }

private:
    const std::string d_octets;
    size_t d_used = 0;
    kernel::burst_modulator d_modulator;
};

samples modulate(const mode_argument& m,
                 const py::bytes& octets,
                 int agc_blocks,
                 bool eom,
                 bool eot,
                 std::optional<int> superframes,
                 bool short_preamble)
{
    stream_modulator modulator(
        mode_of(m),
        octets,
        options_of(agc_blocks, eom, eot, superframes, short_preamble));
    std::vector<std::complex<float>> out;
    constexpr size_t step = 4096;
    for (size_t made = step; made == step;) {
        const size_t at = out.size();
        out.resize(at + step);
        made = modulator.produce(out.data() + at, step);
        out.resize(at + made);
    }
    return samples(static_cast<py::ssize_t>(out.size()), out.data());
}

const char* reason_name(rx_end_reason r)
{
    switch (r) {
    case rx_end_reason::eom:
        return "eom";
    case rx_end_reason::preempted:
        return "preempted";
    case rx_end_reason::limit:
        return "limit";
    default:
        return "lost";
    }
}

py::dict event_dict(const kernel::rx_event& e, const kernel::symbol_grid& grid)
{
    using namespace pybind11::literals;
    const double time = static_cast<double>(e.sample) / grid.sample_rate();
    if (const auto* s = std::get_if<rx_start>(&e.what))
        return py::dict("type"_a = "start",
                        "time"_a = time,
                        "mode"_a = s->m.to_string(),
                        "snr_db"_a = s->snr_db,
                        "freq_offset_hz"_a = s->freq_offset_hz,
                        "joined"_a = s->joined);
    if (const auto* o = std::get_if<rx_octets>(&e.what)) {
        py::dict d("type"_a = "octets",
                   "time"_a = time,
                   "octets"_a = py::bytes(reinterpret_cast<const char*>(o->octets.data()),
                                          o->octets.size()),
                   "snr_db"_a = o->snr_db,
                   "quality"_a = o->quality,
                   "reading"_a = to_string(o->reading));
        if (!e.channel.profile.empty()) {
            d["freq_offset_hz"] = e.channel.freq_offset_hz;
            d["doppler_hz"] = e.channel.doppler_hz;
            d["delay_spread_ms"] = e.channel.delay_spread_ms;
            d["coded_ber"] = e.channel.coded_ber;
            d["profile"] = e.channel.profile;
        }
        if (e.details) {
            const auto& x = *e.details;
            d["symbols"] =
                samples(static_cast<py::ssize_t>(x.symbols.size()), x.symbols.data());
            d["llrs"] = shares(static_cast<py::ssize_t>(x.llrs.size()), x.llrs.data());
            const size_t width = x.taps.empty() ? 1 : e.channel.profile.size();
            d["taps"] = samples(static_cast<py::ssize_t>(x.taps.size()), x.taps.data())
                            .reshape({ static_cast<py::ssize_t>(x.taps.size() / width),
                                       static_cast<py::ssize_t>(width) });
        }
        return d;
    }
    const auto& end = std::get<rx_end>(e.what);
    return py::dict("type"_a = "end",
                    "time"_a = time,
                    "reason"_a = reason_name(end.reason),
                    "sure_octets"_a = end.sure_octets < 0 ? py::object(py::none())
                                                          : py::cast(end.sure_octets));
}

std::vector<py::dict> receive(kernel::burst_receiver& rx,
                              const samples& in,
                              const std::optional<shares>& erased)
{
    if (erased && erased->size() != in.size())
        throw py::value_error("erased has " + std::to_string(erased->size()) +
                              " values for " + std::to_string(in.size()) + " samples");
    {
        py::gil_scoped_release release;
        rx.push(
            in.data(), static_cast<size_t>(in.size()), erased ? erased->data() : nullptr);
    }
    std::vector<py::dict> events;
    while (const auto e = rx.poll())
        events.push_back(event_dict(*e, rx.grid()));
    return events;
}

std::vector<py::dict> receive_both(kernel::diversity_receiver& rx,
                                   const samples& a,
                                   const samples& b,
                                   const std::optional<shares>& a_erased,
                                   const std::optional<shares>& b_erased)
{
    const auto n = a.size();
    if (b.size() != n || (a_erased && a_erased->size() != n) ||
        (b_erased && b_erased->size() != n))
        throw py::value_error("diversity_receiver: " + std::to_string(n) +
                              " samples of the first antenna need as many of the second, "
                              "and as many values of what was erased");
    {
        const py::gil_scoped_release release;
        rx.push(a.data(),
                b.data(),
                static_cast<size_t>(n),
                a_erased ? a_erased->data() : nullptr,
                b_erased ? b_erased->data() : nullptr);
    }
    std::vector<py::dict> events;
    while (const auto e = rx.poll())
        events.push_back(event_dict(*e, rx.grid()));
    return events;
}

samples path_gains(const kernel::channel& c, const std::vector<double>& at)
{
    const auto& paths = c.paths();
    samples out(
        { static_cast<py::ssize_t>(at.size()), static_cast<py::ssize_t>(paths.size()) });
    auto* to = out.mutable_data();
    const py::gil_scoped_release release;
    for (const double sample : at)
        for (const auto& p : paths)
            *to++ = std::complex<float>(p.gain(sample));
    return out;
}

void bind_mode(py::module& m)
{
    py::class_<mode>(m, "mode", "A way to modulate, for example 4539-600S.")
        .def(py::init(&mode_of), py::arg("text"))
        .def_static("all", &mode::all, "Every mode that can be modulated.")
        .def_property_readonly("receivable",
                               &mode::receivable,
                               "False: only for modulators and emulated modems.")
        .def_readonly("constraint_length",
                      &mode::constraint_length,
                      "Constraint length of the convolutional code.")
        .def_property_readonly(
            "waveform",
            [](const mode& x) -> std::optional<unsigned> {
                if (x.family != waveform_family::wideband)
                    return std::nullopt;
                return kernel::wideband::word_of(x).wid;
            },
            "Waveform number of a 5069 mode, 0 to 13; None for others.")
        .def_property_readonly(
            "superframes",
            [](const mode& x) -> std::optional<int> {
                if (x.family != waveform_family::wideband)
                    return std::nullopt;
                return kernel::wideband::usual_superframes(x);
            },
            "Default number of preamble super-frames of a 5069 mode; None for others.")
        .def_property_readonly(
            "reading",
            [](const mode& x) { return to_string(x.reading); },
            "Reading of the standard: standard or reversed.")
        .def_readonly("rate_bps", &mode::rate_bps, "User data rate, bit/s.")
        .def_readonly("bandwidth_hz", &mode::bandwidth_hz, "Channel bandwidth, Hz.")
        .def_property_readonly(
            "interleaver",
            [](const mode& x) { return to_string(x.il); },
            "N, Z, US, VS, S, M, L, VL or V.")
        .def_property_readonly(
            "mean_power",
            [](const mode& x) { return kernel::mean_power(x); },
            "Mean power of the samples; 1 for PSK modes, less for QAM modes.")
        .def("__str__", &mode::to_string)
        .def(
            "__repr__", [](const mode& x) { return "mode('" + x.to_string() + "')"; })
        .def(
            "__eq__", [](const mode& a, const mode& b) { return a == b; })
        .def(
            "__hash__",
            [](const mode& x) { return std::hash<std::string>()(x.to_string()); });
}

void bind_timing(py::module& m)
{
    py::class_<kernel::mode_timing>(
        m, "timing", "Times of preamble, blocks and transmission in one mode.")
        .def(py::init(
                 [](const mode_argument& x) { return kernel::timing_of(mode_of(x)); }),
             py::arg("mode"))
        .def_readonly("symbol_rate_bd", &kernel::mode_timing::symbol_rate_bd)
        .def_readonly("bits_per_block", &kernel::mode_timing::bits_per_block)
        .def_readonly("tail_bits", &kernel::mode_timing::tail_bits)
        .def_readonly("preamble_symbols", &kernel::mode_timing::preamble_symbols)
        .def_readonly("block_symbols", &kernel::mode_timing::block_symbols)
        .def("blocks_for", &kernel::mode_timing::blocks_for, py::arg("octets"))
        .def("octets_in", &kernel::mode_timing::octets_in, py::arg("blocks"))
        .def(
            "block_begin",
            [](const kernel::mode_timing& t, size_t k) {
                return to_seconds(t.block_begin(k));
            },
            py::arg("k"),
            "Start of block k after the first preamble symbol, s.")
        .def(
            "duration",
            [](const kernel::mode_timing& t, size_t n) {
                return to_seconds(t.duration(n));
            },
            py::arg("octets"),
            "Whole transmission, preamble included, s.");
}

void bind_modulator(py::module& m)
{
    m.def("modulate",
          &modulate,
          py::arg("mode"),
          py::arg("octets"),
          py::arg("agc_blocks") = 0,
          py::arg("eom") = true,
          py::arg("eot") = false,
          py::arg("superframes") = py::none(),
          py::arg("short_preamble") = false,
          "One whole transmission as complex64 baseband samples, 4 for each symbol: at "
          "9600 samples/s in 3 kHz, 3200 for each kHz of the wideband modes. eot, "
          "superframes and short_preamble apply to the wideband modes.");

    py::class_<stream_modulator>(
        m, "modulator", "One transmission in pieces, for long messages.")
        .def(py::init([](const mode_argument& x,
                         const py::bytes& octets,
                         int agc_blocks,
                         bool eom,
                         bool eot,
                         std::optional<int> superframes,
                         bool short_preamble) {
                 return std::make_unique<stream_modulator>(
                     mode_of(x),
                     octets,
                     options_of(agc_blocks, eom, eot, superframes, short_preamble));
             }),
             py::arg("mode"),
             py::arg("octets"),
             py::arg("agc_blocks") = 0,
             py::arg("eom") = true,
             py::arg("eot") = false,
             py::arg("superframes") = py::none(),
             py::arg("short_preamble") = false)
        .def_property_readonly("sample_rate",
                               &stream_modulator::sample_rate,
                               "Samples/s: 4 for each symbol.")
        .def("read",
             &stream_modulator::read,
             py::arg("samples"),
             "The next complex64 samples, at most the given number. Fewer, or none, at "
             "the end.");
}

void bind_receiver(py::module& m)
{
    py::class_<kernel::burst_receiver>(
        m,
        "receiver",
        "Receiver of all transmissions on the air. It needs no parameters of them.")
        .def(py::init([](bool zero_interleaver,
                         size_t max_blocks,
                         int effort,
                         int bandwidth,
                         bool details,
                         bool join) {
                 kernel::rx_options o;
                 o.zero_interleaver = zero_interleaver;
                 o.max_blocks = max_blocks;
                 o.effort = effort;
                 auto rx = std::make_unique<kernel::burst_receiver>(
                     o, kernel::listened_for(bandwidth, join));
                 rx->keep_details(details);
                 return rx;
             }),
             py::arg("zero_interleaver") = false,
             py::arg("max_blocks") = 0,
             py::arg("effort") = 1,
             py::arg("bandwidth") = 3,
             py::arg("details") = false,
             py::arg("join") = true,
             "details: events of decoded blocks also hold symbols (equalised, PSK "
             "without scrambling), llrs (input of the decoder, positive for 0) and taps "
             "(frames by delays), as arrays. join: join transmissions of 5069 whose "
             "preamble was missed, at the start of a Long block. The mode is found by "
             "what can be decoded.")
        .def("push",
             &receive,
             py::arg("samples"),
             py::arg("erased") = py::none(),
             "Take complex samples, 3200/s for each kHz of bandwidth. Returns the "
             "events, a list of dictionaries with the key type: start, octets or end. "
             "Times are in seconds of input. erased: for each sample the share, 0 to 1, "
             "that was blanked before, see audio_to_baseband.");
}

void bind_diversity_receiver(py::module& m)
{
    py::class_<kernel::diversity_receiver>(
        m,
        "diversity_receiver",
        "Receiver of two antennas, or of two radios. Their soft bits are decoded "
        "together. Where one hears nothing, the other goes on alone.")
        .def(py::init([](bool zero_interleaver,
                         int effort,
                         int bandwidth,
                         bool details,
                         bool join) {
                 kernel::rx_options o;
                 o.zero_interleaver = zero_interleaver;
                 o.effort = effort;
                 auto rx = std::make_unique<kernel::diversity_receiver>(
                     o, kernel::listened_for(bandwidth, join));
                 rx->keep_details(details);
                 return rx;
             }),
             py::arg("zero_interleaver") = false,
             py::arg("effort") = 1,
             py::arg("bandwidth") = 3,
             py::arg("details") = false,
             py::arg("join") = true,
             "As hf.receiver.")
        .def("push",
             &receive_both,
             py::arg("first"),
             py::arg("second"),
             py::arg("first_erased") = py::none(),
             py::arg("second_erased") = py::none(),
             "Take the same number of simultaneous complex samples of both antennas. "
             "Returns the events as hf.receiver does, and takes erased shares in the "
             "same way.")
        .def_property_readonly("joint_blocks",
                               &kernel::diversity_receiver::joint_blocks,
                               "Blocks that were decoded from both antennas.")
        .def_property_readonly("blocks",
                               &kernel::diversity_receiver::blocks,
                               "Decoded blocks, of modes that can be decoded from both.");
}

void push_one(kernel::combining_receiver& rx,
              size_t receiver,
              const samples& in,
              const std::optional<shares>& erased)
{
    if (receiver >= rx.receivers())
        throw py::value_error("receiver " + std::to_string(receiver) +
                              ": allowed are 0 to " + std::to_string(rx.receivers() - 1));
    if (erased && erased->size() != in.size())
        throw py::value_error("erased has " + std::to_string(erased->size()) +
                              " values for " + std::to_string(in.size()) + " samples");
    const py::gil_scoped_release release;
    rx.push(receiver,
            in.data(),
            static_cast<size_t>(in.size()),
            erased ? erased->data() : nullptr);
}

py::dict message_dict(const kernel::combined_message& c)
{
    using namespace pybind11::literals;
    py::list parts;
    for (const auto& p : c.parts)
        parts.append(py::dict("receiver"_a = p.receiver,
                              "begin"_a = p.begin_s,
                              "freq_offset_hz"_a = p.freq_hz,
                              "snr_db"_a = p.snr_db,
                              "doppler_hz"_a = p.doppler_hz,
                              "delay_spread_ms"_a = p.delay_spread_ms,
                              "blocks"_a = p.blocks,
                              "joined"_a = p.joined));
    return py::dict("mode"_a = c.m.to_string(),
                    "reading"_a = to_string(c.m.reading),
                    "joined"_a = c.joined,
                    "complete"_a = c.complete,
                    "octets"_a = py::bytes(reinterpret_cast<const char*>(c.octets.data()),
                                           c.octets.size()),
                    "blocks"_a = c.blocks,
                    "coded_ber"_a = c.coded_ber,
                    "parts"_a = parts);
}

std::vector<py::dict> combine(const kernel::combining_receiver& rx)
{
    std::vector<kernel::combined_message> messages;
    {
        const py::gil_scoped_release release;
        messages = rx.combine();
    }
    std::vector<py::dict> dicts;
    for (const auto& m : messages)
        dicts.push_back(message_dict(m));
    return dicts;
}

void bind_combining_receiver(py::module& m)
{
    py::class_<kernel::combining_receiver>(
        m,
        "combining_receiver",
        "Receivers at 2 to 6 places that heard the same transmissions, each with its own "
        "clock and start time. Decodes every transmission from the soft bits of all.")
        .def(py::init([](size_t receivers,
                         bool zero_interleaver,
                         int effort,
                         int bandwidth,
                         bool join) {
                 kernel::rx_options o;
                 o.zero_interleaver = zero_interleaver;
                 o.effort = effort;
                 return std::make_unique<kernel::combining_receiver>(
                     receivers, o, kernel::listened_for(bandwidth, join));
             }),
             py::arg("receivers"),
             py::arg("zero_interleaver") = false,
             py::arg("effort") = 1,
             py::arg("bandwidth") = 3,
             py::arg("join") = true,
             "receivers: their number, 2 to 6. The other options as in hf.receiver.")
        .def("push",
             &push_one,
             py::arg("receiver"),
             py::arg("samples"),
             py::arg("erased") = py::none(),
             "Take complex samples of one receiver, numbered from 0, as hf.receiver "
             "does. Receivers may be pushed in turns, one after the other, or from "
             "several threads, one for each receiver. End each with 12 s of zeros.")
        .def(
            "again",
            &kernel::combining_receiver::again,
            "True if a second reading may help. Then push all samples of every receiver "
            "again, from the first on: each looks for the transmissions that only others "
            "have found.")
        .def("heard",
             &kernel::combining_receiver::heard,
             py::arg("receiver"),
             "Number of transmissions that a receiver found by itself.")
        .def("combine",
             &combine,
             "Combine and decode everything pushed. Returns a list of dictionaries, one "
             "for each transmission, in order of time: mode, reading, joined (every "
             "receiver missed its start), complete (its end-of-message marker was "
             "found), octets, blocks, coded_ber (share of coded bits that the decoder "
             "corrected) and parts. A part is what one receiver contributed: receiver, "
             "begin (first symbol of the data, s of its input), freq_offset_hz, snr_db, "
             "doppler_hz, delay_spread_ms, blocks, joined. The most certain one is "
             "first.");
}

void bind_channel_model(py::module& m)
{
    py::class_<kernel::channel>(m, "channel_model", "HF channel: fading, offset, noise.")
        .def(py::init([](const std::string& spec,
                         uint64_t seed,
                         double signal_power,
                         double sample_rate) {
                 return std::make_unique<kernel::channel>(
                     kernel::channel_spec::parse(spec), sample_rate, seed, signal_power);
             }),
             py::arg("spec"),
             py::arg("seed") = 1,
             py::arg("signal_power") = 1,
             py::arg("sample_rate") = 9600)
        .def(
            "process",
            [](kernel::channel& c, const samples& in) {
                samples out(in.size());
                c.process(in.data(), out.mutable_data(), static_cast<size_t>(in.size()));
                return out;
            },
            py::arg("samples"),
            "Pass complex samples through the channel. State is kept from call to call.")
        .def("gains",
             &path_gains,
             py::arg("samples"),
             "The complex64 gains of the paths at the given output samples, one row for "
             "each, as process() multiplies with. No state, so any order is possible; "
             "slow.")
        .def_property_readonly(
            "delays_s",
            [](const kernel::channel& c) {
                std::vector<double> delays;
                for (const auto& p : c.paths())
                    delays.push_back(p.delay() / c.sample_rate());
                return delays;
            },
            "Delays of the paths, s, including their common delay, but not that of a "
            "wrong clock.");
}

void bind_rate_ranges(py::module& m)
{
    m.def(
        "fastest_mode",
        [](const std::string& text) {
            const auto range = s5066::rate_range::parse(text);
            return range ? range->ceiling.to_string() : mode::parse(text).to_string();
        },
        py::arg("mode"),
        "The fastest mode of an adaptive range such as auto:600..4800. A mode returns "
        "itself.");
    m.def(
        "reference_mode",
        [](const std::string& text) {
            const auto range = s5066::rate_range::parse(text);
            return range ? range->reference().to_string() : mode::parse(text).to_string();
        },
        py::arg("mode"),
        "The mode whose mean power an SNR refers to: a mode itself, and of an adaptive "
        "range its fastest one of STANAG 4539, or of the standard that it has.");
    m.def("in_bandwidth",
          &s5066::rate_range::in_bandwidth,
          py::arg("mode"),
          py::arg("bandwidth"),
          "Converts auto or auto:600..4800 to the range of a bandwidth in kHz: auto:48k. "
          "Modes, and ranges that name a bandwidth, stay unchanged, and so does "
          "everything in 3 kHz.");
}

} // namespace

void bind_engines(py::module& m)
{
    bind_mode(m);
    bind_timing(m);
    bind_rate_ranges(m);
    bind_modulator(m);
    bind_receiver(m);
    bind_diversity_receiver(m);
    bind_combining_receiver(m);
    bind_channel_model(m);
}
