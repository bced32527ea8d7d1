/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// S_primitives and formats of Annex F, for SIS clients in Python: submodule s5066.
#include "s5066/clients/bftp.h"
#include "s5066/clients/cftp.h"
#include "s5066/clients/rcop.h"
#include "s5066/pdu/d_pdu.h"
#include "s5066/pdu/s_primitive.h"
#include "s5066/words/max_eot.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;
using namespace gr::hf;
using namespace gr::hf::s5066;

namespace {

using octets = std::vector<uint8_t>;

py::bytes to_bytes(const octets& v)
{
    return { reinterpret_cast<const char*>(v.data()), v.size() };
}

octets from_bytes(const py::bytes& b)
{
    const std::string_view s = b;
    return { s.begin(), s.end() };
}

//! A field of octets as bytes.
template <class T>
void def_octets(py::class_<T>& c, const char* name, octets T::*field)
{
    c.def_property(
        name,
        [field](const T& t) { return to_bytes(t.*field); },
        [field](T& t, const py::bytes& b) { t.*field = from_bytes(b); });
}

//! A primitive without fields.
template <class T>
py::class_<T> primitive(py::module& m, const char* name)
{
    return py::class_<T>(m, name)
        .def(py::init<>())
        .def(
            "__repr__", [name](const T&) { return std::string("<") + name + ">"; });
}

template <class T>
void link_primitive(py::module& m, const char* name)
{
    primitive<T>(m, name).def_readwrite("link", &T::link);
}

template <class T>
void reason_primitive(py::module& m, const char* name)
{
    primitive<T>(m, name).def_readwrite("reason", &T::reason);
}

template <class T>
void reason_link_primitive(py::module& m, const char* name)
{
    primitive<T>(m, name)
        .def_readwrite("reason", &T::reason)
        .def_readwrite("link", &T::link);
}

template <class T>
void status_link_primitive(py::module& m, const char* name)
{
    primitive<T>(m, name)
        .def_readwrite("status", &T::status)
        .def_readwrite("link", &T::link);
}

template <class T>
void management_primitive(py::module& m, const char* name)
{
    auto c = primitive<T>(m, name);
    c.def_readwrite("message_type", &T::message_type);
    def_octets(c, "body", &T::body);
}

void bind_values(py::module& m)
{
    py::enum_<transmission_mode>(m, "transmission_mode")
        .value("default", transmission_mode::default_)
        .value("arq", transmission_mode::arq)
        .value("non_arq", transmission_mode::non_arq)
        .value("non_arq_with_errors", transmission_mode::non_arq_with_errors);
    py::enum_<delivery_confirmation>(m, "delivery_confirmation")
        .value("none", delivery_confirmation::none)
        .value("node", delivery_confirmation::node)
        .value("client", delivery_confirmation::client);
    py::enum_<delivery_order>(m, "delivery_order")
        .value("in_order", delivery_order::in_order)
        .value("as_they_arrive", delivery_order::as_they_arrive);
    py::class_<address>(m, "address", "Node or group address.")
        .def(py::init<const std::string&>(), py::arg("text"))
        .def("is_group", &address::is_group)
        .def("__str__", &address::to_string)
        .def("__repr__", &address::to_string)
        .def("__hash__", &address::raw)
        .def(
            "__eq__", [](const address& a, const address& b) { return a == b; });
    py::class_<delivery_mode>(m, "delivery_mode", "Service type, or mode of one U_PDU.")
        .def(
            py::init([](transmission_mode mode,
                        delivery_confirmation confirmation,
                        delivery_order order,
                        uint8_t retransmissions) {
                return delivery_mode{ mode, confirmation, order, false, retransmissions };
            }),
            py::arg("mode") = transmission_mode::arq,
            py::arg("confirmation") = delivery_confirmation::none,
            py::arg("order") = delivery_order::in_order,
            py::arg("retransmissions") = 0)
        .def_readwrite("mode", &delivery_mode::mode)
        .def_readwrite("confirmation", &delivery_mode::confirmation)
        .def_readwrite("order", &delivery_mode::order)
        .def_readwrite("retransmissions", &delivery_mode::retransmissions);
    py::class_<hard_link>(m, "hard_link")
        .def(py::init<>())
        .def_readwrite("type", &hard_link::type)
        .def_readwrite("priority", &hard_link::priority)
        .def_readwrite("remote_sap", &hard_link::remote_sap)
        .def_readwrite("remote", &hard_link::remote);
}

void bind_unidata(py::module& m)
{
    auto request = primitive<s_unidata_request>(m, "s_unidata_request");
    request.def_readwrite("expedited", &s_unidata_request::expedited)
        .def_readwrite("priority", &s_unidata_request::priority)
        .def_readwrite("dst_sap", &s_unidata_request::dst_sap)
        .def_readwrite("dst", &s_unidata_request::dst)
        .def_readwrite("mode", &s_unidata_request::mode)
        .def_readwrite(
            "ttl", &s_unidata_request::ttl, "In units of 2 s. 0: the node's default.");
    def_octets(request, "u_pdu", &s_unidata_request::u_pdu);
    auto indication = primitive<s_unidata_indication>(m, "s_unidata_indication");
    indication.def_readwrite("expedited", &s_unidata_indication::expedited)
        .def_readwrite("priority", &s_unidata_indication::priority)
        .def_readwrite("dst_sap", &s_unidata_indication::dst_sap)
        .def_readwrite("dst", &s_unidata_indication::dst)
        .def_readwrite("mode", &s_unidata_indication::mode)
        .def_readwrite("src_sap", &s_unidata_indication::src_sap)
        .def_readwrite("src", &s_unidata_indication::src)
        .def_readwrite("errored", &s_unidata_indication::errored)
        .def_readwrite("missing", &s_unidata_indication::missing);
    def_octets(indication, "u_pdu", &s_unidata_indication::u_pdu);
    auto confirm = primitive<s_unidata_request_confirm>(m, "s_unidata_request_confirm");
    confirm.def_readwrite("expedited", &s_unidata_request_confirm::expedited)
        .def_readwrite("dst_sap", &s_unidata_request_confirm::dst_sap)
        .def_readwrite("dst", &s_unidata_request_confirm::dst);
    def_octets(confirm, "u_pdu", &s_unidata_request_confirm::u_pdu);
    auto rejected =
        primitive<s_unidata_request_rejected>(m, "s_unidata_request_rejected");
    rejected.def_readwrite("expedited", &s_unidata_request_rejected::expedited)
        .def_readwrite("reason", &s_unidata_request_rejected::reason)
        .def_readwrite("dst_sap", &s_unidata_request_rejected::dst_sap)
        .def_readwrite("dst", &s_unidata_request_rejected::dst);
    def_octets(rejected, "u_pdu", &s_unidata_request_rejected::u_pdu);
}

void bind_codec(py::module& m)
{
    m.def(
        "encode",
        [](const s_primitive& p) {
            const auto v = encode(p);
            if (v.empty())
                throw py::value_error("a field of the primitive is out of its range");
            return to_bytes(v);
        },
        "Octets of a primitive. ValueError if a field is out of its range.");
    m.def(
        "decode",
        [](const py::bytes& b) { return decode_primitive(from_bytes(b)); },
        "A primitive from its octets; None if it is malformed.");
    py::class_<sis_deframer>(m, "deframer", "Cuts a TCP stream into primitives.")
        .def(py::init<>())
        .def("push", [](sis_deframer& d, const py::bytes& b) { d.push(from_bytes(b)); })
        .def("next",
             [](sis_deframer& d) {
                 const auto p = d.next();
                 return p ? py::object(to_bytes(*p)) : py::object(py::none());
             })
        .def("invalid", &sis_deframer::invalid)
        .def("foreign",
             &sis_deframer::foreign,
             "True if the stream does not begin with a primitive. It will have none.");
}

void bind_primitives(py::module& m)
{
    primitive<s_bind_request>(m, "s_bind_request")
        .def_readwrite("sap", &s_bind_request::sap)
        .def_readwrite("rank", &s_bind_request::rank)
        .def_readwrite("service", &s_bind_request::service);
    primitive<s_unbind_request>(m, "s_unbind_request");
    primitive<s_bind_accepted>(m, "s_bind_accepted")
        .def_readwrite("sap", &s_bind_accepted::sap)
        .def_readwrite("mtu", &s_bind_accepted::mtu);
    reason_primitive<s_bind_rejected>(m, "s_bind_rejected");
    reason_primitive<s_unbind_indication>(m, "s_unbind_indication");
    link_primitive<s_hard_link_establish>(m, "s_hard_link_establish");
    primitive<s_hard_link_terminate>(m, "s_hard_link_terminate")
        .def_readwrite("remote", &s_hard_link_terminate::remote);
    status_link_primitive<s_hard_link_established>(m, "s_hard_link_established");
    reason_link_primitive<s_hard_link_rejected>(m, "s_hard_link_rejected");
    reason_link_primitive<s_hard_link_terminated>(m, "s_hard_link_terminated");
    status_link_primitive<s_hard_link_indication>(m, "s_hard_link_indication");
    link_primitive<s_hard_link_accept>(m, "s_hard_link_accept");
    reason_link_primitive<s_hard_link_reject>(m, "s_hard_link_reject");
    primitive<s_subnet_availability>(m, "s_subnet_availability")
        .def_readwrite("status", &s_subnet_availability::status)
        .def_readwrite("reason", &s_subnet_availability::reason);
    primitive<s_data_flow_on>(m, "s_data_flow_on");
    primitive<s_data_flow_off>(m, "s_data_flow_off");
    primitive<s_keep_alive>(m, "s_keep_alive");
    management_primitive<s_management_msg_request>(m, "s_management_msg_request");
    management_primitive<s_management_msg_indication>(m, "s_management_msg_indication");
    bind_unidata(m);
    bind_codec(m);
}

void bind_rcop(py::module& m)
{
    m.def(
        "rcop_segments",
        [](uint8_t connection,
           uint8_t id,
           uint16_t application,
           const py::bytes& data,
           size_t mtu) {
            std::vector<py::bytes> all;
            for (const auto& u :
                 rcop_segments(connection, id, application, from_bytes(data), mtu))
                all.push_back(to_bytes(u));
            return all;
        },
        py::arg("connection"),
        py::arg("id"),
        py::arg("application"),
        py::arg("message"),
        py::arg("mtu") = sis_mtu,
        "A message as U_PDUs of RCOP or UDOP; none if it is too long.");
    m.def(
        "decode_rcop",
        [](const py::bytes& u_pdu) -> py::object {
            const auto v = from_bytes(u_pdu);
            const auto s = decode_rcop(v.data(), v.size());
            if (!s)
                return py::none();
            return py::make_tuple(
                s->connection, s->id, s->segment, s->application, to_bytes(s->data));
        },
        py::arg("u_pdu"),
        "Connection, U_PDU ID, segment number, application and data of a U_PDU of RCOP "
        "or "
        "UDOP. None if it has no proper header.");
    auto message = py::class_<rcop_message>(m, "rcop_message");
    message.def_readonly("source", &rcop_message::source)
        .def_readonly("source_sap", &rcop_message::source_sap)
        .def_readonly("connection", &rcop_message::connection)
        .def_readonly("id", &rcop_message::id)
        .def_readonly("application", &rcop_message::application);
    def_octets(message, "data", &rcop_message::data);
    py::class_<rcop_assembler>(m, "rcop_assembler", "Reassembles RCOP and UDOP messages.")
        .def(py::init<>())
        .def(
            "u_pdu_in",
            [](rcop_assembler& a,
               double now,
               const address& source,
               uint8_t sap,
               const py::bytes& u_pdu) {
                const auto v = from_bytes(u_pdu);
                return a.u_pdu_in(from_seconds(now), source, sap, v.data(), v.size());
            },
            py::arg("now"),
            py::arg("source"),
            py::arg("source_sap"),
            py::arg("u_pdu"));
}

void bind_file_transfer(py::module& m)
{
    m.def(
        "bftp_message",
        [](const py::bytes& name, const py::bytes& data) {
            return to_bytes(bftp_message(std::string(name), from_bytes(data)));
        },
        "Name and file as the body of a RCOP message; empty if too long.");
    m.def(
        "decode_bftp",
        [](const py::bytes& b) -> py::object {
            const auto f = decode_bftp(from_bytes(b));
            if (!f)
                return py::none();
            return py::make_tuple(safe_file_name(f->header.name),
                                  py::bytes(f->header.name),
                                  to_bytes(f->data));
        },
        "(safe name to create, received name, file), or None.");
    m.def(
        "bftp_receipt",
        [](uint8_t connection, uint8_t id, const py::bytes& name, uint32_t size) {
            return to_bytes(encode(
                bftp_receipt{ connection, id, bftp_header{ std::string(name), size } }));
        },
        "U_PDU of a FRAPv2 receipt.");
    m.def(
        "decode_receipt",
        [](const rcop_message& r) -> py::object {
            const auto receipt = decode_receipt(r);
            if (!receipt)
                return py::none();
            return py::make_tuple(receipt->connection, receipt->id);
        },
        "(connection, U_PDU ID) of a FRAP or FRAPv2 receipt, or None.");
}

void bind_cftp(py::module& m)
{
    m.attr("SAP_CFTP") = sap_cftp;
    m.def(
        "cftp_segments",
        [](uint8_t connection,
           uint8_t id,
           const py::bytes& name,
           const py::bytes& file,
           size_t mtu) {
            std::vector<py::bytes> all;
            for (const auto& u :
                 cftp_segments(connection, id, std::string(name), from_bytes(file), mtu))
                all.push_back(to_bytes(u));
            return all;
        },
        py::arg("connection"),
        py::arg("id"),
        py::arg("name"),
        py::arg("file"),
        py::arg("mtu") = sis_mtu,
        "A file as U_PDUs of CFTP; none if its name is longer than 255 octets.");
    m.def(
        "decode_cftp",
        [](const py::bytes& b) -> py::object {
            const auto v = from_bytes(b);
            const auto s = decode_cftp(v.data(), v.size());
            if (!s)
                return py::none();
            return py::make_tuple(s->connection, s->id, s->segment, to_bytes(s->data));
        },
        "(connection, U_PDU ID, segment number, data) of a U_PDU of CFTP, or None.");
    m.def(
        "cftp_octets",
        [](const py::bytes& first) -> py::object {
            cftp_segment s;
            s.data = from_bytes(first);
            const auto h = decode_cftp_header(s);
            if (!h)
                return py::none();
            return py::int_(2 + h->octets() + uint64_t(h->size));
        },
        "Octets of all segments of a file together, from the data of its first; or "
        "None.");
    m.def(
        "decode_cftp_file",
        [](const py::bytes& data) -> py::object {
            const auto f = decode_cftp_file(from_bytes(data));
            return f ? py::object(to_bytes(f->data)) : py::object(py::none());
        },
        "The file in the joined data of all segments, or None if it is damaged.");
    m.def(
        "cftp_acknowledgement",
        [](uint8_t connection, uint8_t id) {
            return to_bytes(cftp_acknowledgement(connection, id));
        },
        py::arg("connection"),
        py::arg("id"),
        "U_PDU that acknowledges a file.");
}

void bind_clients(py::module& m)
{
    m.attr("SAP_RCOP") = sap_rcop;
    m.attr("SAP_UDOP") = sap_udop;
    m.attr("APP_BFTP") = uint16_t(app_bftp);
    bind_rcop(m);
    bind_file_transfer(m);
    bind_cftp(m);
}

} // namespace

void bind_sis(py::module& m)
{
    auto s = m.def_submodule("s5066", "Formats of STANAG 5066 for SIS clients.");
    s.attr("MTU") = sis_mtu;
    s.attr("MAX_EOT_S") = max_eot_s;
    s.def(
        "d_pdu_name",
        [](unsigned type) { return to_string(static_cast<d_pdu_type>(type & 0xf)); },
        py::arg("type"),
        "Name of a D_PDU type, 0 to 15, as in logs.");
    bind_values(s);
    bind_primitives(s);
    bind_clients(s);
}
