/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* BINDTOOL_HEADER_FILE(data_link.h) */
/* BINDTOOL_HEADER_FILE_HASH(0) */
#include <hf/data_link.h>
#include <hf/dns_pep.h>
#include <hf/ip_client.h>
#include <hf/keys.h>
#include <hf/modem_client.h>
#include <hf/modem_server.h>
#include <hf/pep.h>
#include <hf/sis_client.h>
#include <hf/sis_server.h>
#include <hf/ticker.h>
#include <hf/traffic.h>

#include "edges/nearness.h"
#include "pep/rules.h"
#include "s5066/auth/trailer.h"
#include "tls/authority.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;
using namespace gr::hf;

template <class T>
using message_class = py::class_<T, gr::block, gr::basic_block, std::shared_ptr<T>>;
template <class T>
using hier_class = py::class_<T, gr::hier_block2, gr::basic_block, std::shared_ptr<T>>;

namespace {

void bind_data_link_state(py::module& m)
{
    py::class_<setting_info>(m, "setting_info")
        .def_readonly("name", &setting_info::name)
        .def_readonly("value", &setting_info::value)
        .def_readonly("least", &setting_info::least)
        .def_readonly("most", &setting_info::most)
        .def_readonly("whole", &setting_info::whole)
        .def_readonly("unit", &setting_info::unit)
        .def_readonly("meaning", &setting_info::meaning);

    py::class_<data_link_queue>(m, "data_link_queue")
        .def_readonly("priority", &data_link_queue::priority)
        .def_readonly("u_pdus", &data_link_queue::u_pdus)
        .def_readonly("octets", &data_link_queue::octets)
        .def_readonly("oldest_s", &data_link_queue::oldest_s);

    py::class_<data_link_proof>(m, "data_link_proof")
        .def_readonly("peer", &data_link_proof::peer)
        .def_readonly("proved", &data_link_proof::proved)
        .def_readonly("not_proved", &data_link_proof::not_proved)
        .def_readonly("refused", &data_link_proof::refused)
        .def_readonly("last", &data_link_proof::last);

    py::class_<data_link_heard>(m, "data_link_heard")
        .def_readonly("peer", &data_link_heard::peer)
        .def_readonly("snr_db", &data_link_heard::snr_db)
        .def_readonly("age_s", &data_link_heard::age_s);

    py::class_<data_link_state>(m, "data_link_state")
        .def_readonly("phase", &data_link_state::phase)
        .def_readonly("phase_ends", &data_link_state::phase_ends)
        .def_readonly("peer", &data_link_state::peer)
        .def_readonly("tx_mode", &data_link_state::tx_mode)
        .def_readonly("tx_reason", &data_link_state::tx_reason)
        .def_readonly("rx_mode", &data_link_state::rx_mode)
        .def_readonly("rx_snr_db", &data_link_state::rx_snr_db)
        .def_readonly("queued_octets", &data_link_state::queued_octets)
        .def_readonly("queues", &data_link_state::queues)
        .def_readonly("unacknowledged", &data_link_state::unacknowledged)
        .def_readonly("links", &data_link_state::links)
        .def_readonly("clients", &data_link_state::clients)
        .def_readonly("emcon", &data_link_state::emcon)
        .def_readonly("broadcast", &data_link_state::broadcast)
        .def_readonly("proofs", &data_link_state::proofs)
        .def_readonly("heard", &data_link_state::heard)
        .def_readonly("now", &data_link_state::now);
}

void bind_data_link(py::module& m)
{
    bind_data_link_state(m);
    message_class<data_link>(m, "data_link", "STANAG 5066 data link of one station.")
        .def(py::init(&data_link::make),
             py::arg("address"),
             py::arg("mode") = "4539-600S",
             py::arg("ack_mode") = "auto",
             py::arg("settings") = std::map<std::string, double>(),
             py::arg("d_pdu_pcap") = "",
             py::arg("sis_pcap") = "",
             py::arg("auth") = std::vector<std::string>())
        .def_static("describe_settings", &data_link::describe_settings)
        .def_static("settings",
                    &data_link::settings,
                    "Names and default values of the further settings.")
        .def("state", &data_link::state)
        .def("stats", &data_link::stats)
        .def("set_mode", &data_link::set_mode, py::arg("mode"))
        .def("set_emcon",
             &data_link::set_emcon,
             py::arg("on"),
             "Emission control: while on, nothing is transmitted.")
        .def("set_broadcast",
             &data_link::set_broadcast,
             py::arg("on"),
             "Broadcast session: only data without ARQ, no links.");

    m.def(
        "auth_public_key",
        [](const py::bytes& private_key) {
            const std::string octets = private_key;
            s5066::auth_key key{};
            if (octets.size() != key.size())
                throw std::invalid_argument("a private key of " +
                                            std::to_string(octets.size()) +
                                            " octets: must have 32");
            std::copy(octets.begin(), octets.end(), key.begin());
            const auto half = s5066::public_key_of(key);
            return py::bytes(reinterpret_cast<const char*>(half.data()), half.size());
        },
        py::arg("private_key"),
        "Public half of an Ed25519 key, 32 octets each.");
    m.def("new_client_id", &keys::new_client_id, "Identity of a client on a sis port.");
}

void bind_pep(py::module& m)
{
    py::class_<pep_connection>(m, "pep_connection")
        .def_readonly("local", &pep_connection::local)
        .def_readonly("to", &pep_connection::to)
        .def_readonly("state", &pep_connection::state)
        .def_readonly("octets_out", &pep_connection::octets_out)
        .def_readonly("octets_in", &pep_connection::octets_in);

    hier_class<pep>(m, "pep", "HF-PEP: TCP proxy for HF.")
        .def(py::init(&pep::make),
             py::arg("listeners"),
             py::arg("routes"),
             py::arg("queue_octets") = 168000,
             py::arg("segment_octets") = 1023,
             py::arg("max_connections") = 256,
             py::arg("netns") = "",
             py::arg("real_time") = false,
             py::arg("allow") = std::vector<std::string>(),
             py::arg("rules") = std::vector<std::string>(),
             py::arg("settings") = std::map<std::string, double>(),
             py::arg("ca") = "")
        .def_static("describe_settings", &pep::describe_settings)
        .def_static("settings",
                    &pep::settings,
                    "Names and default values of the further settings.")
        .def("stats", &pep::stats)
        .def("ports", &pep::ports, "Bound ports of the listeners, in their order.")
        .def("connections", &pep::connections)
        .def("set_rules", &pep::set_rules, py::arg("rules"));
}

//! What a program of the station may connect to, by the same rules as peers of HF-PEP.
class reach_list
{
public:
    explicit reach_list(const std::vector<std::string>& entries)
    {
        for (const auto& text : entries)
            d_entries.push_back(hfpep::reach::parse(text));
    }
    bool permits(const std::string& address, uint16_t port) const
    {
        const auto at = ip::address::parse(address);
        return at && hfpep::permits_at(d_entries, { *at, port }, *at, nearness_of(*at));
    }

private:
    std::vector<hfpep::reach> d_entries;
};

void bind_reach(py::module& m)
{
    py::class_<reach_list>(m, "reach", "Destinations, in the words of allow of HF-PEP.")
        .def(py::init<const std::vector<std::string>&>(), py::arg("entries"))
        .def("permits",
             &reach_list::permits,
             py::arg("address"),
             py::arg("port"),
             "Whether a connection may be made to a numeric address.");
}

void bind_authority(py::module& m)
{
    py::class_<tls::authority>(
        m, "tls_authority", "Certificate authority for TLS apart, in a folder.")
        .def(py::init<const std::string&, const std::vector<std::string>&>(),
             py::arg("folder"),
             py::arg("names") = std::vector<std::string>())
        .def_property_readonly("names", &tls::authority::names, "Empty: every host.")
        .def_property_readonly("certificate", &tls::authority::certificate, "PEM.")
        .def_property_readonly(
            "fingerprint", &tls::authority::fingerprint, "SHA-256, hexadecimal.")
        .def_property_readonly("not_after",
                               &tls::authority::not_after,
                               "End of validity, seconds since 1970.")
        .def_property_readonly(
            "path", &tls::authority::path, "File of key and certificate.")
        .def("rotate", &tls::authority::rotate, "Make a new key and certificate.");
    m.def(
        "tls_names",
        [](const std::vector<std::string>& rules) {
            return hfpep::apart_names(hfpep::rules_from(rules, false));
        },
        py::arg("rules"),
        "Host names that rules of HF-PEP limit TLS apart to. Empty: every host.");
}

void bind_ip_client(py::module& m)
{
    py::class_<ip_flow>(m, "ip_flow")
        .def_readonly("node", &ip_flow::node)
        .def_readonly("protocol", &ip_flow::protocol)
        .def_readonly("src", &ip_flow::src)
        .def_readonly("dst", &ip_flow::dst)
        .def_readonly("interactive", &ip_flow::interactive)
        .def_readonly("packets", &ip_flow::packets)
        .def_readonly("octets", &ip_flow::octets)
        .def_readonly("oldest_s", &ip_flow::oldest_s);

    hier_class<ip_client>(m, "ip_client", "IP client (Annex F.12) on a TUN device.")
        .def(py::init(&ip_client::make),
             py::arg("device"),
             py::arg("address"),
             py::arg("table"),
             py::arg("mtu") = 1500,
             py::arg("queue_octets") = 168000,
             py::arg("netns") = "",
             py::arg("real_time") = false,
             py::arg("filter") = std::vector<std::string>(),
             py::arg("queue") = "fair",
             py::arg("settings") = std::map<std::string, double>())
        .def_static("describe_settings", &ip_client::describe_settings)
        .def_static("settings",
                    &ip_client::settings,
                    "Names and default values of the further settings.")
        .def("stats", &ip_client::stats)
        .def("flows", &ip_client::flows);
}

void bind_dns_pep(py::module& m)
{
    hier_class<dns_pep>(m, "dns_pep", "DNS-PEP: caching DNS forwarder across HF.")
        .def(py::init(&dns_pep::make),
             py::arg("listen"),
             py::arg("routes"),
             py::arg("resolver") = "",
             py::arg("peers") = std::vector<std::string>(),
             py::arg("local") = std::vector<std::string>(),
             py::arg("blocked") = std::vector<std::string>(),
             py::arg("settings") = std::map<std::string, double>(),
             py::arg("netns") = "",
             py::arg("real_time") = false)
        .def_static("describe_settings", &dns_pep::describe_settings)
        .def_static("settings",
                    &dns_pep::settings,
                    "Names and default values of the further settings.")
        .def("stats", &dns_pep::stats);
}

void bind_sis_ports(py::module& m)
{
    message_class<sis_server>(
        m, "sis_server", "SIS server on TCP, for other programs as clients.")
        .def(py::init(&sis_server::make),
             py::arg("address") = "127.0.0.1",
             py::arg("port") = 5066,
             py::arg("max_clients") = 16,
             py::arg("max_out") = 4194304,
             py::arg("netns") = "",
             py::arg("ranks") = std::vector<std::string>())
        .def("port", &sis_server::port)
        .def("stats", &sis_server::stats);

    message_class<sis_client>(m, "sis_client", "Remote data link, over TCP.")
        .def(py::init(&sis_client::make),
             py::arg("host") = "127.0.0.1",
             py::arg("port") = 5066,
             py::arg("netns") = "")
        .def("stats", &sis_client::stats);
}

void bind_modem_ports(py::module& m)
{
    message_class<modem_server>(
        m, "modem_server", "Our modem for another maker's data link (110C Appendix A).")
        .def(py::init(&modem_server::make),
             py::arg("mode"),
             py::arg("form") = "tcp",
             py::arg("address") = "127.0.0.1",
             py::arg("port") = 3000,
             py::arg("receiver_master") = true,
             py::arg("netns") = "")
        .def("port", &modem_server::port)
        .def("stats", &modem_server::stats);

    message_class<modem_client>(
        m, "modem_client", "Another maker's modem for our data link (110C Appendix A).")
        .def(py::init(&modem_client::make),
             py::arg("mode"),
             py::arg("form") = "tcp",
             py::arg("host") = "127.0.0.1",
             py::arg("port") = 3000,
             py::arg("netns") = "")
        .def("connected", &modem_client::connected)
        .def("stats", &modem_client::stats);
}

void bind_traffic(py::module& m)
{
    py::class_<traffic_state>(m, "traffic_state")
        .def_readonly("bound", &traffic_state::bound)
        .def_readonly("octets_submitted", &traffic_state::octets_submitted)
        .def_readonly("octets_confirmed", &traffic_state::octets_confirmed)
        .def_readonly("octets_rejected", &traffic_state::octets_rejected)
        .def_readonly("octets_received", &traffic_state::octets_received)
        .def_readonly("octets_damaged", &traffic_state::octets_damaged)
        .def_readonly("first_submitted", &traffic_state::first_submitted)
        .def_readonly("last_confirmed", &traffic_state::last_confirmed)
        .def_readonly("first_received", &traffic_state::first_received)
        .def_readonly("last_received", &traffic_state::last_received);

    message_class<traffic>(
        m, "traffic", "Client that sends octets and counts what it receives.")
        .def(py::init(&traffic::make),
             py::arg("peer"),
             py::arg("octets") = 0,
             py::arg("u_pdu_octets") = 2042,
             py::arg("sap") = 12,
             py::arg("arq") = true)
        .def("state", &traffic::state);
}

} // namespace

void bind_network(py::module& m)
{
    bind_data_link(m);
    bind_pep(m);
    bind_authority(m);
    bind_reach(m);
    bind_ip_client(m);
    bind_dns_pep(m);
    bind_sis_ports(m);
    bind_modem_ports(m);
    bind_traffic(m);
    message_class<ticker>(m, "ticker", "Station time from the host's clock.")
        .def(py::init(&ticker::make), py::arg("interval_ms") = 10);
}
