/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/burst_receiver.h"
#include "modem/combining_receiver.h"
#include "modem/diversity_receiver.h"
#include "waveform/family.h"

#include <pybind11/complex.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;
using namespace gr::hf;

namespace {

using samples =
    py::array_t<std::complex<float>, py::array::c_style | py::array::forcecast>;
using shares = py::array_t<float, py::array::c_style | py::array::forcecast>;

const char* reason_name(rx_end_reason r)
{
    switch (r) {
    case rx_end_reason::eom:
        return "eom";
    case rx_end_reason::preempted:
        return "preempted";
    case rx_end_reason::limit:
        return "limit";
    default:
        return "lost";
    }
}

py::dict event_dict(const kernel::rx_event& e, const kernel::symbol_grid& grid)
{
    using namespace pybind11::literals;
    const double time = static_cast<double>(e.sample) / grid.sample_rate();
    if (const auto* s = std::get_if<rx_start>(&e.what))
        return py::dict("type"_a = "start",
                        "time"_a = time,
                        "mode"_a = s->m.to_string(),
                        "snr_db"_a = s->snr_db,
                        "freq_offset_hz"_a = s->freq_offset_hz,
                        "joined"_a = s->joined);
    if (const auto* o = std::get_if<rx_octets>(&e.what)) {
        py::dict d("type"_a = "octets",
                   "time"_a = time,
                   "octets"_a = py::bytes(reinterpret_cast<const char*>(o->octets.data()),
                                          o->octets.size()),
                   "snr_db"_a = o->snr_db,
                   "quality"_a = o->quality,
                   "reading"_a = to_string(o->reading));
        if (!e.channel.profile.empty()) {
            d["freq_offset_hz"] = e.channel.freq_offset_hz;
            d["doppler_hz"] = e.channel.doppler_hz;
            d["delay_spread_ms"] = e.channel.delay_spread_ms;
            d["coded_ber"] = e.channel.coded_ber;
            d["profile"] = e.channel.profile;
        }
        if (e.details) {
            const auto& x = *e.details;
            d["symbols"] =
                samples(static_cast<py::ssize_t>(x.symbols.size()), x.symbols.data());
            d["llrs"] = shares(static_cast<py::ssize_t>(x.llrs.size()), x.llrs.data());
            const size_t width = x.taps.empty() ? 1 : e.channel.profile.size();
            d["taps"] = samples(static_cast<py::ssize_t>(x.taps.size()), x.taps.data())
                            .reshape({ static_cast<py::ssize_t>(x.taps.size() / width),
                                       static_cast<py::ssize_t>(width) });
        }
        return d;
    }
    const auto& end = std::get<rx_end>(e.what);
    return py::dict("type"_a = "end",
                    "time"_a = time,
                    "reason"_a = reason_name(end.reason),
                    "sure_octets"_a = end.sure_octets < 0 ? py::object(py::none())
                                                          : py::cast(end.sure_octets));
}

std::vector<py::dict> receive(kernel::burst_receiver& rx,
                              const samples& in,
                              const std::optional<shares>& erased)
{
    if (erased && erased->size() != in.size())
        throw py::value_error("erased has " + std::to_string(erased->size()) +
                              " values for " + std::to_string(in.size()) + " samples");
    {
        py::gil_scoped_release release;
        rx.push(
            in.data(), static_cast<size_t>(in.size()), erased ? erased->data() : nullptr);
    }
    std::vector<py::dict> events;
    while (const auto e = rx.poll())
        events.push_back(event_dict(*e, rx.grid()));
    return events;
}

std::vector<py::dict> receive_both(kernel::diversity_receiver& rx,
                                   const samples& a,
                                   const samples& b,
                                   const std::optional<shares>& a_erased,
                                   const std::optional<shares>& b_erased)
{
    const auto n = a.size();
    if (b.size() != n || (a_erased && a_erased->size() != n) ||
        (b_erased && b_erased->size() != n))
        throw py::value_error("diversity_receiver: " + std::to_string(n) +
                              " samples of the first antenna need as many of the second, "
                              "and as many values of what was erased");
    {
        const py::gil_scoped_release release;
        rx.push(a.data(),
                b.data(),
                static_cast<size_t>(n),
                a_erased ? a_erased->data() : nullptr,
                b_erased ? b_erased->data() : nullptr);
    }
    std::vector<py::dict> events;
    while (const auto e = rx.poll())
        events.push_back(event_dict(*e, rx.grid()));
    return events;
}

void bind_receiver(py::module& m)
{
    py::class_<kernel::burst_receiver>(
        m,
        "receiver",
        "Receiver of all transmissions on the air. It needs no parameters of them.")
        .def(py::init([](bool zero_interleaver,
                         size_t max_blocks,
                         int effort,
                         int bandwidth,
                         bool details,
                         bool join) {
                 kernel::rx_options o;
                 o.zero_interleaver = zero_interleaver;
                 o.max_blocks = max_blocks;
                 o.effort = effort;
                 auto rx = std::make_unique<kernel::burst_receiver>(
                     o, kernel::listened_for(bandwidth, join));
                 rx->keep_details(details);
                 return rx;
             }),
             py::arg("zero_interleaver") = false,
             py::arg("max_blocks") = 0,
             py::arg("effort") = 1,
             py::arg("bandwidth") = 3,
             py::arg("details") = false,
             py::arg("join") = true,
             "details: events of decoded blocks also hold symbols (equalised, PSK "
             "without scrambling), llrs (input of the decoder, positive for 0) and taps "
             "(frames by delays), as arrays. join: join transmissions of 5069 whose "
             "preamble was missed, at the start of a Long block. The mode is found by "
             "what can be decoded.")
        .def("push",
             &receive,
             py::arg("samples"),
             py::arg("erased") = py::none(),
             "Take complex samples, 3200/s for each kHz of bandwidth. Returns the "
             "events, a list of dictionaries with the key type: start, octets or end. "
             "Times are in seconds of input. erased: for each sample the share, 0 to 1, "
             "that was blanked before, see audio_to_baseband.");
}

void bind_diversity_receiver(py::module& m)
{
    py::class_<kernel::diversity_receiver>(
        m,
        "diversity_receiver",
        "Receiver of two antennas, or of two radios. Their soft bits are decoded "
        "together. Where one hears nothing, the other goes on alone.")
        .def(py::init([](bool zero_interleaver,
                         int effort,
                         int bandwidth,
                         bool details,
                         bool join) {
                 kernel::rx_options o;
                 o.zero_interleaver = zero_interleaver;
                 o.effort = effort;
                 auto rx = std::make_unique<kernel::diversity_receiver>(
                     o, kernel::listened_for(bandwidth, join));
                 rx->keep_details(details);
                 return rx;
             }),
             py::arg("zero_interleaver") = false,
             py::arg("effort") = 1,
             py::arg("bandwidth") = 3,
             py::arg("details") = false,
             py::arg("join") = true,
             "As hf.receiver.")
        .def("push",
             &receive_both,
             py::arg("first"),
             py::arg("second"),
             py::arg("first_erased") = py::none(),
             py::arg("second_erased") = py::none(),
             "Take the same number of simultaneous complex samples of both antennas. "
             "Returns the events as hf.receiver does, and takes erased shares in the "
             "same way.")
        .def_property_readonly("joint_blocks",
                               &kernel::diversity_receiver::joint_blocks,
                               "Blocks that were decoded from both antennas.")
        .def_property_readonly("blocks",
                               &kernel::diversity_receiver::blocks,
                               "Decoded blocks, of modes that can be decoded from both.");
}

void push_one(kernel::combining_receiver& rx,
              size_t receiver,
              const samples& in,
              const std::optional<shares>& erased)
{
    if (receiver >= rx.receivers())
        throw py::value_error("receiver " + std::to_string(receiver) +
                              ": allowed are 0 to " + std::to_string(rx.receivers() - 1));
    if (erased && erased->size() != in.size())
        throw py::value_error("erased has " + std::to_string(erased->size()) +
                              " values for " + std::to_string(in.size()) + " samples");
    const py::gil_scoped_release release;
    rx.push(receiver,
            in.data(),
            static_cast<size_t>(in.size()),
            erased ? erased->data() : nullptr);
}

py::dict message_dict(const kernel::combined_message& c)
{
    using namespace pybind11::literals;
    py::list parts;
    for (const auto& p : c.parts)
        parts.append(py::dict("receiver"_a = p.receiver,
                              "begin"_a = p.begin_s,
                              "freq_offset_hz"_a = p.freq_hz,
                              "snr_db"_a = p.snr_db,
                              "doppler_hz"_a = p.doppler_hz,
                              "delay_spread_ms"_a = p.delay_spread_ms,
                              "blocks"_a = p.blocks,
                              "joined"_a = p.joined));
    return py::dict("mode"_a = c.m.to_string(),
                    "reading"_a = to_string(c.m.reading),
                    "joined"_a = c.joined,
                    "complete"_a = c.complete,
                    "octets"_a = py::bytes(reinterpret_cast<const char*>(c.octets.data()),
                                           c.octets.size()),
                    "blocks"_a = c.blocks,
                    "coded_ber"_a = c.coded_ber,
                    "parts"_a = parts);
}

std::vector<py::dict> combine(const kernel::combining_receiver& rx)
{
    std::vector<kernel::combined_message> messages;
    {
        const py::gil_scoped_release release;
        messages = rx.combine();
    }
    std::vector<py::dict> dicts;
    for (const auto& m : messages)
        dicts.push_back(message_dict(m));
    return dicts;
}

void bind_combining_receiver(py::module& m)
{
    py::class_<kernel::combining_receiver>(
        m,
        "combining_receiver",
        "Receivers at 2 to 6 places that heard the same transmissions, each with its own "
        "clock and start time. Decodes every transmission from the soft bits of all.")
        .def(py::init([](size_t receivers,
                         bool zero_interleaver,
                         int effort,
                         int bandwidth,
                         bool join) {
                 kernel::rx_options o;
                 o.zero_interleaver = zero_interleaver;
                 o.effort = effort;
                 return std::make_unique<kernel::combining_receiver>(
                     receivers, o, kernel::listened_for(bandwidth, join));
             }),
             py::arg("receivers"),
             py::arg("zero_interleaver") = false,
             py::arg("effort") = 1,
             py::arg("bandwidth") = 3,
             py::arg("join") = true,
             "receivers: their number, 2 to 6. The other options as in hf.receiver.")
        .def("push",
             &push_one,
             py::arg("receiver"),
             py::arg("samples"),
             py::arg("erased") = py::none(),
             "Take complex samples of one receiver, numbered from 0, as hf.receiver "
             "does. Receivers may be pushed in turns, one after the other, or from "
             "several threads, one for each receiver. End each with 12 s of zeros.")
        .def(
            "again",
            &kernel::combining_receiver::again,
            "True if a second reading may help. Then push all samples of every receiver "
            "again, from the first on: each looks for the transmissions that only others "
            "have found.")
        .def("heard",
             &kernel::combining_receiver::heard,
             py::arg("receiver"),
             "Number of transmissions that a receiver found by itself.")
        .def("combine",
             &combine,
             "Combine and decode everything pushed. Returns a list of dictionaries, one "
             "for each transmission, in order of time: mode, reading, joined (every "
             "receiver missed its start), complete (its end-of-message marker was "
             "found), octets, blocks, coded_ber (share of coded bits that the decoder "
             "corrected) and parts. A part is what one receiver contributed: receiver, "
             "begin (first symbol of the data, s of its input), freq_offset_hz, snr_db, "
             "doppler_hz, delay_spread_ms, blocks, joined. The most certain one is "
             "first.");
}

} // namespace

void bind_receivers(py::module& m)
{
    bind_receiver(m);
    bind_diversity_receiver(m);
    bind_combining_receiver(m);
}
