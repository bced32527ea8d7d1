/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "radio/audio_to_baseband.h"
#include "radio/baseband_to_audio.h"
#include "radio/channeliser.h"

#include <hf/audio_sink.h>
#include <hf/audio_source.h>
#include <hf/from_audio.h>
#include <hf/to_audio.h>

#include <pybind11/complex.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;
using namespace gr::hf;
using kernel::audio_rates;

namespace {

template <class T>
using array = py::array_t<T, py::array::c_style | py::array::forcecast>;

template <class T>
py::array_t<T> to_array(const std::vector<T>& v)
{
    return py::array_t<T>(static_cast<py::ssize_t>(v.size()), v.data());
}

template <class T>
std::vector<std::complex<float>> down(kernel::audio_to_baseband& c, const array<T>& x)
{
    py::gil_scoped_release release;
    std::vector<std::complex<float>> out;
    c.push(x.data(), static_cast<size_t>(x.size()), out);
    return out;
}

template <class T>
using block_class = py::class_<T, gr::block, gr::basic_block, std::shared_ptr<T>>;

void bind_blocks_of_audio(py::module& m)
{
    py::class_<from_audio_state>(m, "from_audio_state")
        .def_readonly("peak_db", &from_audio_state::peak_db)
        .def_readonly("rms_db", &from_audio_state::rms_db)
        .def_readonly("clipped", &from_audio_state::clipped)
        .def_readonly("silent_s", &from_audio_state::silent_s);
    block_class<from_audio>(m, "from_audio", "A receiver's audio to complex baseband.")
        .def(py::init(&from_audio::make),
             py::arg("audio_rate") = 48000.0,
             py::arg("subcarrier_hz") = 1800.0,
             py::arg("modem_rate") = 9600.0)
        .def("state", &from_audio::state);

    py::class_<to_audio_state>(m, "to_audio_state")
        .def_readonly("keyed", &to_audio_state::keyed)
        .def_readonly("added", &to_audio_state::added)
        .def_readonly("left_out", &to_audio_state::left_out)
        .def_readonly("damaged", &to_audio_state::damaged)
        .def_readonly("key_downs", &to_audio_state::key_downs);
    block_class<to_audio>(m, "to_audio", "Complex baseband to audio for a transmitter.")
        .def(py::init(&to_audio::make),
             py::arg("audio_rate") = 48000.0,
             py::arg("subcarrier_hz") = 1800.0,
             py::arg("modem_rate") = 9600.0,
             py::arg("lead_s") = 0.0,
             py::arg("tail_s") = 0.0,
             py::arg("device_delay_s") = 0.0,
             py::arg("device_buffer_s") = 0.1,
             py::arg("latency_s") = 0.0,
             py::arg("tone_hz") = 0.0)
        .def("state", &to_audio::state);
}

void bind_sound_devices(py::module& m)
{
    py::class_<audio_source_state>(m, "audio_source_state")
        .def_readonly("open", &audio_source_state::open)
        .def_readonly("outages", &audio_source_state::outages)
        .def_readonly("overruns", &audio_source_state::overruns)
        .def_readonly("lost", &audio_source_state::lost)
        .def_readonly("left_out", &audio_source_state::left_out)
        .def_readonly("drift_ppm", &audio_source_state::drift_ppm)
        .def_readonly("waiting_ms", &audio_source_state::waiting_ms)
        .def_readonly("trouble", &audio_source_state::trouble);
    block_class<audio_source>(
        m, "audio_source", "Samples of a sound device, without a gap.")
        .def(py::init(&audio_source::make),
             py::arg("device") = "",
             py::arg("audio_rate") = 48000)
        .def("state", &audio_source::state);

    py::class_<audio_sink_state>(m, "audio_sink_state")
        .def_readonly("open", &audio_sink_state::open)
        .def_readonly("outages", &audio_sink_state::outages)
        .def_readonly("underruns", &audio_sink_state::underruns)
        .def_readonly("silent_ms", &audio_sink_state::silent_ms)
        .def_readonly("held_ms", &audio_sink_state::held_ms)
        .def_readonly("wanted_ms", &audio_sink_state::wanted_ms)
        .def_readonly("added_ms", &audio_sink_state::added_ms)
        .def_readonly("taken", &audio_sink_state::taken)
        .def_readonly("trouble", &audio_sink_state::trouble);
    block_class<audio_sink>(
        m, "audio_sink", "Samples to a sound device, opened again when it was lost.")
        .def(py::init(&audio_sink::make),
             py::arg("device") = "",
             py::arg("audio_rate") = 48000,
             py::arg("buffer_s") = 0.1,
             py::arg("channels") = 1)
        .def("state", &audio_sink::state);
}

std::vector<py::array_t<std::complex<float>>> cut(kernel::channeliser& c,
                                                  const array<std::complex<float>>& x)
{
    std::vector<std::vector<std::complex<float>>> out(c.channels());
    {
        py::gil_scoped_release release;
        c.push(x.data(), static_cast<size_t>(x.size()), out);
    }
    std::vector<py::array_t<std::complex<float>>> arrays;
    for (const auto& channel : out)
        arrays.push_back(to_array(channel));
    return arrays;
}

void bind_channeliser(py::module& m)
{
    using kernel::channeliser;
    py::class_<channeliser>(
        m,
        "channeliser",
        "Cuts channels out of one wide complex stream, each as baseband at its own, "
        "lower rate. Streaming.\n\nrate: of the stream, samples/s, a multiple of 20 and "
        "at least twice the channels'; centres_hz: from the middle of the stream; "
        "channel_rate: samples/s. Raises ValueError that names what does not fit.")
        .def(py::init<double, const std::vector<double>&, double>(),
             py::arg("rate"),
             py::arg("centres_hz"),
             py::arg("channel_rate") = static_cast<double>(audio_rates::default_modem))
        .def("push",
             &cut,
             py::arg("samples"),
             "Take complex samples. Returns the completed samples of each channel, all "
             "equally long.")
        .def_static("grid",
                    &channeliser::grid,
                    py::arg("rate"),
                    py::arg("spacing_hz"),
                    py::arg("channel_rate") =
                        static_cast<double>(audio_rates::default_modem),
                    "Centre frequencies from one end of a stream to the other, one of "
                    "them in its middle.")
        .def_property_readonly_static(
            "delay_s",
            [](const py::object&) { return channeliser::delay_s; },
            "Delay of the output: its sample 0 is of this time before the input.")
        .def_property_readonly_static(
            "block_s",
            [](const py::object&) { return channeliser::block_s; },
            "Silence needed after the last sample to output all earlier ones, s.");
}

void bind_audio_to_baseband(py::module& m)
{
    py::class_<kernel::audio_to_baseband>(
        m,
        "audio_to_baseband",
        "Samples of any rate, real or complex, to complex baseband of the modem. "
        "Streaming. Times are kept: output sample 0 lies at input sample "
        "0.\n\naudio_rate: samples/s, 8000 to 2 000 000; subcarrier_hz: frequency that "
        "becomes 0 Hz (0 for complex samples around the channel); modem_rate: samples/s "
        "of the output, 3200 for each kHz of bandwidth; blank_bursts: remove short "
        "bursts of noise before every filter. Raises ValueError.")
        .def(py::init<double, double, double, bool>(),
             py::arg("audio_rate"),
             py::arg("subcarrier_hz") = audio_rates::default_subcarrier,
             py::arg("modem_rate") = audio_rates::default_modem,
             py::arg("blank_bursts") = false)
        .def_property_readonly(
            "erased",
            [](const kernel::audio_to_baseband& c) -> py::object {
                if (c.erased().empty())
                    return py::none();
                return to_array(c.erased());
            },
            "For each sample that the last push() or finish() returned, the share of it "
            "that was blanked, 0 to 1, for receiver.push(). None if none was.")
        .def(
            "push",
            [](kernel::audio_to_baseband& c, const py::array& x) {
                return to_array(x.dtype().kind() == 'c' ? down<std::complex<float>>(c, x)
                                                        : down<float>(c, x));
            },
            py::arg("samples"),
            "Take real or complex samples. Returns the completed complex64 baseband. "
            "Samples that are not finite, or absurdly large, count as 0.")
        .def(
            "finish",
            [](kernel::audio_to_baseband& c) {
                std::vector<std::complex<float>> out;
                c.finish(out);
                return to_array(out);
            },
            "The rest, after the last samples.");
}

void bind_baseband_to_audio(py::module& m)
{
    py::class_<kernel::baseband_to_audio>(
        m,
        "baseband_to_audio",
        "Complex baseband of the modem to a real signal on a subcarrier. Streaming, "
        "times are kept, parameters as of audio_to_baseband. The audio's peak is at most "
        "that of the baseband's magnitude. Raises ValueError.")
        .def(py::init<double, double, double>(),
             py::arg("audio_rate"),
             py::arg("subcarrier_hz") = audio_rates::default_subcarrier,
             py::arg("modem_rate") = audio_rates::default_modem)
        .def(
            "push",
            [](kernel::baseband_to_audio& c, const array<std::complex<float>>& x) {
                std::vector<float> out;
                {
                    py::gil_scoped_release release;
                    c.push(x.data(), static_cast<size_t>(x.size()), out);
                }
                return to_array(out);
            },
            py::arg("samples"),
            "Take complex samples. Returns the completed float32 audio.")
        .def(
            "finish",
            [](kernel::baseband_to_audio& c) {
                std::vector<float> out;
                c.finish(out);
                return to_array(out);
            },
            "The rest, after the last samples.");
}

} // namespace

void bind_radio(py::module& m)
{
    bind_channeliser(m);
    bind_blocks_of_audio(m);
    bind_sound_devices(m);
    bind_audio_to_baseband(m);
    bind_baseband_to_audio(m);
    m.attr("BASEBAND_RATE") = static_cast<int>(audio_rates::default_modem);
    m.attr("MIN_AUDIO_RATE") = static_cast<int>(audio_rates::min_audio);
    m.attr("MAX_AUDIO_RATE") = static_cast<int>(audio_rates::max_audio);
}
