/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* BINDTOOL_HEADER_FILE(sim.h) */
/* BINDTOOL_HEADER_FILE_HASH(0) */
#include "air_path.h"
#include "sim/stations/ip_load.h"
#include "trials/dns_exchange.h"
#include "trials/interactive.h"

#include <optional>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;
using namespace gr::hf;

namespace {

py::dict simulate_dns(const std::string& mode,
                      const std::string& name,
                      int count,
                      double gap_s,
                      double limit_s,
                      bool ipv6,
                      double ber,
                      double loss,
                      uint64_t seed)
{
    using namespace pybind11::literals;
    sim::dns_series d;
    d.mode = mode;
    d.name = name;
    d.count = count;
    d.gap_s = gap_s;
    d.limit_s = limit_s;
    d.ipv6 = ipv6;
    d.on_path = path_of(ber, loss);
    d.seed = seed;
    const auto r = sim::measure(d);
    return py::dict("answer_s"_a = r.answer_s, "questions"_a = r.questions);
}

py::dict simulate_ip_load(const std::string& mode,
                          const std::vector<size_t>& octets,
                          const std::string& queue,
                          bool help_tcp,
                          double apart_s,
                          double ping_every_s,
                          double limit_s,
                          double ber,
                          uint64_t seed)
{
    using namespace pybind11::literals;
    if (queue != "fair" && queue != "whole")
        throw std::invalid_argument("queue '" + queue + "': allowed are fair and whole");
    sim::ip_load l;
    l.mode = mode;
    l.octets = octets;
    l.queue.policy = queue == "fair" ? ip::queue_policy::fair : ip::queue_policy::whole;
    l.queue.thin_acks = l.queue.drop_repeats = help_tcp;
    l.apart_s = apart_s;
    l.ping_every_s = ping_every_s;
    l.limit_s = limit_s;
    l.on_path = path_of(ber, 0);
    l.seed = seed;
    const auto r = sim::measure(l);
    return py::dict("transfer_s"_a = r.transfer_s,
                    "ping_s"_a = r.ping_s,
                    "pings_lost"_a = r.pings_lost,
                    "segments"_a = r.segments,
                    "repeats"_a = r.repeats,
                    "timeouts"_a = r.timeouts,
                    "utilisation"_a = r.utilisation,
                    "fairness"_a = r.fairness);
}

py::dict simulate_interactive(const std::string& mode,
                              size_t bulk_octets,
                              bool upload,
                              double second_after_s,
                              double page_after_s,
                              double page_every_s,
                              size_t page_octets,
                              double key_every_s,
                              double ping_every_s,
                              double limit_s,
                              double ber,
                              uint64_t seed,
                              const s5066::node_settings& settings)
{
    using namespace pybind11::literals;
    sim::interactive_load l;
    l.mode = mode;
    l.bulk_octets = bulk_octets;
    l.upload = upload;
    l.second_after_s = second_after_s;
    l.page_after_s = page_after_s;
    l.page_every_s = page_every_s;
    l.page_octets = page_octets;
    l.key_every_s = key_every_s;
    l.ping_every_s = ping_every_s;
    l.limit_s = limit_s;
    l.on_path = path_of(ber, 0);
    l.seed = seed;
    l.settings = settings;
    const auto r = sim::measure(l);
    return py::dict("complete"_a = r.complete,
                    "bulk_s"_a = r.bulk_s,
                    "page_s"_a = r.page_s,
                    "banner_s"_a = r.banner_s,
                    "key_s"_a = r.key_s,
                    "ping_s"_a = r.ping_s,
                    "transmissions"_a = r.transmissions);
}

void bind_requests(py::module& m)
{
    m.def("simulate_dns",
          &simulate_dns,
          py::arg("mode"),
          py::arg("name") = "isode.com",
          py::arg("count") = 4,
          py::arg("gap_s") = 10.0,
          py::arg("limit_s") = 150.0,
          py::arg("ipv6") = true,
          py::arg("ber") = 0.0,
          py::arg("loss") = 0.0,
          py::arg("seed") = 1,
          "Names looked up through DNS-PEP over emulated modems in virtual time, one "
          "after the other, by a client that asks for A and AAAA and repeats both every "
          "second. Returns a dictionary. answer_s: times until both replies, negative if "
          "none arrived. questions: sent over HF.");
}

void bind_ip_load(py::module& m)
{
    m.def("simulate_ip_load",
          &simulate_ip_load,
          py::arg("mode"),
          py::arg("octets"),
          py::arg("queue") = "fair",
          py::arg("help_tcp") = true,
          py::arg("apart_s") = 20.0,
          py::arg("ping_every_s") = 0.0,
          py::arg("limit_s") = 7200.0,
          py::arg("ber") = 0.0,
          py::arg("seed") = 1,
          "TCP transfers (octets of each) and pings through two IP clients over emulated "
          "modems in virtual time, with a model of TCP. queue: fair or whole. help_tcp: "
          "ACKs are thinned and repeats dropped in a fair queue.");
}

void bind_interactive(py::module& m)
{
    m.def(
        "simulate_interactive",
        &simulate_interactive,
        py::arg("mode") = "4539-9600S",
        py::arg("bulk_octets") = 400000,
        py::arg("upload") = false,
        py::arg("second_after_s") = 0.0,
        py::arg("page_after_s") = 0.0,
        py::arg("page_every_s") = 60.0,
        py::arg("page_octets") = 5000,
        py::arg("key_every_s") = 0.0,
        py::arg("ping_every_s") = 0.0,
        py::arg("limit_s") = 36000.0,
        py::arg("ber") = 0.0,
        py::arg("seed") = 1,
        py::arg("settings") = s5066::node_settings(),
        "A user works during a bulk transfer through HF-PEP, over emulated modems in "
        "virtual time: pages (a connection each), a remote shell, pings. A time of 0 "
        "leaves one out. The bulk goes to the user, with upload from the user. A second "
        "one begins after second_after_s. Returns a dictionary of times in seconds.");
}

} // namespace

void bind_pep_sim(py::module& m)
{
    bind_requests(m);
    bind_ip_load(m);
    bind_interactive(m);
}
