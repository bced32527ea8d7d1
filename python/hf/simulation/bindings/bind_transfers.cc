/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* BINDTOOL_HEADER_FILE(sim.h) */
/* BINDTOOL_HEADER_FILE_HASH(0) */
#include "air_path.h"
#include "progress.h"
#include "s5066/config/node_settings.h"
#include "s5066/rate/block_errors.h"
#include "sim/stations/station.h"
#include "sim/stations/traffic.h"
#include "sim/transfers/exchanges.h"
#include "sim/transfers/real_transfer.h"

#include <memory>
#include <optional>
#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;
using namespace gr::hf;

namespace {

constexpr uint8_t sap = 12;

void check_transfer(size_t u_pdu_octets, double ber, std::optional<double> snr_db)
{
    if (u_pdu_octets < 8 || u_pdu_octets > s5066::sis_mtu)
        throw std::invalid_argument("u_pdu_octets " + std::to_string(u_pdu_octets) +
                                    ": allowed are 8 to 2048");
    if (snr_db && (ber > 0 || !(*snr_db >= -40 && *snr_db <= 100)))
        throw std::invalid_argument("snr_db " + std::to_string(*snr_db) +
                                    ": allowed are -40 to 100, without ber");
}

sim::air_path measured_path(double ber, double loss, std::optional<double> snr_db)
{
    sim::air_path path = path_of(ber, loss);
    if (snr_db) {
        path.snr_db = *snr_db;
        path.blocks = std::make_shared<const s5066::block_error_curves>(
            s5066::measured_block_errors("awgn"));
    }
    return path;
}

s5066::delivery_mode service_of(bool arq)
{
    s5066::delivery_mode service;
    service.mode =
        arq ? s5066::transmission_mode::arq : s5066::transmission_mode::non_arq;
    service.confirmation =
        arq ? s5066::delivery_confirmation::node : s5066::delivery_confirmation::none;
    service.order = s5066::delivery_order::as_they_arrive;
    return service;
}

/*! \brief Two stations over emulated modems. The first sends octets to the second.
 *  \details Runs in virtual time until everything is confirmed or has failed.
 */
py::dict simulate(const std::string& mode_text,
                  size_t octets,
                  size_t u_pdu_octets,
                  bool arq,
                  const std::string& ack_mode,
                  double ber,
                  double loss,
                  uint64_t seed,
                  const s5066::node_settings& settings,
                  double limit_s,
                  const std::function<void(double, const std::string&)>& log,
                  std::optional<double> snr_db,
                  const std::function<void(double)>& progress)
{
    using namespace pybind11::literals;
    check_transfer(u_pdu_octets, ber, snr_db);
    sim::scheduler scheduler;
    sim::emulated_air air(scheduler, seed);
    air.set_default_path(measured_path(ber, loss, snr_db));

    s5066::node_config config;
    config.mode = mode_text;
    config.ack_mode = ack_mode;
    config.trace = static_cast<bool>(log);
    config.seed = seed * 2;
    s5066::apply(settings, config);
    config.own = s5066::address("1.2.0.1");
    sim::station a(scheduler, air, config);
    config.own = s5066::address("1.2.0.2");
    config.seed += 1;
    sim::station b(scheduler, air, config);
    if (log) {
        a.on_trace = [&](const s5066::log_record& l) {
            log(to_seconds(l.time), "A " + l.text);
        };
        b.on_trace = [&](const s5066::log_record& l) {
            log(to_seconds(l.time), "B " + l.text);
        };
    }

    sim::bulk_source source(scheduler, a, sap, service_of(arq));
    sim::bulk_sink sink(scheduler, b, sap);
    source.send(s5066::address("1.2.0.2"), octets, u_pdu_octets);

    const uint64_t u_pdus = (octets + u_pdu_octets - 1) / u_pdu_octets;
    const auto tell = seldom(progress);
    const auto done = [&] {
        if (tell)
            tell(static_cast<double>(sink.octets()) / static_cast<double>(octets));
        return arq ? source.confirmed() + source.rejected() >= u_pdus
                   : sink.octets() >= octets;
    };
    const bool complete = scheduler.run_until(done, from_seconds(limit_s));
    const auto& sent = a.node().stats();
    return py::dict("complete"_a = complete && source.rejected() == 0,
                    "octets_delivered"_a = sink.octets(),
                    "octets_altered"_a = sink.altered(),
                    "u_pdus_rejected"_a = source.rejected(),
                    "time_s"_a = to_seconds(sink.last()),
                    "end_s"_a = to_seconds(scheduler.now()),
                    "transmissions"_a = sent.transmissions,
                    "d_pdus_sent"_a = sent.d_pdus_sent[0] + sent.d_pdus_sent[2] +
                                      sent.d_pdus_sent[9] + sent.d_pdus_sent[11],
                    "d_pdus_repeated"_a = sent.d_pdus_repeated,
                    "silent_rounds"_a = sent.silent_rounds,
                    "tx_time_s"_a = to_seconds(sent.tx_time));
}

//! Two stations over real waveforms, sample by sample.
py::dict simulate_real(sim::real_transfer& t,
                       const std::function<void(double, const std::string&)>& log,
                       const std::function<void(double)>& progress)
{
    using namespace pybind11::literals;
    t.progress = seldom(progress);
    sim::real_transfer_result r;
    {
        py::gil_scoped_release release;
        r = sim::run(t);
    }
    if (log)
        for (const auto& [time_s, line] : r.log)
            log(time_s, line);
    const auto& sent = r.node;
    return py::dict("complete"_a = r.complete,
                    "octets_delivered"_a = r.receiver.octets_received,
                    "octets_altered"_a = r.receiver.octets_damaged,
                    "u_pdus_rejected"_a = sent.u_pdus_rejected,
                    "time_s"_a = r.receiver.last_received,
                    "end_s"_a = r.end_s,
                    "transmissions"_a = sent.transmissions,
                    "d_pdus_sent"_a = sent.d_pdus_sent[0] + sent.d_pdus_sent[2] +
                                      sent.d_pdus_sent[9] + sent.d_pdus_sent[11],
                    "d_pdus_repeated"_a = sent.d_pdus_repeated,
                    "silent_rounds"_a = sent.silent_rounds,
                    "segments_damaged"_a = r.far.segment_crc_errors,
                    "segments_repaired"_a = r.far.segments_repaired,
                    "segments_summed"_a = r.far.segments_summed,
                    "headers_recovered"_a = r.far.headers_recovered,
                    "tx_time_s"_a = to_seconds(sent.tx_time));
}

py::dict simulate_tcp(const std::string& mode,
                      const std::string& content,
                      double ber,
                      double loss,
                      uint64_t seed,
                      bool compress,
                      uint16_t port,
                      unsigned earlier,
                      const std::string& ack_mode,
                      const s5066::node_settings& settings,
                      const std::optional<std::string>& channel,
                      int effort,
                      bool acquainted)
{
    using namespace pybind11::literals;
    sim::tcp_transfer t;
    t.mode = mode;
    t.content.assign(content.begin(), content.end());
    t.on_path = path_of(ber, loss);
    t.seed = seed;
    t.compress = compress;
    t.port = port;
    t.earlier = earlier;
    t.ack_mode = ack_mode;
    t.settings = settings;
    t.acquainted = acquainted;
    if (channel) {
        if (ber > 0 || loss > 0)
            throw std::invalid_argument(
                "ber, loss: they belong to emulated modems, and go "
                "with no channel");
        t.waveforms = sim::waveform_link{ *channel, 0, effort };
    }
    sim::tcp_times r;
    {
        py::gil_scoped_release release;
        r = sim::measure(t);
    }
    return py::dict("complete"_a = r.complete,
                    "connect_s"_a = r.connect_s,
                    "total_s"_a = r.total_s,
                    "latency_s"_a = r.latency_s,
                    "confirmed_s"_a = r.confirmed_s,
                    "close_s"_a = r.close_s,
                    "transmissions"_a = r.transmissions,
                    "octets_over_hf"_a = r.octets_over_hf,
                    "end_s"_a = r.end_s);
}

std::vector<double> simulate_ping(const std::string& mode,
                                  bool icmp,
                                  size_t octets,
                                  int count,
                                  double gap_s,
                                  double limit_s,
                                  const std::string& ack_mode,
                                  double ber,
                                  double loss,
                                  uint64_t seed,
                                  bool arq)
{
    sim::ping_series p;
    p.arq = arq;
    p.mode = mode;
    p.ack_mode = ack_mode;
    p.icmp = icmp;
    p.octets = octets;
    p.count = count;
    p.gap_s = gap_s;
    p.limit_s = limit_s;
    p.on_path = path_of(ber, loss);
    p.seed = seed;
    return sim::measure(p);
}

void bind_transfer(py::module& m)
{
    m.def("simulate",
          &simulate,
          py::arg("mode"),
          py::arg("octets"),
          py::arg("u_pdu_octets") = 2042,
          py::arg("arq") = true,
          py::arg("ack_mode") = "auto",
          py::arg("ber") = 0.0,
          py::arg("loss") = 0.0,
          py::arg("seed") = 1,
          py::arg("settings") = s5066::node_settings(),
          py::arg("limit_s") = 1e6,
          py::arg("log") = std::function<void(double, const std::string&)>(),
          py::arg("snr_db") = std::nullopt,
          py::arg("progress") = std::function<void(double)>(),
          "Two stations over emulated modems in virtual time. The first sends octets to "
          "the second. snr_db, in the mode's bandwidth: use the block errors measured at "
          "this SNR without fading. None: 30 dB, and the errors of ber. progress: called "
          "now and then with the share of the octets that arrived, 0 to 1. Returns a "
          "dictionary of what was delivered, when, and with how much effort.");
}

void bind_real_transfer(py::module& m)
{
    m.def(
        "simulate_real",
        [](const std::string& mode_text,
           uint64_t octets,
           size_t u_pdu_octets,
           bool arq,
           const std::string& ack_mode,
           const std::string& channel,
           uint64_t seed,
           const s5066::node_settings& settings,
           double limit_s,
           int effort,
           const std::function<void(double, const std::string&)>& log,
           double signal_power,
           const std::function<void(double)>& progress) {
            sim::real_transfer t;
            t.link.signal_power = signal_power;
            t.mode = mode_text;
            t.octets = octets;
            t.u_pdu_octets = u_pdu_octets;
            t.arq = arq;
            t.ack_mode = ack_mode;
            t.link.channel = channel;
            t.seed = seed;
            t.data_link = settings;
            t.limit_s = limit_s;
            t.link.effort = effort;
            t.log = static_cast<bool>(log);
            return simulate_real(t, log, progress);
        },
        py::arg("mode") = "4539-9600S",
        py::arg("octets") = 100000,
        py::arg("u_pdu_octets") = 2042,
        py::arg("arq") = true,
        py::arg("ack_mode") = "auto",
        py::arg("channel") = "awgn snr=30",
        py::arg("seed") = 1,
        py::arg("settings") = s5066::node_settings(),
        py::arg("limit_s") = 86400,
        py::arg("effort") = 1,
        py::arg("log") = std::function<void(double, const std::string&)>(),
        py::arg("signal_power") = 0.0,
        py::arg("progress") = std::function<void(double)>(),
        "As simulate(), over real waveforms and a simulated channel, in one thread. It "
        "has the same events at the same times as a flowgraph of two stations in lock "
        "step. Counts of the receiver: segments_damaged, segments_repaired from several "
        "copies, segments_summed of these from soft bits, headers_recovered from known "
        "octets. log: called with station time (s) and line at the end. signal_power: "
        "the reference of snr=, 0: that of the mode, or of the fastest. progress: called "
        "now and then with the completed share of the octets, 0 to 1. Raises "
        "ValueError.");
}

void bind_tcp(py::module& m)
{
    m.def("simulate_tcp",
          &simulate_tcp,
          py::arg("mode"),
          py::arg("content"),
          py::arg("ber") = 0.0,
          py::arg("loss") = 0.0,
          py::arg("seed") = 1,
          py::arg("compress") = false,
          py::arg("port") = 8000,
          py::arg("earlier") = 0,
          py::arg("ack_mode") = "auto",
          py::arg("settings") = s5066::node_settings(),
          py::arg("channel") = std::nullopt,
          py::arg("effort") = 1,
          py::arg("acquainted") = true,
          "One TCP transfer through HF-PEP over emulated modems in virtual time: "
          "connect, content (bytes), short confirmation, close. With a channel (words as "
          "in hf.channel) it runs over real waveforms, sample by sample, with receivers "
          "of the given effort. port chooses the preset dictionary. earlier: number of "
          "earlier transfers of the same content. acquainted: the stations have been in "
          "contact before, so that no restart is signalled. Returns a dictionary. "
          "complete: every octet arrived unaltered. Times in seconds are from the SYN, "
          "close_s from close() to both FINs.");
}

void bind_ping(py::module& m)
{
    m.def("simulate_ping",
          &simulate_ping,
          py::arg("mode"),
          py::arg("icmp") = true,
          py::arg("octets") = 84,
          py::arg("count") = 6,
          py::arg("gap_s") = 10.0,
          py::arg("limit_s") = 600.0,
          py::arg("ack_mode") = "auto",
          py::arg("ber") = 0.0,
          py::arg("loss") = 0.0,
          py::arg("seed") = 1,
          py::arg("arq") = true,
          "Echo requests one after the other over emulated modems in virtual time: ICMP "
          "through the IP client, or U_PDUs of the data link. Returns round-trip times "
          "in seconds, negative without an answer.");
}

} // namespace

void bind_transfers(py::module& m)
{
    bind_transfer(m);
    bind_real_transfer(m);
    bind_tcp(m);
    bind_ping(m);
}
