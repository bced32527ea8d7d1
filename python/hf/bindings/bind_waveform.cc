/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mode_argument.h"
#include "waveform/block_encoder.h"
#include "waveform/description.h"

#include <pybind11/complex.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <complex>
#include <cstdint>
#include <string>
#include <vector>

namespace py = pybind11;
using namespace gr::hf;

namespace {

using point = std::complex<float>;

const kernel::description& of(const mode_argument& m)
{
    return kernel::describe(mode_of(m));
}

template <class T>
py::array_t<T> array(const std::vector<T>& v)
{
    return py::array_t<T>(static_cast<py::ssize_t>(v.size()), v.data());
}

py::array_t<uint32_t> order(const mode_argument& m)
{
    const kernel::permutation& p = of(m).interleave;
    std::vector<uint32_t> all(p.size());
    for (size_t n = 0; n < all.size(); ++n)
        all[n] = p[n];
    return array(all);
}

py::array_t<point> preamble(const mode_argument& m)
{
    const kernel::description& d = of(m);
    std::vector<point> all;
    for (const uint8_t number : d.preamble)
        all.push_back(d.known_points[number]);
    return array(all);
}

py::array_t<point> cycle(const mode_argument& m)
{
    const kernel::description& d = of(m);
    std::vector<point> all(d.cycle_symbols());
    for (size_t i = 0; i < all.size(); ++i)
        if (const kernel::cell& c = d.at(i); kernel::is_known(c.kind))
            all[i] = d.known_point(c);
    return array(all);
}

py::array_t<uint8_t> words(const mode_argument& m)
{
    const kernel::description& d = of(m);
    py::array_t<uint8_t> all({ d.words.size(), d.spread() ? d.chips() : size_t{ 0 } });
    for (size_t w = 0; w < d.words.size(); ++w)
        std::copy(d.words[w].begin(),
                  d.words[w].end(),
                  all.mutable_data(static_cast<py::ssize_t>(w), 0));
    return all;
}

py::dict sizes(const mode_argument& m)
{
    const kernel::description& d = of(m);
    py::dict s;
    s["symbol_rate"] = d.symbol_rate_bd;
    s["bits_per_symbol"] = d.alphabet.bits;
    s["input_bits"] = d.input_bits;
    s["coded_bits"] = d.coded_bits;
    s["data_symbols"] = d.frames_per_block * d.unknown;
    s["unknown"] = d.unknown;
    s["known"] = d.known;
    s["frames_per_block"] = d.frames_per_block;
    s["frames_per_cycle"] = d.frames_per_cycle;
    s["reinserted"] = d.reinserted;
    return s;
}

} // namespace

void bind_waveform(py::module& top)
{
    const auto mode = py::arg("mode");
    py::module m = top.def_submodule(
        "waveform",
        "Tables of a mode as numpy arrays, for those who build stages of their own.");
    m.def(
        "constellation",
        [](const mode_argument& a) { return array(of(a).alphabet.points); },
        mode,
        "Points of the data symbols by number as sent, complex64; largest magnitude 1.");
    m.def(
        "numbers",
        [](const mode_argument& a) { return array(of(a).alphabet.label_to_number); },
        mode,
        "Symbol number of each label, uint8. A label is the bits of a symbol, the first "
        "one most significant; the scrambling value is then added modulo 8 (PSK) or "
        "exclusively or-ed (QAM).");
    m.def("interleaver",
          &order,
          mode,
          "Order in which the coded bits of a block are sent, uint32: sent[n] = "
          "coded[order[n]].");
    m.def(
        "scrambling",
        [](const mode_argument& a, uint64_t block) {
            return array(kernel::scrambling_of(of(a), block));
        },
        mode,
        py::arg("block") = 0,
        "Scrambling values of the data symbols (chips) of a block, uint8; block 0 is the "
        "first of a transmission.");
    m.def("preamble",
          &preamble,
          mode,
          "Symbols from the first one of the preamble to the first data, complex64, as "
          "sent without options and AGC blocks.");
    m.def("cycle",
          &cycle,
          mode,
          "Known symbols of the shortest stretch of the data phase that repeats, "
          "complex64: mini-probes and the reinserted preamble; 0 where data are.");
    m.def("words",
          &words,
          mode,
          "Spread modes: chip values 0 to 7 of each Walsh word, uint8. The second half "
          "are the words that end a block. No rows in other modes.");
    m.def("sizes",
          &sizes,
          mode,
          "Sizes of a mode: symbol_rate (symbols/s), bits_per_symbol; of an interleaver "
          "block input_bits, coded_bits, data_symbols (chips), frames_per_block; of a "
          "frame unknown (data) and known (probe) symbols; of a cycle frames_per_cycle "
          "and reinserted (symbols).");
}
