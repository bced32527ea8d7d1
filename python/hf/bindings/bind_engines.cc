/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* BINDTOOL_HEADER_FILE(mode.h) */
/* BINDTOOL_HEADER_FILE_HASH(0) */
#include "channel/channel.h"
#include "mode_argument.h"
#include "modem/burst_modulator.h"
#include "s5066/rate/rate_range.h"
#include "waveform/description.h"
#include "waveform/families/wideband/preamble.h"
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
    bind_channel_model(m);
}
