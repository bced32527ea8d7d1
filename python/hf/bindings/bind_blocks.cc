/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* BINDTOOL_HEADER_FILE(modem.h) */
/* BINDTOOL_HEADER_FILE_HASH(0) */
#include "mode_argument.h"

#include <hf/air.h>
#include <hf/ale_rx.h>
#include <hf/ale_station.h>
#include <hf/ale_tx.h>
#include <hf/channel.h>
#include <hf/emulated_air.h>
#include <hf/modem.h>
#include <hf/rx.h>
#include <hf/tx.h>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;
using namespace gr::hf;

namespace {

template <class T>
using sync_class =
    py::class_<T, gr::sync_block, gr::block, gr::basic_block, std::shared_ptr<T>>;

void bind_modem(py::module& m)
{
    py::class_<modem_state>(m, "modem_state")
        .def_readonly("transmitting", &modem_state::transmitting)
        .def_readonly("receiving", &modem_state::receiving)
        .def_readonly("carrier", &modem_state::carrier)
        .def_readonly("tx_mode", &modem_state::tx_mode)
        .def_readonly("rx_mode", &modem_state::rx_mode)
        .def_readonly("snr_db", &modem_state::snr_db)
        .def_readonly("freq_offset_hz", &modem_state::freq_offset_hz)
        .def_readonly("now", &modem_state::now)
        .def_readonly("transmissions", &modem_state::transmissions)
        .def_readonly("receptions", &modem_state::receptions)
        .def_readonly("octets_sent", &modem_state::octets_sent)
        .def_readonly("octets_received", &modem_state::octets_received)
        .def_readonly("late_answers", &modem_state::late_answers)
        .def_readonly("damaged", &modem_state::damaged);

    sync_class<modem>(
        m, "modem", "Half-duplex HF modem: received samples in, transmit samples out.")
        .def(py::init(&modem::make),
             py::arg("lock_step") = true,
             py::arg("zero_interleaver") = false,
             py::arg("agc_blocks") = 0,
             py::arg("effort") = 1,
             py::arg("start_delay_s") = std::nullopt,
             py::arg("level") = 1.6,
             py::arg("bandwidth") = 3)
        .def("state", &modem::state)
        .def("set_level", &modem::set_level, py::arg("level"));
}

void bind_tx_and_rx(py::module& m)
{
    sync_class<tx>(m, "tx", "Modulator: one transmission for each PDU.")
        .def(py::init([](const mode_argument& m,
                         int agc_blocks,
                         double gap_ms,
                         bool continuous,
                         double level) {
                 return tx::make(
                     mode_of(m).to_string(), agc_blocks, gap_ms, continuous, level);
             }),
             py::arg("mode"),
             py::arg("agc_blocks") = 0,
             py::arg("gap_ms") = 100.0,
             py::arg("continuous") = false,
             py::arg("level") = 1.6)
        .def("transmissions", &tx::transmissions)
        .def("dropped", &tx::dropped)
        .def("set_level", &tx::set_level, py::arg("level"));

    sync_class<rx>(m, "rx", "Receiver that finds every transmission by itself.")
        .def(py::init(&rx::make),
             py::arg("zero_interleaver") = false,
             py::arg("max_blocks") = 0,
             py::arg("effort") = 1,
             py::arg("bandwidth") = 3,
             py::arg("antennas") = 1,
             py::arg("join") = true)
        .def("receptions", &rx::receptions);
}

void bind_ale_blocks(py::module& m)
{
    sync_class<ale_rx>(m, "ale_rx", "Receiver of 2G ALE.")
        .def(py::init(&ale_rx::make))
        .def("frames", &ale_rx::frames);
    sync_class<ale_tx>(m, "ale_tx", "Transmitter of 2G ALE.")
        .def(py::init(&ale_tx::make),
             py::arg("channels") = 0,
             py::arg("sounds") = 2,
             py::arg("gap_ms") = 500.0,
             py::arg("continuous") = false,
             py::arg("level") = 1.0)
        .def("transmissions", &ale_tx::transmissions)
        .def("dropped", &ale_tx::dropped)
        .def("set_level", &ale_tx::set_level, py::arg("level"));
}

void bind_ale_quality(py::module& m)
{
    py::class_<ale_quality>(m, "ale_quality")
        .def_readonly("station", &ale_quality::station)
        .def_readonly("channel", &ale_quality::channel)
        .def_readonly("snr_db", &ale_quality::snr_db)
        .def_readonly("age_s", &ale_quality::age_s);
}

void bind_ale_station(py::module& m)
{
    bind_ale_quality(m);
    py::class_<ale_state>(m, "ale_state")
        .def_readonly("quality", &ale_state::quality)
        .def_readonly("state", &ale_state::state)
        .def_readonly("channel", &ale_state::channel)
        .def_readonly("peer", &ale_state::peer)
        .def_readonly("links", &ale_state::links)
        .def_readonly("failures", &ale_state::failures)
        .def_readonly("now", &ale_state::now);
    py::class_<ale_station,
               modem,
               gr::sync_block,
               gr::block,
               gr::basic_block,
               std::shared_ptr<ale_station>>(
        m, "ale_station", "Modem that finds its peers by 2G ALE.")
        .def(py::init([](const std::vector<std::string>& self,
                         int channels,
                         const std::map<std::string, std::string>& peers,
                         const std::map<std::string, std::vector<std::string>>& nets,
                         const std::map<std::string, int>& scanned,
                         bool wide,
                         int streams,
                         const std::map<std::string, double>& settings,
                         bool lock_step,
                         std::optional<double> start_delay_s,
                         double level,
                         uint64_t seed) {
                 return ale_station::make({ self, peers, nets, scanned },
                                          channels,
                                          wide,
                                          streams,
                                          settings,
                                          lock_step,
                                          start_delay_s,
                                          level,
                                          seed);
             }),
             py::arg("self_addresses"),
             py::arg("channels"),
             py::arg("peers") = std::map<std::string, std::string>(),
             py::arg("nets") = std::map<std::string, std::vector<std::string>>(),
             py::arg("scanned") = std::map<std::string, int>(),
             py::arg("wide") = false,
             py::arg("streams") = 1,
             py::arg("settings") = std::map<std::string, double>(),
             py::arg("lock_step") = true,
             py::arg("start_delay_s") = std::nullopt,
             py::arg("level") = 1.6,
             py::arg("seed") = 1)
        .def_static("settings", &ale_station::settings)
        .def_static("describe_settings", &ale_station::describe_settings)
        .def("ale", &ale_station::ale)
        .def("call", &ale_station::call, py::arg("to"), py::arg("text") = "")
        .def("hang_up", &ale_station::hang_up)
        .def("note",
             &ale_station::note,
             py::arg("station"),
             py::arg("channel"),
             py::arg("snr_db"));
}

void bind_channel_blocks(py::module& m)
{
    sync_class<channel>(m, "channel", "Simulated HF channel.")
        .def(py::init(&channel::make),
             py::arg("spec"),
             py::arg("seed") = 1,
             py::arg("signal_power") = 1.0,
             py::arg("sample_rate") = 9600.0)
        .def("set_spec", &channel::set_spec, py::arg("spec"));

    py::class_<air, std::shared_ptr<air>>(
        m, "air", "Simulated radio channel that joins the radios of several stations.")
        .def(py::init(&air::make),
             py::arg("stations") = 2,
             py::arg("channel") = "clear",
             py::arg("seed") = 1,
             py::arg("speed") = 0.0,
             py::arg("signal_power") = 1.0,
             py::arg("duration_s") = 0.0,
             py::arg("delay_ms") = 10.0,
             py::arg("bandwidth") = 3)
        .def("source", &air::source, py::arg("station"), "What a station hears.")
        .def("sink", &air::sink, py::arg("station"), "What a station transmits.")
        .def("set_speed", &air::set_speed, py::arg("speed"))
        .def("set_channel", &air::set_channel, py::arg("channel"))
        .def("end", &air::end)
        .def("now", &air::now);
}

void bind_emulated_air(py::module& m)
{
    py::class_<emulated_modem,
               gr::block,
               gr::basic_block,
               std::shared_ptr<emulated_modem>>(
        m, "emulated_modem", "Modem without samples, one station of an emulated_air.")
        .def("state", &emulated_modem::state);

    py::class_<emulated_air, std::shared_ptr<emulated_air>>(
        m, "emulated_air", "Channel and modems of several stations without samples.")
        .def(py::init(&emulated_air::make),
             py::arg("stations") = 2,
             py::arg("ber") = 0.0,
             py::arg("loss") = 0.0,
             py::arg("seed") = 1,
             py::arg("speed") = 1.0)
        .def("modem", &emulated_air::modem, py::arg("station"), "The modem of a station.")
        .def("set_speed", &emulated_air::set_speed, py::arg("speed"))
        .def("disturb", &emulated_air::disturb, py::arg("seconds"))
        .def("now", &emulated_air::now, "Station time, s.");
}

} // namespace

void bind_blocks(py::module& m)
{
    bind_modem(m);
    bind_tx_and_rx(m);
    bind_ale_blocks(m);
    bind_ale_station(m);
    bind_channel_blocks(m);
    bind_emulated_air(m);
}
