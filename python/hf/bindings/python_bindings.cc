/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <pybind11/pybind11.h>

namespace py = pybind11;

// gr_modtool adds to these lists.
// BINDING_FUNCTION_PROTOTYPES(
void bind_ale(py::module& m);
void bind_chain(py::module& m);
void bind_engines(py::module& m);
void bind_blocks(py::module& m);
void document(py::module& m);
void bind_network(py::module& m);
void bind_radio(py::module& m);
void bind_receivers(py::module& m);
void bind_sdr(py::module& m);
void bind_rights(py::module& m);
void bind_sis(py::module& m);
void bind_waveform(py::module& m);
// ) END BINDING_FUNCTION_PROTOTYPES

PYBIND11_MODULE(hf_python, m)
{
    // The base classes of the blocks must be known before ours are declared.
    py::module::import("gnuradio.gr");
    // BINDING_FUNCTION_CALLS(
    bind_ale(m);
    bind_engines(m);
    bind_receivers(m);
    bind_radio(m);
    bind_sdr(m);
    bind_blocks(m);
    bind_chain(m);
    bind_network(m);
    bind_sis(m);
    bind_rights(m);
    bind_waveform(m);
    // ) END BINDING_FUNCTION_CALLS
    document(m);
}
