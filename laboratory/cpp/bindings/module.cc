/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <pybind11/pybind11.h>

namespace py = pybind11;

void bind_ale(py::module& m);
void bind_ber(py::module& m);
void bind_pep_sim(py::module& m);
void bind_sim(py::module& m);
void bind_symbols(py::module& m);

PYBIND11_MODULE(experiments, m)
{
    m.doc() =
        "Experiments in C++: error rates of the receiver, calls of ALE stations, the "
        "data link on the event simulator. A running station does not load them.";
    // Modes, addresses and scenarios are bound there.
    py::module::import("gnuradio.hf.simulation.simulator");
    bind_ale(m);
    bind_ber(m);
    bind_symbols(m);
    bind_sim(m);
    bind_pep_sim(m);
}
