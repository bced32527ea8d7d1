/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ale/link/link_keeper.h"
#include "ale/link/used_channel.h"
#include "trials/ale_handshake.h"

#include <pybind11/complex.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;
using namespace gr::hf;

namespace {

using samples =
    py::array_t<std::complex<float>, py::array::c_style | py::array::forcecast>;

std::vector<std::string> frames(const samples& x)
{
    const std::vector<std::complex<float>> copy(x.data(), x.data() + x.size());
    const py::gil_scoped_release release;
    return sim::ale_frames(copy);
}

py::dict keeping()
{
    const auto s = [](station_time t) {
        return std::chrono::duration_cast<std::chrono::seconds>(t).count();
    };
    py::dict d;
    d["better"] = ale::link_keeper::better;
    d["better_here"] = ale::link_keeper::better_here;
    d["move_again_s"] = s(ale::link_keeper::move_again);
    d["window_s"] = s(ale::used_channel::window);
    d["silence_s"] = s(ale::link_settings().silence);
    return d;
}

} // namespace

void bind_ale(py::module& m)
{
    py::class_<sim::ale_handshake_result>(
        m, "ale_handshake_result", "How far the call of an ALE station came.")
        .def_readonly("called", &sim::ale_handshake_result::called, "The call was read.")
        .def_readonly(
            "answered", &sim::ale_handshake_result::answered, "The answer was read.")
        .def_readonly("linked",
                      &sim::ale_handshake_result::linked,
                      "The acknowledgement was read: both are linked.")
        .def_readonly(
            "linked_at_last",
            &sim::ale_handshake_result::linked_at_last,
            "Both are linked with the repeated answers and further calls of the "
            "default settings.")
        .def_readonly("false_links",
                      &sim::ale_handshake_result::false_links,
                      "Links to a station that did not send.")
        .def_readonly("strangers",
                      &sim::ale_handshake_result::strangers,
                      "Stations heard that do not exist.");
    m.def(
        "ale_handshake",
        &sim::ale_handshake,
        py::arg("channel"),
        py::arg("seed"),
        py::arg("channels") = 1,
        py::call_guard<py::gil_scoped_release>(),
        "A call of two whole stations with default settings: SAM calls JOE with "
        "23 words, JOE answers, SAM acknowledges, each through one realisation of the "
        "channel. Both know ten other stations. Repeated answers and further calls count "
        "only in linked_at_last.\n\n"
        "channel: words of a channel with an SNR. seed: of the channel and of the phase "
        "of the scan. channels: 1: both stay on their channel; more, to 100: both scan "
        "these.\n\n"
        "Raises ValueError.");
    m.def("ale_keeping",
          &keeping,
          "Rules by which a station keeps a link, by their names in lib/ale/link.");
    m.def("ale_frames",
          &frames,
          py::arg("samples"),
          "Frames that a station reads that waits for an answer of JOE all the time, and "
          "for calls of ten stations. samples: baseband at 9600 samples/s, 1800 Hz of "
          "audio at 0 Hz.");
}
