/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <pybind11/pybind11.h>

namespace py = pybind11;

void bind_ale(py::module& m);
void bind_engines(py::module& m);
void bind_blocks(py::module& m);
void document(py::module& m);
void bind_network(py::module& m);
void bind_radio(py::module& m);
void bind_sdr(py::module& m);
void bind_rights(py::module& m);
void bind_sis(py::module& m);

PYBIND11_MODULE(hf_python, m)
{
    // The base classes of the blocks must be known before ours are declared.
    py::module::import("gnuradio.gr");
    bind_ale(m);
    bind_engines(m);
    bind_radio(m);
    bind_sdr(m);
    bind_blocks(m);
    bind_network(m);
    bind_sis(m);
    bind_rights(m);
    document(m);
}
