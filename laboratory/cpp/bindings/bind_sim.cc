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
#include "trials/fault_trial.h"
#include "trials/mixed_traffic.h"
#include "trials/rate_trial.h"
#include "trials/sharing.h"

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

//! Bulk over a changing channel, compared with the best fixed mode of each minute.
py::dict simulate_rates(const std::string& mode_text,
                        double hours,
                        double mean_db,
                        double swing_db,
                        double slow_db,
                        double fading_hz,
                        uint64_t seed,
                        std::optional<double> back_mean_db,
                        const std::string& back_mode,
                        const std::string& rule)
{
    using namespace pybind11::literals;
    sim::rate_trial t;
    t.rule = rule;
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
          py::arg("rule") = "",
          "Bulk ARQ between two stations over a channel whose SNR swings by day and "
          "night and fades. Also gives the goodput of the best fixed mode of each "
          "minute. The way back has the same mean SNR, or back_mean_db. The answering "
          "station has the same mode, or back_mode. rule: trinder or rapidm choose the "
          "modes instead of ours.");
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

void bind_faults(py::module& m)
{
    py::class_<sim::fault_trial_result>(
        m, "fault_trial_result", "Fates of the U_PDUs sent by ARQ under faults.")
        .def_readonly("u_pdus", &sim::fault_trial_result::u_pdus)
        .def_readonly("delivered", &sim::fault_trial_result::delivered)
        .def_readonly("confirmed", &sim::fault_trial_result::confirmed)
        .def_readonly("rejected", &sim::fault_trial_result::rejected)
        .def_readonly("missing", &sim::fault_trial_result::missing)
        .def_readonly("contradictory", &sim::fault_trial_result::contradictory)
        .def_readonly("repeated_on_link", &sim::fault_trial_result::repeated_on_link)
        .def_readonly("repeated", &sim::fault_trial_result::repeated)
        .def_readonly("altered", &sim::fault_trial_result::altered)
        .def_readonly("rejected_delivered", &sim::fault_trial_result::rejected_delivered)
        .def_readonly("restarts", &sim::fault_trial_result::restarts)
        .def_readonly("links_made", &sim::fault_trial_result::links_made)
        .def_readonly("links_failed", &sim::fault_trial_result::links_failed)
        .def_readonly("resets", &sim::fault_trial_result::resets)
        .def_readonly("collisions", &sim::fault_trial_result::collisions);
    m.def(
        "fault_scenario",
        [](double duration_s, uint64_t seed) {
            return sim::scenario_of(sim::fault_trial{ duration_s, seed });
        },
        py::arg("duration_s"),
        py::arg("seed") = 1,
        "The scenario of simulate_faults().");
    m.def(
        "simulate_faults",
        [](double duration_s, uint64_t seed) {
            return sim::run(sim::fault_trial{ duration_s, seed });
        },
        py::arg("duration_s"),
        py::arg("seed") = 1,
        py::call_guard<py::gil_scoped_release>(),
        "Traffic of all kinds between three stations that are switched off and on at "
        "random times, on a channel with all kinds of faults. The seed decides "
        "everything.");
}

} // namespace

void bind_sim(py::module& m)
{
    bind_faults(m);
    bind_rates(m);
    bind_several_stations(m);
}
