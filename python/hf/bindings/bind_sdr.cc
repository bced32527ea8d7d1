/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "radio/rx_timeline.h"

#include <hf/from_sdr.h>
#include <hf/soapy_sink.h>
#include <hf/soapy_source.h>
#include <hf/to_sdr.h>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;
using namespace gr::hf;

namespace {

template <class T>
using block_class = py::class_<T, gr::block, gr::basic_block, std::shared_ptr<T>>;
template <class T>
using sync_block_class =
    py::class_<T, gr::sync_block, gr::block, gr::basic_block, std::shared_ptr<T>>;

// Source and sink have the same settings, except for the gain.
template <class Class, class Make>
Class& define_soapy(Class& c, Make make, double gain_db)
{
    return c.def(py::init(make),
                 py::arg("args") = "driver=",
                 py::arg("sample_rate") = 48000.0,
                 py::arg("frequency_hz") = 7.1e6,
                 py::arg("lo_offset_hz") = 0.0,
                 py::arg("gain_db") = gain_db,
                 py::arg("antenna") = "",
                 py::arg("channel") = 0,
                 py::arg("clock_source") = "",
                 py::arg("time_source") = "");
}

void bind_rx_timeline(py::module& m)
{
    using kernel::rx_timeline;
    py::class_<rx_timeline>(m,
                            "rx_timeline",
                            "The count of received samples compared with the clock of a "
                            "device that reports the time of its samples (tags "
                            "rx_time).\n\nsample_rate: of the device, samples/s.")
        .def(py::init<double>(), py::arg("sample_rate"))
        .def(
            "at",
            [](rx_timeline& t, int64_t seconds, double fraction) {
                const auto v = t.at({ seconds, fraction });
                return py::make_tuple(v.lost, v.repeated);
            },
            py::arg("seconds"),
            py::arg("fraction"),
            "Set the time of the next sample. Returns (missing samples before it, "
            "samples from it on that had already arrived).")
        .def("counted",
             &rx_timeline::counted,
             py::arg("samples"),
             "This many samples were received, or inserted for lost ones.")
        .def("forget_time",
             &rx_timeline::forget_time,
             "The next time will be that of another clock.");
}

void bind_sdr_conversion(py::module& m)
{
    py::class_<from_sdr_state>(m, "from_sdr_state")
        .def_readonly("peak_db", &from_sdr_state::peak_db)
        .def_readonly("rms_db", &from_sdr_state::rms_db)
        .def_readonly("clipped", &from_sdr_state::clipped)
        .def_readonly("lost", &from_sdr_state::lost)
        .def_readonly("gaps", &from_sdr_state::gaps)
        .def_readonly("repeated", &from_sdr_state::repeated)
        .def_readonly("silent_s", &from_sdr_state::silent_s)
        .def_readonly("drift_ppm", &from_sdr_state::drift_ppm)
        .def_readonly("timed", &from_sdr_state::timed);
    block_class<from_sdr>(m, "from_sdr", "Samples of an SDR to complex baseband.")
        .def(py::init(&from_sdr::make),
             py::arg("device_rate") = 48000.0,
             py::arg("modem_rate") = 9600.0)
        .def("state", &from_sdr::state);

    py::class_<to_sdr_state>(m, "to_sdr_state")
        .def_readonly("keyed", &to_sdr_state::keyed)
        .def_readonly("transmissions", &to_sdr_state::transmissions)
        .def_readonly("damaged", &to_sdr_state::damaged)
        .def_readonly("late", &to_sdr_state::late)
        .def_readonly("underflows", &to_sdr_state::underflows)
        .def_readonly("delay_s", &to_sdr_state::delay_s);
    block_class<to_sdr>(m, "to_sdr", "Complex baseband to timed bursts for an SDR.")
        .def(py::init(&to_sdr::make),
             py::arg("device_rate") = 48000.0,
             py::arg("modem_rate") = 9600.0,
             py::arg("latency_s") = 0.04,
             py::arg("lead_s") = 0.0,
             py::arg("tail_s") = 0.0,
             py::arg("keyed_by_burst") = false)
        .def("state", &to_sdr::state);
}

void bind_soapy(py::module& m)
{
    py::class_<soapy_source_state>(m, "soapy_source_state")
        .def_readonly("open", &soapy_source_state::open)
        .def_readonly("outages", &soapy_source_state::outages)
        .def_readonly("trouble", &soapy_source_state::trouble);
    sync_block_class<soapy_source> source(
        m, "soapy_source", "Receiver of an SDR by SoapySDR.");
    define_soapy(source, &soapy_source::make, 20)
        .def("timed", &soapy_source::timed)
        .def("state", &soapy_source::state)
        .def("set_frequency",
             &soapy_source::set_frequency,
             py::arg("hz"),
             py::call_guard<py::gil_scoped_release>())
        .def_static("devices", &soapy_source::devices, py::arg("args") = "");
    sync_block_class<soapy_sink> sink(m, "soapy_sink", "Transmitter of an SDR.");
    define_soapy(sink, &soapy_sink::make, 0)
        .def("set_frequency",
             &soapy_sink::set_frequency,
             py::arg("hz"),
             py::call_guard<py::gil_scoped_release>())
        .def("key_by_burst",
             &soapy_sink::key_by_burst,
             py::arg("bank"),
             py::arg("pin"),
             py::arg("inverted"));
}

} // namespace

void bind_sdr(py::module& m)
{
    bind_rx_timeline(m);
    bind_sdr_conversion(m);
    bind_soapy(m);
}
