/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* BINDTOOL_HEADER_FILE(mode.h) */
/* BINDTOOL_HEADER_FILE_HASH(0) */
#include "waveform/transmitter.h"

#include <hf/mode.h>

#include <pybind11/complex.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <complex>
#include <string>
#include <vector>

namespace py = pybind11;
using namespace gr::hf;

namespace {

using octet_array = py::array_t<uint8_t, py::array::c_style | py::array::forcecast>;

template <class T>
py::array_t<T> array(const std::vector<T>& v)
{
    return py::array_t<T>(static_cast<py::ssize_t>(v.size()), v.data());
}

//! A whole transmission before pulse shaping.
struct symbol_stream {
    std::vector<uint8_t> numbers, kinds;
    std::vector<std::complex<float>> points;
};

symbol_stream
transmit(const mode& m, const std::string& octets, const kernel::tx_options& options)
{
    kernel::transmitter tx(m, options);
    symbol_stream s;
    std::vector<kernel::tx_symbol> piece(4096);
    size_t given = 0;
    while (!tx.done()) {
        if (const size_t wanted = tx.octets_wanted()) {
            const size_t n = std::min(wanted, octets.size() - given);
            const char* from = octets.data() + given;
            given += n;
            tx.give(reinterpret_cast<const uint8_t*>(from), n, given == octets.size());
        }
        const size_t made = tx.produce(piece.data(), piece.size());
        for (size_t i = 0; i < made; ++i) {
            s.numbers.push_back(piece[i].number);
            s.kinds.push_back(static_cast<uint8_t>(piece[i].kind));
            s.points.push_back(piece[i].value);
        }
    }
    return s;
}

py::dict symbols(const mode& m,
                 const py::bytes& octets,
                 int agc_blocks,
                 bool eom,
                 bool eot,
                 std::optional<int> superframes,
                 bool short_preamble,
                 bool running_scrambling,
                 bool same_chips_above_24_khz)
{
    kernel::tx_options o;
    o.agc_blocks = agc_blocks;
    o.eom = eom;
    o.eot = eot;
    o.preamble.superframes = superframes;
    o.preamble.short_form = short_preamble;
    if (running_scrambling)
        o.preamble.scrambling = kernel::preamble_scrambling::running;
    if (same_chips_above_24_khz)
        o.preamble.above_24_khz = kernel::preamble_above_24_khz::same_chips;
    const std::string given = octets;
    symbol_stream s;
    {
        py::gil_scoped_release release;
        s = transmit(m, given, o);
    }
    using namespace pybind11::literals;
    return py::dict("numbers"_a = array(s.numbers),
                    "kinds"_a = array(s.kinds),
                    "points"_a = array(s.points));
}

py::dict encode_block(const mode& m, const octet_array& bits, uint64_t block)
{
    const kernel::description& d = kernel::describe(m);
    if (static_cast<size_t>(bits.size()) != d.input_bits)
        throw py::value_error("a block of mode " + m.to_string() + " has " +
                              std::to_string(d.input_bits) + " bits, not " +
                              std::to_string(bits.size()));
    kernel::block_encoder encoder(d);
    std::vector<uint8_t> numbers;
    {
        py::gil_scoped_release release;
        numbers = encoder.encode(bits.data(), block);
    }
    using namespace pybind11::literals;
    return py::dict("fetched"_a = array(encoder.fetched()), "numbers"_a = array(numbers));
}

} // namespace

void bind_symbols(py::module& m)
{
    m.def("symbols",
          &symbols,
          py::arg("mode"),
          py::arg("octets"),
          py::arg("agc_blocks") = 0,
          py::arg("eom") = true,
          py::arg("eot") = false,
          py::arg("superframes") = py::none(),
          py::arg("short_preamble") = false,
          py::arg("running_scrambling") = false,
          py::arg("same_chips_above_24_khz") = false,
          "One whole transmission as symbols, before pulse shaping: numbers and kinds (0 "
          "AGC or TLC, 1 preamble, 2 mini-probe, 3 data) as uint8, points as complex64. "
          "The options from eot on apply to the wideband modes: end-of-transmission "
          "signal, super-frames of preamble (1 to 32), its short form, scrambling that "
          "runs on through each part of it, and 256 chips for its channel symbols above "
          "24 kHz.");
    m.def("encode_block",
          &encode_block,
          py::arg("mode"),
          py::arg("bits"),
          py::arg("block") = 0,
          "One interleaver block by itself. bits: as many as timing.bits_per_block, one "
          "in each uint8. block: its number in the transmission, which chooses the "
          "scrambling. Returns fetched, the coded bits in the order of transmission, and "
          "numbers, the data symbols (chips of spread modes), both uint8.");
}
