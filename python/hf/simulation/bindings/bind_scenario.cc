/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* BINDTOOL_HEADER_FILE(scenario.h) */
/* BINDTOOL_HEADER_FILE_HASH(0) */
#include "progress.h"
#include "sim/scenarios/scenario.h"

#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;
using namespace gr::hf;
using namespace gr::hf::sim;
using s5066::block_error_curves;
using s5066::block_error_point;

namespace {

s5066::delivery_confirmation confirmation_of(const std::string& name)
{
    using s5066::delivery_confirmation;
    for (const auto c : { delivery_confirmation::none,
                          delivery_confirmation::node,
                          delivery_confirmation::client })
        if (name == to_string(c))
            return c;
    throw std::invalid_argument("confirmation '" + name +
                                "': allowed are none, node, client");
}

void bind_parts(py::module& m)
{
    py::enum_<traffic_kind>(m, "traffic_kind")
        .value("bulk", traffic_kind::bulk)
        .value("interactive", traffic_kind::interactive)
        .value("ping", traffic_kind::ping)
        .value("broadcast", traffic_kind::broadcast);
    py::enum_<fault_kind>(m, "fault_kind")
        .value("restart", fault_kind::restart)
        .value("deaf", fault_kind::deaf)
        .value("noise", fault_kind::noise)
        .value("clock_step", fault_kind::clock_step);
    py::class_<scenario_station>(m, "scenario_station", "A station of a scenario.")
        .def(py::init<>())
        .def_readwrite("name", &scenario_station::name)
        .def_readwrite("address", &scenario_station::address)
        .def_readwrite("groups", &scenario_station::groups)
        .def_readwrite("mode", &scenario_station::mode)
        .def_readwrite("ack_mode", &scenario_station::ack_mode)
        .def_readwrite("data_link", &scenario_station::data_link)
        .def_readwrite("decode_delay_s", &scenario_station::decode_delay_s);
    py::class_<scenario_traffic>(m, "scenario_traffic", "A flow of U_PDUs.")
        .def(py::init<>())
        .def_readwrite("kind", &scenario_traffic::kind)
        .def_readwrite("from_", &scenario_traffic::from)
        .def_readwrite("to", &scenario_traffic::to)
        .def_readwrite("start_s", &scenario_traffic::start_s)
        .def_readwrite("stop_s", &scenario_traffic::stop_s)
        .def_readwrite("octets", &scenario_traffic::octets)
        .def_readwrite("u_pdu", &scenario_traffic::u_pdu)
        .def_readwrite("count", &scenario_traffic::count)
        .def_readwrite("rate_bps", &scenario_traffic::rate_bps)
        .def_readwrite("interval_s", &scenario_traffic::interval_s)
        .def_readwrite("answer", &scenario_traffic::answer)
        .def_readwrite("limit_s", &scenario_traffic::limit_s)
        .def_readwrite("arq", &scenario_traffic::arq)
        .def_readwrite("in_order", &scenario_traffic::in_order)
        .def_readwrite("repeats", &scenario_traffic::repeats)
        .def_readwrite("priority", &scenario_traffic::priority)
        .def_readwrite("expedited", &scenario_traffic::expedited)
        .def_property(
            "confirmation",
            [](const scenario_traffic& t) {
                return std::string(to_string(t.confirmation));
            },
            [](scenario_traffic& t, const std::string& name) {
                t.confirmation = confirmation_of(name);
            },
            "Confirmation to the sending client: none, node or client.");
    py::class_<scenario_fault>(m, "scenario_fault", "One fault of a scenario.")
        .def(py::init<>())
        .def_readwrite("kind", &scenario_fault::kind)
        .def_readwrite("station", &scenario_fault::station)
        .def_readwrite("from_", &scenario_fault::from)
        .def_readwrite("at_s", &scenario_fault::at_s)
        .def_readwrite("for_s", &scenario_fault::for_s)
        .def_readwrite("step_s", &scenario_fault::step_s);
}

void bind_snr_trace(py::module& m)
{
    py::class_<snr_trace, std::shared_ptr<snr_trace>>(
        m, "snr_trace", "SNR in the bandwidth of the modes over time, in dB.")
        .def(py::init<std::vector<float>, double, double, double>(),
             py::arg("db"),
             py::arg("step_s"),
             py::arg("signal_power") = 0.0,
             py::arg("fading_hz") = 0.0)
        .def_static(
            "make",
            [](double mean_db,
               double swing_db,
               double period_s,
               double slow_db,
               double slow_s,
               double fading_hz,
               double duration_s,
               uint64_t seed) {
                trace_config c;
                c.mean_db = mean_db;
                c.swing_db = swing_db;
                c.period_s = period_s;
                c.slow_db = slow_db;
                c.slow_s = slow_s;
                c.fading_hz = fading_hz;
                c.duration_s = duration_s;
                c.seed = seed;
                return std::make_shared<snr_trace>(snr_trace::make(c));
            },
            py::kw_only(),
            py::arg("mean_db") = 15.0,
            py::arg("swing_db") = 0.0,
            py::arg("period_s") = 86400.0,
            py::arg("slow_db") = 0.0,
            py::arg("slow_s") = 300.0,
            py::arg("fading_hz") = 0.0,
            py::arg("duration_s") = 3600.0,
            py::arg("seed") = 1,
            "A day and night swing, a medium-term variation, and the fading of two paths "
            "with a Gaussian Doppler spectrum.")
        .def_property_readonly("values", &snr_trace::values)
        .def_property_readonly("duration_s", &snr_trace::duration_s);
}

void bind_block_error_curves(py::module& m)
{
    py::class_<block_error_curves, std::shared_ptr<block_error_curves>>(
        m, "block_error_curves", "Measured block errors of one channel.")
        .def(py::init<>())
        .def(
            "add",
            [](block_error_curves& c,
               const std::string& mode_text,
               const std::vector<std::array<double, 4>>& points) {
                std::vector<block_error_point> list;
                for (const auto& p : points)
                    list.push_back({ p[0], p[1], p[2], p[3] });
                c.add(mode::parse(mode_text), list);
            },
            py::arg("mode"),
            py::arg("points"),
            "Points: SNR in dB, shares of lost transmissions and bad blocks, bit error "
            "rate of bad blocks.");
}

void bind_path(py::module& m)
{
    py::class_<scenario_path>(m, "scenario_path", "Channel from one station to another.")
        .def(py::init([](const std::string& from,
                         const std::string& to,
                         double ber,
                         double loss,
                         double eom_loss,
                         double snr_db,
                         double delay_s,
                         double duplicate,
                         double reorder,
                         std::shared_ptr<snr_trace> fading,
                         std::shared_ptr<block_error_curves> curves) {
                 scenario_path p{ from, to, {} };
                 p.channel.ber = ber;
                 p.channel.loss = loss;
                 p.channel.eom_loss = eom_loss;
                 p.channel.snr_db = snr_db;
                 p.channel.delay = from_seconds(delay_s);
                 p.channel.duplicate = duplicate;
                 p.channel.reorder = reorder;
                 p.channel.fading = std::move(fading);
                 p.channel.blocks = std::move(curves);
                 return p;
             }),
             py::kw_only(),
             py::arg("from_") = "",
             py::arg("to") = "",
             py::arg("ber") = 0.0,
             py::arg("loss") = 0.0,
             py::arg("eom_loss") = 0.0,
             py::arg("snr_db") = 30.0,
             py::arg("delay_s") = 0.0,
             py::arg("duplicate") = 0.0,
             py::arg("reorder") = 0.0,
             py::arg("fading") = std::shared_ptr<snr_trace>(),
             py::arg("curves") = std::shared_ptr<block_error_curves>());
}

void bind_channel(py::module& m)
{
    bind_snr_trace(m);
    bind_block_error_curves(m);
    bind_path(m);
}

void bind_flow_result(py::module& m)
{
    py::class_<flow_result>(m, "flow_result", "Result of a flow.")
        .def_readonly("kind", &flow_result::kind)
        .def_readonly("from_", &flow_result::from)
        .def_readonly("to", &flow_result::to)
        .def_readonly("u_pdus_offered", &flow_result::u_pdus_offered)
        .def_readonly("octets_offered", &flow_result::octets_offered)
        .def_readonly("receivers", &flow_result::receivers)
        .def_readonly("u_pdus_delivered", &flow_result::u_pdus_delivered)
        .def_readonly("octets_delivered", &flow_result::octets_delivered)
        .def_readonly("rejected", &flow_result::rejected)
        .def_readonly("altered", &flow_result::altered)
        .def_readonly("repeated", &flow_result::repeated)
        .def_readonly("out_of_order", &flow_result::out_of_order)
        .def_readonly("last_s", &flow_result::last_s)
        .def_readonly("goodput_bps", &flow_result::goodput_bps)
        .def_readonly("times", &flow_result::times)
        .def_readonly("unanswered", &flow_result::unanswered)
        .def_readonly("finite", &flow_result::finite)
        .def_readonly("complete", &flow_result::complete);
}

void bind_station_results(py::module& m)
{
    py::class_<station_result>(m, "station_result", "Result of a station.")
        .def_readonly("name", &station_result::name)
        .def_readonly("transmissions", &station_result::transmissions)
        .def_readonly("silent_rounds", &station_result::silent_rounds)
        .def_readonly("links_made", &station_result::links_made)
        .def_readonly("links_failed", &station_result::links_failed)
        .def_readonly("d_pdus_repeated", &station_result::d_pdus_repeated)
        .def_readonly("d_pdus_fill", &station_result::d_pdus_fill)
        .def_readonly("resets", &station_result::resets)
        .def_readonly("tx_time_s", &station_result::tx_time_s);
    py::class_<transmission_result>(m, "transmission_result", "One transmission.")
        .def_readonly("station", &transmission_result::station)
        .def_readonly("mode", &transmission_result::mode)
        .def_readonly("begin_s", &transmission_result::begin_s)
        .def_readonly("end_s", &transmission_result::end_s)
        .def_readonly("data", &transmission_result::data)
        .def_readonly("repeated", &transmission_result::repeated)
        .def_readonly("acks", &transmission_result::acks)
        .def_readonly("control", &transmission_result::control)
        .def_readonly("non_arq", &transmission_result::non_arq)
        .def_readonly("cut", &transmission_result::cut)
        .def_readonly("collided", &transmission_result::collided);
    py::class_<delivery>(m, "delivery", "Octets delivered by a flow.")
        .def_readonly("time_s", &delivery::time_s)
        .def_readonly("flow", &delivery::flow)
        .def_readonly("octets", &delivery::octets);
}

void bind_u_pdu_fate(py::module& m)
{
    py::class_<u_pdu_fate>(m, "u_pdu_fate", "Fate of a U_PDU, at one receiver.")
        .def_readonly("flow", &u_pdu_fate::flow)
        .def_readonly("answer", &u_pdu_fate::answer)
        .def_readonly("number", &u_pdu_fate::number)
        .def_readonly("from_", &u_pdu_fate::from)
        .def_readonly("from_sap", &u_pdu_fate::from_sap)
        .def_readonly("to", &u_pdu_fate::to)
        .def_readonly("to_sap", &u_pdu_fate::to_sap)
        .def_readonly("octets", &u_pdu_fate::octets)
        .def_readonly("priority", &u_pdu_fate::priority)
        .def_readonly("arq", &u_pdu_fate::arq)
        .def_readonly("expedited", &u_pdu_fate::expedited)
        .def_property_readonly(
            "confirmation",
            [](const u_pdu_fate& f) { return std::string(to_string(f.confirmation)); })
        .def_readonly("submitted_s", &u_pdu_fate::submitted_s)
        .def_readonly("delivered_s", &u_pdu_fate::delivered_s)
        .def_readonly("deliveries", &u_pdu_fate::deliveries)
        .def_readonly("repeated_on_link", &u_pdu_fate::repeated_on_link)
        .def_readonly("confirmed_s", &u_pdu_fate::confirmed_s)
        .def_readonly("rejected_s", &u_pdu_fate::rejected_s)
        .def_property_readonly(
            "reason",
            [](const u_pdu_fate& f) {
                return f.reason ? std::string(to_string(*f.reason)) : std::string();
            })
        .def_property_readonly(
            "missing", &u_pdu_fate::missing, "Confirmed before any delivery.");
}

void bind_results(py::module& m)
{
    bind_flow_result(m);
    bind_station_results(m);
    bind_u_pdu_fate(m);
    py::class_<scenario_result>(m, "scenario_result", "Result of a scenario.")
        .def_readonly("end_s", &scenario_result::end_s)
        .def_readonly("complete", &scenario_result::complete)
        .def_readonly("flows", &scenario_result::flows)
        .def_readonly("stations", &scenario_result::stations)
        .def_readonly("transmissions", &scenario_result::transmissions)
        .def_readonly("deliveries", &scenario_result::deliveries)
        .def_readonly("fates", &scenario_result::fates)
        .def_readonly("log", &scenario_result::log)
        .def_readonly("goodput_bps", &scenario_result::goodput_bps)
        .def_readonly("fairness", &scenario_result::fairness)
        .def_readonly("collisions", &scenario_result::collisions);
}

} // namespace

void bind_scenario(py::module& m)
{
    bind_parts(m);
    bind_channel(m);
    bind_results(m);
    py::class_<scenario>(m, "scenario", "An experiment on the event simulator, as data.")
        .def(py::init<>())
        .def_readwrite("duration_s", &scenario::duration_s)
        .def_readwrite("seed", &scenario::seed)
        .def_readwrite("stations", &scenario::stations)
        .def_readwrite("paths", &scenario::paths)
        .def_readwrite("traffic", &scenario::traffic)
        .def_readwrite("faults", &scenario::faults)
        .def_readwrite("record", &scenario::record)
        .def_readwrite("fates", &scenario::fates)
        .def_readwrite("log", &scenario::log)
        .def("validate",
             &scenario::validate,
             "Raises ValueError that names what is wrong.")
        .def(
            "run",
            [](const scenario& s, const std::function<void(double)>& progress) {
                return sim::run(s, seldom(progress));
            },
            py::call_guard<py::gil_scoped_release>(),
            py::arg("progress") = std::function<void(double)>(),
            "Run it in virtual time. The same scenario gives the same result. progress: "
            "called now and then with the elapsed share of duration_s, 0 to 1.");
}
