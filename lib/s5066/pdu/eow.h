/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <hf/mode.h>

#include <cstdint>
#include <optional>
#include <vector>

/*! \file
 *  Engineering orderwire messages (C.5): 12 bits in every D_PDU. Bits 11-8 are the type,
 *  bits 7-0 the contents.
 */
namespace gr::hf::s5066 {

enum class eow_type : uint8_t {
    none = 0,
    rate_request = 1, //!< data rate change request or advisory
    rate_response = 2,
    unrecognised = 3, //!< answer to an unknown type
    capability = 4,
    frequency_request = 5,
    frequency_response = 6,
    high_rate_request = 7, //!< with an extended message, in MANAGEMENT D_PDUs only
    own_advice =
        8, //!< our choice among the user-defined types (C.5): encode_rate_advice()
    //! Our choice, too: the number of the token that an empty MANAGEMENT D_PDU hands over.
    token = 9,
    extensions = 15, //!< S5066-EP7; in MANAGEMENT D_PDUs a different message
};

constexpr unsigned eow_kind(uint16_t eow) { return eow >> 8 & 0xf; }
constexpr uint16_t make_eow(eow_type type, unsigned contents)
{
    return static_cast<uint16_t>(static_cast<unsigned>(type) << 8 | (contents & 0xff));
}

//! Bits of EOW 4.
enum capability_bit : unsigned {
    capability_drc = 0x80,
    capability_serial_tone = 0x20,    //!< MIL-STD-188-110, 75 to 2400 bit/s
    capability_extended_rates = 0x10, //!< 3200 bit/s and more
    capability_full_duplex = 0x08,
};

//! Bits of EOW 15, S5066-EP7.
enum extension_bit : unsigned {
    extension_padding = 0x01,          //!< EP2
    extension_pipelining = 0x02,       //!< EP3: data together with the link request
    extension_rate_selection = 0x04,   //!< EP4
    extension_large_windows = 0x08,    //!< EP5
    extension_slotted_access = 0x10,   //!< EP6
    extension_block_eot = 0x20,        //!< EP8: EOT counts to the end of the last block
    extension_compact_confirm = 0x40,  //!< EP9
    extension_variable_segment = 0x80, //!< EP11
};

//! "Other" of EOW 1.
enum class rate_other : uint8_t {
    independent = 0, //!< request: only the sender's transmitter
    equal = 1,       //!< request: both directions
    advisory = 2,    //!< only for the advising node's receiver
    advisory_equal = 3,
};

//! Response of EOW 2.
enum class rate_answer : uint8_t { accept = 0, refuse = 1, cancel = 2, confirm = 3 };

//! Reason of EOW 2, in answer to EOW 1.
enum rate_reason : uint8_t {
    rate_reason_none = 0,
    rate_reason_equal = 1, //!< transmitter and receiver must be the same
    rate_reason_rate = 2,  //!< cannot change the rate; EOW 7: waveform not supported
    rate_reason_interleaver =
        3, //!< cannot change the interleaver; EOW 7: number of channels not supported
    //! Cannot change either; EOW 7: interleaver not supported.
    rate_reason_neither = 4,
    rate_reason_conditions = 5, //!< not consistent with local conditions
};

//! Data rate change requested by EOW 1 or EOW 7.
struct rate_parameters {
    int rate_bps = 0;
    //! Code of EOW 1: 0 none, 1 short, 2 long.
    unsigned interleaver_code = 0;
    rate_other other = rate_other::independent;
    //! EOW 7 only; the interleaver is then \ref interleaver_cs.
    bool high_rate = false;
    unsigned waveform =
        0; //!< 0 110A, 1 110B, 2 S4285, 3 S4539, 4 S4529, 5 S4415, 6 S4481
    unsigned channels = 1;       //!< 1 to 8
    unsigned interleaver_cs = 0; //!< length in 1/100 s
};

//! EOW and, with EOW 7, its extended message.
struct management_message {
    uint16_t eow = 0;
    std::vector<uint8_t> extended;
};

/*! \brief Encodes a rate request: EOW 1 if it has codes for the mode, else EOW 7.
 *  \return empty for wideband modes: neither EOW has a code, and their modems are
 *         autobaud
 */
std::optional<management_message> encode_rate_request(const mode& m, rate_other other);
//! Decodes EOW 1 and 7; empty for other types, unknown rates and damaged messages.
std::optional<rate_parameters> decode_rate_request(const management_message& m);
/*! \brief Finds the requested mode.
 *  \param why set to the reason of the refusal if no mode matches
 */
std::optional<mode> find_mode(const rate_parameters& p, uint8_t& why);

/*! \brief Encodes EOW 1 as an advisory for the advising node's receiver only (C.5). The
 *         standard defines it for the rate change procedure. Sending it in any D_PDU is
 *         our choice.
 *
 * EOW 1 has no code for modes of 5069 and of our robust family. They use EOW 8, which is
 * our own. Bits 7-4 are the index of the rate among those of the bandwidth, lowest first.
 * Bits 3-2 are the interleaver: 0 ultra short, 1 short, 2 medium, 3 long. Bits 1-0 are 1
 * for the robust family, 2 for 5069 with constraint length 7, and 3 for 9. The bandwidth
 * is that of the channel.
 *  \return empty for modes without a code
 */
std::optional<uint16_t> encode_rate_advice(const mode& m);
/*! \brief The mode that an advisory asks for; empty if \p eow is no advisory or we lack
 *         the mode.
 *  \param bandwidth_hz bandwidth of the channel
 */
std::optional<mode> decode_rate_advice(uint16_t eow, int bandwidth_hz = 3000);

inline uint16_t encode_rate_answer(rate_answer a, uint8_t reason)
{
    return make_eow(eow_type::rate_response,
                    static_cast<unsigned>(a) << 5 | (reason & 0x1fu));
}

} // namespace gr::hf::s5066
