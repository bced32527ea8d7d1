/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mode_argument.h"

#include <hf/block_deinterleaver.h>
#include <hf/block_interleaver.h>
#include <hf/equaliser.h>
#include <hf/fec_decoder.h>
#include <hf/fec_encoder.h>
#include <hf/frame_builder.h>
#include <hf/message_framer.h>
#include <hf/message_parser.h>
#include <hf/preamble_finder.h>
#include <hf/pulse_shaper.h>
#include <hf/rx_chain.h>
#include <hf/soft_demapper.h>
#include <hf/symbol_mapper.h>
#include <hf/tx_chain.h>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;
using namespace gr::hf;

namespace {

template <class T>
using tagged_class = py::
    class_<T, gr::tagged_stream_block, gr::block, gr::basic_block, std::shared_ptr<T>>;
template <class T>
using block_class = py::class_<T, gr::block, gr::basic_block, std::shared_ptr<T>>;
template <class T>
using hier_class = py::class_<T, gr::hier_block2, gr::basic_block, std::shared_ptr<T>>;

template <class T>
using sync_class =
    py::class_<T, gr::sync_block, gr::block, gr::basic_block, std::shared_ptr<T>>;

//! A block whose only argument is the mode.
template <class T, class Class = tagged_class<T>>
Class bind_stage(py::module& m, const char* name, const char* what)
{
    Class c(m, name, what);
    c.def(py::init([](const mode_argument& mode) {
              return T::make(mode_of(mode).to_string());
          }),
          py::arg("mode"));
    return c;
}

void bind_transmit(py::module& m)
{
    bind_stage<message_framer, sync_class<message_framer>>(
        m, "message_framer", "Cuts messages into the bits of interleaver blocks.")
        .def("dropped", &message_framer::dropped);
    bind_stage<fec_encoder>(m, "fec_encoder", "Convolutional encoder of a mode.");
    bind_stage<block_interleaver>(m, "block_interleaver", "Interleaver of a mode.");
    bind_stage<symbol_mapper>(
        m, "symbol_mapper", "Maps interleaved bits to scrambled data symbols.");
    tagged_class<frame_builder>(
        m, "frame_builder", "Puts preamble and mini-probes around data symbols.")
        .def(py::init([](const mode_argument& mode, int agc_blocks) {
                 return frame_builder::make(mode_of(mode).to_string(), agc_blocks);
             }),
             py::arg("mode"),
             py::arg("agc_blocks") = 0);
    block_class<pulse_shaper>(m, "pulse_shaper", "Shapes symbols into complex baseband.")
        .def(py::init([](const mode_argument& mode,
                         double gap_ms,
                         bool continuous,
                         double level) {
                 return pulse_shaper::make(
                     mode_of(mode).to_string(), gap_ms, continuous, level);
             }),
             py::arg("mode"),
             py::arg("gap_ms") = 100.0,
             py::arg("continuous") = false,
             py::arg("level") = 1.6)
        .def("set_level", &pulse_shaper::set_level, py::arg("level"));
    hier_class<tx_chain>(
        m, "tx_chain", "Modulator made of the stages of the transmit chain.")
        .def(py::init([](const mode_argument& mode,
                         int agc_blocks,
                         double gap_ms,
                         bool continuous,
                         double level) {
                 return tx_chain::make(
                     mode_of(mode).to_string(), agc_blocks, gap_ms, continuous, level);
             }),
             py::arg("mode"),
             py::arg("agc_blocks") = 0,
             py::arg("gap_ms") = 100.0,
             py::arg("continuous") = false,
             py::arg("level") = 1.6)
        .def("set_level", &tx_chain::set_level, py::arg("level"));
}

void bind_receive(py::module& m)
{
    bind_stage<preamble_finder, sync_class<preamble_finder>>(
        m, "preamble_finder", "Finds the preambles of transmissions, and tags them.")
        .def("found", &preamble_finder::found);
    bind_stage<equaliser, block_class<equaliser>>(
        m, "equaliser", "Follows the channel of a transmission, equalises its symbols.");
    bind_stage<soft_demapper>(
        m, "soft_demapper", "Turns equalised symbols into soft bits.");
    bind_stage<block_deinterleaver>(m, "block_deinterleaver", "Deinterleaver of a mode.");
    bind_stage<fec_decoder>(m, "fec_decoder", "Soft-decision Viterbi decoder of a mode.");
    bind_stage<message_parser>(m, "message_parser", "Turns decoded bits into messages.");
    bind_stage<rx_chain, hier_class<rx_chain>>(
        m, "rx_chain", "Receiver of one mode made of the stages of the receive chain.");
}

} // namespace

void bind_chain(py::module& m)
{
    bind_transmit(m);
    bind_receive(m);
}
