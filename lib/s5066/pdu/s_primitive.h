/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/words/address.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

/*! \file
 *  S_primitives of STANAG 5066 Annex A: value types, octet codec, deframer for TCP.
 */
namespace gr::hf::s5066 {

//! TCP port of the SIS (IANA).
constexpr uint16_t sis_port = 5066;
//! Longest U_PDU that a node accepts (A.2.1.3); a broadcast-only node may accept more.
constexpr size_t sis_mtu = 2048;
//! Octets before those that the size field counts: preamble 2, version 1, size 2.
constexpr size_t sis_header_octets = 5;
//! Unit of the TTL field.
constexpr uint32_t sis_ttl_unit_s = 2;
//! Largest TTL field: 15 days.
constexpr uint32_t sis_ttl_max = 648000;

enum class transmission_mode : uint8_t {
    default_ = 0,            //!< use the service type of the bind; invalid in a bind
    arq = 1,                 //!< repeated until acknowledged
    non_arq = 2,             //!< no repeats; only error-free U_PDUs are delivered
    non_arq_with_errors = 3, //!< damaged U_PDUs are delivered, too
};
enum class delivery_confirmation : uint8_t { none = 0, node = 1, client = 2 };
enum class delivery_order : uint8_t { in_order = 0, as_they_arrive = 1 };

//! Service type of a bind and delivery mode of a U_PDU; both are the same 12 bits
//! (A.2.2.28).
struct delivery_mode {
    transmission_mode mode = transmission_mode::arq;
    delivery_confirmation confirmation = delivery_confirmation::none;
    delivery_order order = delivery_order::in_order;
    bool extended = false;       //!< always false in Edition 3
    uint8_t retransmissions = 0; //!< non-ARQ only, 0 to 15: sent 1 + this many times

    bool operator==(const delivery_mode& o) const;
    bool operator!=(const delivery_mode& o) const { return !(*this == o); }
};

enum class bind_reject_reason : uint8_t {
    not_enough_resources = 1,
    invalid_sap = 2,
    sap_in_use = 3,
    no_arq_in_broadcast = 4
};
enum class unbind_reason : uint8_t {
    higher_rank = 1,
    no_keep_alive = 2,
    invalid_primitives = 3,
    too_many_expedited = 4,
    no_arq_in_broadcast = 5
};
enum class hard_link_reject_reason : uint8_t {
    remote_busy = 1,
    higher_priority = 2,
    not_responding = 3,
    sap_not_bound = 4,
    type_0_exists = 5
};
enum class hard_link_end_reason : uint8_t {
    remote_node = 1,
    higher_priority = 2,
    not_responding = 3,
    sap_unbound = 4,
    link_broken = 5
};
enum class unidata_reject_reason : uint8_t {
    ttl_expired = 1,
    sap_not_bound = 2,
    not_responding = 3,
    larger_than_mtu = 4,
    no_transmission_mode = 5
};
enum class node_status : uint8_t {
    off = 0,
    on = 1,
    receive_only = 2,
    half_duplex = 3,
    full_duplex = 4,
    transmit_only = 5
};

//! Link type, priority, SAP and node of the hard link primitives.
struct hard_link {
    uint8_t type = 0;       //!< 0, 1 or 2
    uint8_t priority = 0;   //!< 0 to 3
    uint8_t remote_sap = 0; //!< used for type 2 only
    address remote;
};

// The primitives in the order of their numbers. SAPs, ranks and priorities are 0 to 15.
struct s_bind_request { // 1
    uint8_t sap = 0;
    uint8_t rank = 0;
    delivery_mode service;
};
struct s_unbind_request { // 2
};
struct s_bind_accepted { // 3
    uint8_t sap = 0;
    uint16_t mtu = sis_mtu;
};
struct s_bind_rejected { // 4
    uint8_t reason = 0;  //!< bind_reject_reason
};
struct s_unbind_indication { // 5
    uint8_t reason = 0;      //!< unbind_reason
};
struct s_hard_link_establish { // 6
    hard_link link;
};
struct s_hard_link_terminate { // 7
    address remote;
};
struct s_hard_link_established { // 8
    uint8_t status = 1;
    hard_link link;
};
struct s_hard_link_rejected { // 9
    uint8_t reason = 0;       //!< hard_link_reject_reason
    hard_link link;
};
struct s_hard_link_terminated { // 10
    uint8_t reason = 0;         //!< hard_link_end_reason
    hard_link link;
};
struct s_hard_link_indication { // 11
    uint8_t status = 1;
    hard_link link;
};
struct s_hard_link_accept { // 12
    hard_link link;
};
struct s_hard_link_reject { // 13
    uint8_t reason = 0;
    hard_link link;
};
struct s_subnet_availability { // 14
    uint8_t status = 0;        //!< node_status
    uint8_t reason = 0;
};
struct s_data_flow_on { // 15
};
struct s_data_flow_off { // 16
};
struct s_keep_alive { // 17
};
struct s_management_msg_request { // 18
    uint8_t message_type = 0;
    std::vector<uint8_t> body;
};
struct s_management_msg_indication { // 19
    uint8_t message_type = 0;
    std::vector<uint8_t> body;
};
struct s_unidata_request { // 20, expedited: 24
    bool expedited = false;
    uint8_t priority = 0; //!< 0 to 15, highest first; 0 if expedited
    uint8_t dst_sap = 0;
    address dst;
    delivery_mode mode;
    uint32_t ttl = 0; //!< in units of 2 s, 0 to 648000; 0 is the node's default
    std::vector<uint8_t> u_pdu;
};
struct s_unidata_indication { // 21, expedited: 25
    bool expedited = false;
    uint8_t priority = 0;
    uint8_t dst_sap = 0;
    address dst; //!< may be a group
    transmission_mode mode = transmission_mode::arq;
    uint8_t src_sap = 0;
    address src;
    //! (offset, length) of damaged and missing parts; only with non_arq_with_errors.
    std::vector<std::pair<uint16_t, uint16_t>> errored;
    std::vector<std::pair<uint16_t, uint16_t>> missing;
    std::vector<uint8_t> u_pdu;
};
struct s_unidata_request_confirm { // 22, expedited: 26
    bool expedited = false;
    uint8_t dst_sap = 0;
    address dst;
    std::vector<uint8_t> u_pdu; //!< first octets of the confirmed U_PDU
};
struct s_unidata_request_rejected { // 23, expedited: 27
    bool expedited = false;
    uint8_t reason = 0; //!< unidata_reject_reason
    uint8_t dst_sap = 0;
    address dst;
    std::vector<uint8_t> u_pdu; //!< first octets of the rejected U_PDU
};

using s_primitive = std::variant<s_bind_request,
                                 s_unbind_request,
                                 s_bind_accepted,
                                 s_bind_rejected,
                                 s_unbind_indication,
                                 s_hard_link_establish,
                                 s_hard_link_terminate,
                                 s_hard_link_established,
                                 s_hard_link_rejected,
                                 s_hard_link_terminated,
                                 s_hard_link_indication,
                                 s_hard_link_accept,
                                 s_hard_link_reject,
                                 s_subnet_availability,
                                 s_data_flow_on,
                                 s_data_flow_off,
                                 s_keep_alive,
                                 s_management_msg_request,
                                 s_management_msg_indication,
                                 s_unidata_request,
                                 s_unidata_indication,
                                 s_unidata_request_confirm,
                                 s_unidata_request_rejected>;

//! Primitive number of table A-1, 1 to 27.
uint8_t primitive_type(const s_primitive& p);
//! "S_BIND_REQUEST" and so on; "S_UNKNOWN" for a number outside 1 to 27.
const char* primitive_name(uint8_t type);

/*! \brief Encodes a whole primitive, preamble included.
 *  \param p the primitive
 *  \param address_size half octets per address, 1 to 7; 7 always works
 *  \return empty if a value does not fit its field: a body over 65535 octets, a SAP over
 *         15, an address longer than \p address_size
 */
std::vector<uint8_t> encode(const s_primitive& p, int address_size = 7);

/*! \brief Decodes one whole primitive of \p n octets, preamble included.
 *  \details Accepts the two zero error counts that some old servers send in every
 *         indication.
 *  \return empty if it is not a well-formed primitive of Edition 3
 */
std::optional<s_primitive> decode_primitive(const uint8_t* p, size_t n);
inline std::optional<s_primitive> decode_primitive(const std::vector<uint8_t>& v)
{
    return decode_primitive(v.data(), v.size());
}

//! A wrong size field in a primitive.
struct sis_size_fault {
    uint8_t type = 0;     //!< number of the primitive
    size_t size = 0;      //!< value of the field
    size_t right = 0;     //!< correct value
    bool swapped = false; //!< correct if its two octets are exchanged

    //! Message for the operator.
    std::string to_string() const;
};

/*! \brief Compares the size field of a primitive with the size for its type and the
 *         length of its U_PDU.
 *  \param p octets from the preamble on; the first three are right
 *  \param n number of octets received
 *  \return empty if the field is right, or if \p n is too small to decide
 */
std::optional<sis_size_fault> find_size_fault(const uint8_t* p, size_t n);

/*! \brief Cuts a TCP octet stream into whole primitives.
 *
 * Primitives may be split over segments or share one. A wrong preamble or version counts
 * once as invalid. So does a size that is zero or that the primitive cannot have. The
 * search then continues at the next `90 EB 00`, so that a wrong size does not swallow the
 * primitives after it. Before the first primitive there is no search: a web page could
 * make a browser send primitives after a head of HTTP.
 */
class sis_deframer
{
public:
    //! Takes received octets. Then call next() until it is empty, so that at most 65540
    //! stay buffered.
    void push(const uint8_t* p, size_t n);
    void push(const std::vector<uint8_t>& v) { push(v.data(), v.size()); }
    //! The next whole primitive, preamble included; its body is not checked.
    std::optional<std::vector<uint8_t>> next();
    //! True if the stream does not begin with a primitive. It will have none.
    bool foreign() const { return d_foreign; }
    //! Losses of synchronisation so far.
    uint64_t invalid() const { return d_invalid; }
    //! The last wrong size found.
    const std::optional<sis_size_fault>& size_fault() const { return d_size_fault; }
    //! Octets of a primitive that is not complete yet.
    size_t buffered() const { return d_buf.size() - d_pos; }

private:
    void skip();

    std::vector<uint8_t> d_buf;
    size_t d_pos = 0;
    uint64_t d_invalid = 0;
    bool d_hunting = false;
    bool d_begun = false; // there was a primitive
    bool d_foreign = false;
    std::optional<sis_size_fault> d_size_fault;
};

} // namespace gr::hf::s5066
