/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <pybind11/pybind11.h>

namespace py = pybind11;

void bind_scenario(py::module& m);
void bind_transfers(py::module& m);

PYBIND11_MODULE(simulator, m)
{
    m.doc() = "Stations in virtual time: transfers, and scenarios as data. A running "
              "station does not load it.";
    // Modes and addresses are bound there.
    py::module::import("gnuradio.hf");
    bind_scenario(m);
    bind_transfers(m);
}
