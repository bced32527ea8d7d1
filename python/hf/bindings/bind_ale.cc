/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ale/frames/frame_reader.h"
#include "ale/modem/transmitter.h"

#include <pybind11/complex.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;
using namespace gr::hf;
using namespace pybind11::literals;

namespace {

using samples =
    py::array_t<std::complex<float>, py::array::c_style | py::array::forcecast>;

py::dict word_dict(const ale::rx_event& e)
{
    if (e.what != ale::rx_event::kind::word)
        return py::dict("type"_a = e.what == ale::rx_event::kind::lost ? "lost" : "end",
                        "start_s"_a = e.start_s);
    return py::dict("type"_a = "word",
                    "start_s"_a = e.start_s,
                    "word"_a = e.text.to_string(),
                    "votes"_a = e.votes,
                    "score"_a = e.score,
                    "snr_db"_a = e.snr_db,
                    "freq_offset_hz"_a = e.offset_hz);
}

py::dict command_dict(const ale::command& c)
{
    py::list words;
    for (const auto& w : c.words)
        words.append(w.to_string());
    py::dict d("text"_a = c.to_string(), "words"_a = words, "whole"_a = c.whole);
    if (c.what == ale::command::kind::text)
        d["amd"] = c.text;
    if (c.what == ale::command::kind::data) {
        d["dtm"] = c.text;
        d["crc_ok"] = c.sound;
    }
    if (c.what == ale::command::kind::lqa)
        d["lqa"] = py::dict("wanted"_a = c.report.wanted,
                            "multipath_ms"_a = c.report.multipath_ms,
                            "sinad_db"_a = c.report.sinad_db,
                            "bit_errors"_a = c.report.bit_errors);
    return d;
}

py::dict frame_dict(const ale::frame& f)
{
    py::list commands;
    for (const auto& c : f.commands)
        commands.append(command_dict(c));
    py::dict d("type"_a = "frame",
               "kind"_a = to_string(f.kind()),
               "text"_a = f.to_string(),
               "to"_a = f.to,
               "quick_id"_a = f.quick_id,
               "commands"_a = commands,
               "answer_wanted"_a = f.answer_wanted,
               "start_s"_a = f.start_s,
               "end_s"_a = f.end_s,
               "words"_a = f.words,
               "lost"_a = f.lost,
               "snr_db"_a = f.snr_db,
               "freq_offset_hz"_a = f.offset_hz,
               "bit_errors"_a = f.bit_errors);
    d["from"] = f.from;
    return d;
}

//! Receiver and frame reader in one.
class reception
{
public:
    std::vector<py::dict> push(const samples& x)
    {
        std::vector<ale::rx_event> events;
        {
            const py::gil_scoped_release release;
            d_receiver.push(x.data(), static_cast<size_t>(x.size()));
            while (const auto e = d_receiver.poll())
                events.push_back(*e);
        }
        std::vector<py::dict> found;
        for (const auto& e : events) {
            found.push_back(word_dict(e));
            d_reader.push(e);
            take_frames(found);
        }
        return found;
    }
    std::vector<py::dict> finish()
    {
        std::vector<py::dict> found;
        d_reader.finish();
        take_frames(found);
        return found;
    }

private:
    void take_frames(std::vector<py::dict>& found)
    {
        while (const auto f = d_reader.poll())
            found.push_back(frame_dict(*f));
    }
    ale::receiver d_receiver;
    ale::frame_reader d_reader;
};

std::vector<std::string> words_of(const std::string& from,
                                  const std::vector<std::string>& to,
                                  int channels,
                                  const std::string& quick_id,
                                  bool report_wanted,
                                  const std::string& text,
                                  bool answer_wanted,
                                  size_t sounds)
{
    ale::frame_plan plan;
    plan.from = from;
    plan.to = to;
    plan.channels = channels;
    plan.quick_id = quick_id;
    if (report_wanted) {
        plan.report.emplace();
        plan.report->wanted = true;
    }
    plan.text = text;
    plan.answer_wanted = answer_wanted;
    plan.sounds = sounds;
    std::vector<std::string> texts;
    for (const auto& w : ale::words_of(plan))
        texts.push_back(w.to_string());
    return texts;
}

samples modulate(const std::vector<std::string>& texts, double rate, double centre_hz)
{
    std::vector<ale::word> words;
    for (const auto& text : texts) {
        const auto w = ale::word::parse(text);
        if (!w)
            throw py::value_error(
                "word '" + text +
                "': allowed are DATA, THRU, TO, TWAS, FROM, TIS, CMD or "
                "REP, a colon and three characters, as TO:BOB");
        words.push_back(*w);
    }
    ale::transmitter transmitter(words, rate, centre_hz);
    samples x(static_cast<py::ssize_t>(transmitter.length()));
    transmitter.produce(x.mutable_data(), transmitter.length());
    return x;
}

} // namespace

void bind_ale(py::module& m)
{
    m.def(
        "ale_words",
        &words_of,
        py::arg("from_"),
        py::arg("to") = std::vector<std::string>(),
        py::arg("channels") = 0,
        py::arg("quick_id") = "",
        py::arg("report_wanted") = false,
        py::arg("text") = "",
        py::arg("answer_wanted") = true,
        py::arg("sounds") = 2,
        "Words of a frame of 2G ALE (MIL-STD-188-141 Appendix A), for example TO:BOB.\n\n"
        "from_: own address, 1 to 15 of A-Z and 0-9. to: called addresses; none: a "
        "sound, "
        "which repeats the own address sounds times. channels: number of channels that "
        "the called station scans, 0 to 100; 0: it does not scan. quick_id: address to "
        "send before a message. report_wanted: ask for a link quality report. text: AMD "
        "message, up to 90 characters. answer_wanted: conclude with TIS, else TWAS.\n\n"
        "Raises ValueError.");
    m.def("ale_modulate",
          &modulate,
          py::arg("words"),
          py::arg("rate") = 9600.0,
          py::arg("centre_hz") = 1800.0,
          "Words of 2G ALE as complex64 samples of magnitude 1. rate: samples/s. "
          "centre_hz: "
          "audio frequency that is 0 Hz in the samples. 0: the real parts are audio.\n\n"
          "Raises ValueError.");
    py::class_<reception>(
        m,
        "ale_receiver",
        "Receiver of 2G ALE (MIL-STD-188-141 Appendix A): baseband to words and frames.")
        .def(py::init())
        .def("push",
             &reception::push,
             py::arg("samples"),
             "Take complex samples at 9600/s, with 1800 Hz of audio at 0 Hz. Returns the "
             "events, dictionaries with the key type: word, lost (where one was "
             "expected), "
             "end (of a transmission) or frame. start_s is in seconds of input. votes: "
             "unanimous ones, 0 to 48. bit_errors: mean number of others.")
        .def("finish",
             &reception::finish,
             "End of the input. Returns the rest of the frames.");
}
