/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// All PDUs against octets and fields written down independently of this code.
#include "s5066/pdu/c_pdu.h"
#include "s5066/pdu/crc.h"
#include "s5066/pdu/d_pdu.h"
#include "s5066/pdu/s_pdu.h"
#include "s5066/pdu/s_primitive.h"
#include "vectors.h"

#include <gtest/gtest.h>
#include <set>

using namespace gr::hf::s5066;

namespace {

using fields = std::map<std::string, std::string>;

std::string num(uint64_t v) { return std::to_string(v); }

// "SAP in use (3)" means 3.
std::string plain_number(const std::string& s)
{
    const auto open = s.rfind('(');
    return open != std::string::npos && s.back() == ')'
               ? s.substr(open + 1, s.size() - open - 2)
               : s;
}

//! Compares the fields that both have; \return their number
size_t compare(const golden& g, const fields& got)
{
    size_t n = 0;
    for (const auto& [name, value] : got) {
        const auto it = g.fields.find(name);
        if (it != g.fields.end()) {
            ++n;
            EXPECT_EQ(value, name == "reason" ? plain_number(it->second) : it->second)
                << g.id << " " << name;
        }
    }
    return n;
}

void put_service(fields& f, const delivery_mode& m)
{
    static const char* modes[] = { "DEFAULT (0)", "ARQ", "non-ARQ", "non-ARQ w/errors" };
    static const char* confirms[] = { "none", "node", "client" };
    f["txmode"] = modes[static_cast<int>(m.mode)];
    f["confirm"] = confirms[static_cast<int>(m.confirmation)];
    f["order"] = m.order == delivery_order::in_order ? "in-order" : "as-they-arrive";
    f["ext"] = num(m.extended);
    f["min_retx"] = num(m.retransmissions);
}

void put_link(fields& f, const hard_link& l)
{
    f["link_type"] = num(l.type);
    f["link_priority"] = num(l.priority);
    f["remote_sap"] = num(l.remote_sap);
    f["remote_node"] = l.remote.to_string();
}

std::string blocks(const std::vector<std::pair<uint16_t, uint16_t>>& b)
{
    std::string s = "[";
    for (const auto& [offset, length] : b) {
        s += (s.size() > 1 ? ",[" : "[") + num(offset) + "," + num(length) + "]";
    }
    return s + "]";
}

struct sis_fields {
    fields f;
    void operator()(const s_bind_request& p)
    {
        f["sap"] = num(p.sap);
        f["rank"] = num(p.rank);
        put_service(f, p.service);
    }
    void operator()(const s_bind_accepted& p)
    {
        f["sap"] = num(p.sap);
        f["mtu"] = num(p.mtu);
    }
    void operator()(const s_bind_rejected& p) { f["reason"] = num(p.reason); }
    void operator()(const s_unbind_indication& p) { f["reason"] = num(p.reason); }
    void operator()(const s_hard_link_establish& p) { put_link(f, p.link); }
    void operator()(const s_hard_link_terminate& p)
    {
        f["remote_node"] = p.remote.to_string();
    }
    void operator()(const s_hard_link_established& p)
    {
        put_link(f, p.link);
        f["status"] = num(p.status);
    }
    void operator()(const s_hard_link_rejected& p)
    {
        put_link(f, p.link);
        f["reason"] = num(p.reason);
    }
    void operator()(const s_hard_link_terminated& p)
    {
        put_link(f, p.link);
        f["reason"] = num(p.reason);
    }
    void operator()(const s_hard_link_indication& p)
    {
        put_link(f, p.link);
        f["status"] = num(p.status);
    }
    void operator()(const s_hard_link_accept& p) { put_link(f, p.link); }
    void operator()(const s_hard_link_reject& p)
    {
        put_link(f, p.link);
        f["reason"] = num(p.reason);
    }
    void operator()(const s_subnet_availability& p)
    {
        f["status"] = num(p.status);
        f["reason"] = num(p.reason);
    }
    void operator()(const s_management_msg_request& p)
    {
        f["msg_type"] = num(p.message_type);
        f["body"] = to_hex(p.body);
    }
    void operator()(const s_management_msg_indication& p)
    {
        f["msg_type"] = num(p.message_type);
        f["body"] = to_hex(p.body);
    }
    void operator()(const s_unidata_request& p)
    {
        f["priority"] = num(p.priority);
        f["dst_sap"] = num(p.dst_sap);
        f["dst"] = p.dst.to_string();
        f["group"] = num(p.dst.is_group());
        f["ttl_field"] = num(p.ttl);
        f["ttl_seconds"] = num(p.ttl * sis_ttl_unit_s);
        f["u_pdu"] = to_hex(p.u_pdu);
        put_service(f, p.mode);
    }
    void operator()(const s_unidata_indication& p)
    {
        delivery_mode m;
        m.mode = p.mode;
        put_service(f, m);
        f["priority"] = num(p.priority);
        f["dst_sap"] = num(p.dst_sap);
        f["dst"] = p.dst.to_string();
        f["src_sap"] = num(p.src_sap);
        f["src"] = p.src.to_string();
        f["u_pdu"] = to_hex(p.u_pdu);
        f["errored"] = blocks(p.errored);
        f["not_received"] = blocks(p.missing);
    }
    void operator()(const s_unidata_request_confirm& p)
    {
        f["dst_sap"] = num(p.dst_sap);
        f["dst"] = p.dst.to_string();
        f["part"] = to_hex(p.u_pdu);
    }
    void operator()(const s_unidata_request_rejected& p)
    {
        f["reason"] = num(p.reason);
        f["dst_sap"] = num(p.dst_sap);
        f["dst"] = p.dst.to_string();
        f["part"] = to_hex(p.u_pdu);
    }
    template <typename T>
    void operator()(const T&)
    {
    }
};

fields d_pdu_fields(const d_pdu& d)
{
    fields f;
    f["type"] = num(static_cast<unsigned>(d.type));
    f["eow_type"] = num(d.eow >> 8);
    f["eow_data"] = num(d.eow & 0xff);
    f["eot"] = num(d.eot);
    f["m"] = num(d.address_size);
    f["h"] = num(d.header_octets() - 2 - d.address_size);
    f["dst"] = d.dst.to_string();
    f["src"] = d.src.to_string();
    switch (d.type) {
    case d_pdu_type::data_only:
    case d_pdu_type::data_ack:
        f["start"] = num(d.arq.start);
        f["end"] = num(d.arq.end);
        f["in_order"] = num(d.arq.in_order);
        f["drop"] = num(d.arq.drop);
        f["uwe"] = num(d.arq.uwe);
        f["lwe"] = num(d.arq.lwe);
        f["fsn"] = num(d.arq.fsn);
        break;
    case d_pdu_type::reset:
        f["full"] = num(d.reset.full);
        f["txreq"] = num(d.reset.tx_rqst);
        f["rxcmd"] = num(d.reset.rx_cmnd);
        f["ack"] = num(d.reset.ack);
        f["lwe"] = num(d.reset.new_rx_lwe);
        f["fid"] = num(d.reset.frame_id);
        break;
    case d_pdu_type::expedited_data_only:
        f["start"] = num(d.expedited.start);
        f["end"] = num(d.expedited.end);
        f["cpdu_id"] = num(d.expedited.c_pdu_id);
        f["fsn"] = num(d.expedited.fsn);
        break;
    case d_pdu_type::management:
        f["valid"] = num(d.management.valid);
        f["ack"] = num(d.management.ack);
        f["frame_id"] = num(d.management.frame_id);
        f["extended"] = to_hex(d.management.extended);
        break;
    case d_pdu_type::non_arq_data:
    case d_pdu_type::expedited_non_arq_data:
        f["cpdu_id"] = num(d.non_arq.c_pdu_id);
        f["order"] = num(d.non_arq.in_order);
        f["group"] = num(d.non_arq.group);
        f["cpdu_size"] = num(d.non_arq.c_pdu_size);
        f["offset"] = num(d.non_arq.offset);
        f["rxwin"] = num(d.non_arq.window);
        f["seg"] = num(d.segment.size());
        break;
    case d_pdu_type::warning:
        f["received_type"] = num(d.warning.received_type);
        f["reason"] = num(d.warning.reason);
        break;
    default:
        break;
    }
    if (d.type == d_pdu_type::ack_only || d.type == d_pdu_type::data_ack ||
        d.type == d_pdu_type::expedited_ack_only) {
        f["rx_lwe"] = num(d.ack.rx_lwe);
        f["acks"] = to_hex(d.ack.selective);
    }
    if (has_segment(d.type)) {
        f["size"] = num(d.segment.size());
        f["payload"] = to_hex(d.segment);
    }
    return f;
}

} // namespace

TEST(Conformance, Row10_01_All27PrimitivesOctetExact)
{
    const auto all = load_golden("sis");
    ASSERT_EQ(all.size(), 34u);
    size_t compared = 0;
    std::set<uint8_t> types;
    for (const auto& g : all) {
        const auto p = decode_primitive(g.hex);
        ASSERT_TRUE(p) << g.id;
        const auto size = g.fields.find("address_size");
        EXPECT_EQ(
            to_hex(encode(*p, size == g.fields.end() ? 7 : std::stoi(size->second))),
            to_hex(g.hex))
            << g.id;
        EXPECT_EQ(num(primitive_type(*p)), g.fields.at("type")) << g.id;
        types.insert(primitive_type(*p));
        sis_fields f;
        std::visit([&f](const auto& v) { f(v); }, *p);
        compared += compare(g, f.f);
    }
    EXPECT_EQ(types.size(), 27u);
    EXPECT_GE(compared, 120u);
}

TEST(golden_pdus, s_pdus)
{
    const auto all = load_golden("spdu");
    ASSERT_EQ(all.size(), 11u);
    std::set<s_pdu_type> types;
    for (const auto& g : all) {
        const auto s = decode_s_pdu(g.hex.data(), g.hex.size());
        ASSERT_TRUE(s) << g.id;
        types.insert(s->type);
        EXPECT_EQ(to_hex(encode(*s)), to_hex(g.hex)) << g.id;
        fields f;
        f["type"] = num(static_cast<unsigned>(s->type));
        f[s->is_data() ? "priority" : "reason"] = num(s->low);
        f["src_sap"] = num(s->src_sap);
        f["dst_sap"] = num(s->dst_sap);
        f["requesting_sap"] = num(s->src_sap);
        f["remote_sap"] = num(s->dst_sap);
        f["link_type"] = num(s->link_type());
        f["link_priority"] = num(s->link_priority());
        f["confirm_required"] = num(s->confirm_required);
        f["valid_ttd"] = num(s->ttd.has_value());
        f["u_pdu"] = to_hex(s->u_pdu);
        char id[16];
        std::snprintf(id, sizeof id, "0x%08x", static_cast<unsigned>(s->id));
        f["id"] = id;
        if (s->ttd) {
            f["julian_mod16"] = num(s->ttd->day_mod_16);
            f["gmt_field"] = num(s->ttd->half_gmt_s);
        }
        EXPECT_GE(compare(g, f), 1u) << g.id;
    }
    EXPECT_EQ(types.size(), 10u); // 0 to 7, and 8 and 9 of S5066-EP9
}

TEST(golden_pdus, c_pdus)
{
    const auto all = load_golden("cpdu");
    ASSERT_EQ(all.size(), 8u);
    for (const auto& g : all) {
        const auto c = decode_c_pdu(g.hex.data(), g.hex.size());
        ASSERT_TRUE(c) << g.id;
        EXPECT_EQ(to_hex(encode(*c)), to_hex(g.hex)) << g.id;
        fields f;
        f["type"] = num(static_cast<unsigned>(c->type));
        f["low_nibble"] = num(c->low);
        EXPECT_GE(compare(g, f), 1u) << g.id;
    }
}

TEST(golden_pdus, d_pdus)
{
    const auto all = load_golden("dts");
    ASSERT_EQ(all.size(), 37u);
    std::set<d_pdu_type> types;
    for (const auto& g : all) {
        const auto d = decode_d_pdu(g.hex);
        ASSERT_TRUE(d) << g.id;
        EXPECT_TRUE(d->segment_ok) << g.id;
        EXPECT_EQ(d->octets(), g.hex.size()) << g.id;
        EXPECT_EQ(to_hex(encode(*d)), to_hex(g.hex)) << g.id;
        types.insert(d->type);
        const auto f = d_pdu_fields(*d);
        EXPECT_GE(compare(g, f), 8u) << g.id;
        const auto crc = g.fields.at("header_crc");
        const size_t h = d->header_octets();
        char text[8];
        std::snprintf(text, sizeof text, "0x%04x", g.hex[h - 2] | g.hex[h - 1] << 8);
        EXPECT_EQ(text, crc) << g.id;
    }
    EXPECT_EQ(types.size(), 11u); // 0 to 8, 13 and 15
}

TEST(golden_pdus, published_crc_examples)
{
    const auto v = from_hex("f0000047056402");
    EXPECT_EQ(crc16(v.data(), v.size()), 0x1e5f);
    EXPECT_EQ(crc32(v.data(), v.size()), 0xf4178f95u);
}

TEST(golden_pdus, addresses)
{
    EXPECT_EQ(address("1.2.3.4").bits(), 0x01020304u);
    EXPECT_EQ(address("31.255.255.255"), address::broadcast());
    EXPECT_EQ(address("16.0.0.1"), address::group(1));
    EXPECT_EQ(address("0.0.0.5").half_octets(), 1);
    EXPECT_EQ(address("0.0.1.5").half_octets(), 3);
    for (const char* bad :
         { "", "1.2.3", "1.2.3.4.", "32.0.0.0", "1.2.3.256", "1..3.4", "a" }) {
        EXPECT_THROW(address{ std::string(bad) }, std::invalid_argument) << bad;
        EXPECT_FALSE(address::parse(bad)) << bad;
    }
}
