/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* BINDTOOL_HEADER_FILE(sim.h) */
/* BINDTOOL_HEADER_FILE_HASH(0) */
#include "progress.h"
#include "s5066/config/node_settings.h"
#include "s5066/pdu/d_pdu.h"
#include "s5066/rate/adaptive_rate.h"
#include "s5066/rate/block_errors.h"
#include "sim/stations/station.h"
#include "sim/stations/traffic.h"
#include "sim/trials/mixed_traffic.h"
#include "sim/trials/rate_trial.h"
#include "sim/trials/real_transfer.h"
#include "sim/trials/sharing.h"

#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;
using namespace gr::hf;

namespace {

constexpr uint8_t sap = 12;

void check_transfer(size_t u_pdu_octets,
                    double ber,
                    double loss,
                    std::optional<double> snr_db)
{
    if (u_pdu_octets < 8 || u_pdu_octets > s5066::sis_mtu)
        throw std::invalid_argument("u_pdu_octets " + std::to_string(u_pdu_octets) +
                                    ": allowed are 8 to 2048");
    if (!(ber >= 0 && ber <= 0.5) || !(loss >= 0 && loss <= 1))
        throw std::invalid_argument("ber " + std::to_string(ber) + ", loss " +
                                    std::to_string(loss) +
                                    ": allowed are 0 to 0.5 and 0 to 1");
    if (snr_db && (ber > 0 || !(*snr_db >= -40 && *snr_db <= 100)))
        throw std::invalid_argument("snr_db " + std::to_string(*snr_db) +
                                    ": allowed are -40 to 100, without ber");
}

sim::air_path path_of(double ber, double loss, std::optional<double> snr_db)
{
    sim::air_path path;
    path.ber = ber;
    path.loss = loss;
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
    check_transfer(u_pdu_octets, ber, loss, snr_db);
    sim::scheduler scheduler;
    sim::emulated_air air(scheduler, seed);
    air.set_default_path(path_of(ber, loss, snr_db));

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

//! Bulk over a changing channel, compared with the best fixed mode of each minute.
py::dict simulate_rates(const std::string& mode_text,
                        double hours,
                        double mean_db,
                        double swing_db,
                        double slow_db,
                        double fading_hz,
                        uint64_t seed,
                        std::optional<double> back_mean_db,
                        const std::string& back_mode)
{
    using namespace pybind11::literals;
    sim::rate_trial t;
    t.mode = mode_text;
    t.back_mean_db = back_mean_db;
    t.back_mode = back_mode;
    t.duration_s = 3600 * hours;
    t.channel.mean_db = mean_db;
    t.channel.swing_db = swing_db;
    t.channel.slow_db = slow_db;
    t.channel.fading_hz = fading_hz;
    t.channel.seed = t.seed = seed;
    const auto r = sim::run(t);
    return py::dict("goodput_bps"_a = r.goodput_bps,
                    "oracle_bps"_a = r.oracle_bps,
                    "transmissions"_a = r.transmissions,
                    "silent_rounds"_a = r.silent_rounds,
                    "links_failed"_a = r.links_failed,
                    "air_time_s"_a = r.air_time_s,
                    "altered"_a = r.altered);
}

//! Traffic of all kinds into two pcap files.
py::dict simulate_mixed(const std::string& d_pdu_path,
                        const std::string& sis_path,
                        double hours,
                        uint64_t seed,
                        const std::function<void(double)>& progress)
{
    using namespace pybind11::literals;
    std::ofstream files[2];
    for (size_t k = 0; k < 2; ++k) {
        const auto& path = k == 0 ? d_pdu_path : sis_path;
        files[k].open(path, std::ios::binary | std::ios::trunc);
        if (!files[k])
            throw std::invalid_argument("capture file '" + path + "' cannot be made");
    }
    const auto into = [](std::ofstream& f) {
        return [&f](const std::vector<uint8_t>& v) {
            f.write(reinterpret_cast<const char*>(v.data()),
                    static_cast<std::streamsize>(v.size()));
        };
    };
    sim::mixed_traffic t;
    t.duration_s = 3600 * hours;
    t.seed = seed;
    const auto r = sim::run(t, into(files[0]), into(files[1]), seldom(progress));
    py::dict d_pdus, primitives;
    for (size_t k = 0; k < r.d_pdus.size(); ++k)
        if (r.d_pdus[k] > 0)
            d_pdus[s5066::to_string(static_cast<s5066::d_pdu_type>(k))] = r.d_pdus[k];
    for (size_t k = 0; k < r.primitives.size(); ++k)
        if (r.primitives[k] > 0)
            primitives[py::str(std::to_string(k))] = r.primitives[k];
    return py::dict("d_pdus"_a = d_pdus,
                    "primitives"_a = primitives,
                    "restarts"_a = r.restarts,
                    "resets"_a = r.resets,
                    "hard_links"_a = r.hard_links);
}

//! Stations that share one channel.
py::dict simulate_sharing(const std::string& mode_text,
                          unsigned stations,
                          double hours,
                          double load_bps,
                          const std::string& pattern,
                          double late_s,
                          bool hidden,
                          const s5066::node_settings& settings,
                          uint64_t seed)
{
    using namespace pybind11::literals;
    const std::map<std::string, sim::sharing_pattern> patterns = {
        { "one-way", sim::sharing_pattern::one_way },
        { "two-way", sim::sharing_pattern::two_way },
        { "mixed", sim::sharing_pattern::mixed },
        { "any", sim::sharing_pattern::any },
    };
    const auto found = patterns.find(pattern);
    if (found == patterns.end())
        throw std::invalid_argument("pattern '" + pattern +
                                    "': allowed are one-way, two-way, mixed, any");
    sim::sharing_trial t;
    t.pattern = found->second;
    t.late_s = late_s;
    t.hidden = hidden;
    t.mode = mode_text;
    t.stations = stations;
    t.duration_s = 3600 * hours;
    t.load_bps = load_bps;
    t.seed = seed;
    t.base.own = s5066::address("1.1.0.0");
    s5066::apply(settings, t.base);
    const auto r = sim::run(t);
    return py::dict("octets"_a = r.octets,
                    "wait_s"_a = r.wait_s,
                    "utilisation"_a = r.utilisation,
                    "fairness"_a = r.fairness,
                    "transmissions"_a = r.transmissions,
                    "collisions"_a = r.collisions,
                    "collided"_a = r.collided,
                    "submitted"_a = r.u_pdus_submitted,
                    "rejected"_a = r.u_pdus_rejected,
                    "links_failed"_a = r.links_failed);
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

void bind_rates(py::module& m)
{
    m.def("simulate_rates",
          &simulate_rates,
          py::arg("mode") = "auto",
          py::arg("hours") = 24.0,
          py::arg("mean_db") = 15.0,
          py::arg("swing_db") = 10.0,
          py::arg("slow_db") = 3.0,
          py::arg("fading_hz") = 1.0,
          py::arg("seed") = 1,
          py::arg("back_mean_db") = std::optional<double>(),
          py::arg("back_mode") = "",
          "Bulk ARQ between two stations over a channel whose SNR swings by day and "
          "night and fades. Also gives the goodput of the best fixed mode of each "
          "minute. The way back has the same mean SNR, or back_mean_db. The answering "
          "station has the same mode, or back_mode.");
}

void bind_several_stations(py::module& m)
{
    m.def("simulate_mixed",
          &simulate_mixed,
          py::arg("d_pdu_path"),
          py::arg("sis_path"),
          py::arg("hours") = 1.0,
          py::arg("seed") = 1,
          py::arg("progress") = std::function<void(double)>(),
          "Five stations with traffic of all kinds, captured into two pcap files. "
          "progress: called with the completed share, 0 to 1. Returns a dictionary of "
          "counts by type.");
    m.def(
        "simulate_sharing",
        &simulate_sharing,
        py::arg("mode") = "4539-2400S",
        py::arg("stations") = 3,
        py::arg("hours") = 4.0,
        py::arg("load_bps") = 0.0,
        py::arg("pattern") = "one-way",
        py::arg("late_s") = 0.0,
        py::arg("hidden") = false,
        py::arg("settings") = s5066::node_settings(),
        py::arg("seed") = 1,
        "Stations on one channel, each sending to the next (pattern one-way), in pairs "
        "to each other (two-way) or both (mixed). They send at random times (load_bps of "
        "each) or, with 0, always. The last begins late_s later. hidden: the last and "
        "the first do not hear each other. Returns utilisation, fairness, collisions, "
        "and the longest time without a delivery of each station (wait_s).");
}

} // namespace

void bind_sim(py::module& m)
{
    bind_transfer(m);
    bind_real_transfer(m);
    bind_rates(m);
    bind_several_stations(m);
}
