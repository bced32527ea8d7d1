/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace gr::hf::s5066 {

/*! \brief STANAG 5066 node or group address (A.2.2.28): 28 bits and the group flag.
 *
 * Text form `w.x.y.z`: 0.0.0.0 to 15.255.255.255 are nodes, 16.0.0.0 to 31.255.255.255
 * are groups; 31.255.255.255 is the broadcast.
 */
class address
{
public:
    //! Node 0.0.0.0.
    constexpr address() = default;

    /*! \brief Parses the text form.
     *  \throws std::invalid_argument naming \p text and the allowed form
     */
    explicit address(const std::string& text);

    //! Node address of the low 28 bits of \p bits.
    static constexpr address node(uint32_t bits) { return address(bits & 0x0fffffffu); }
    //! Group address of the low 28 bits of \p bits.
    static constexpr address group(uint32_t bits)
    {
        return address((bits & 0x0fffffffu) | 0x10000000u);
    }
    //! All nodes: 31.255.255.255.
    static constexpr address broadcast() { return group(0x0fffffffu); }
    //! Parses the text form; empty if \p text is not an address.
    static std::optional<address> parse(const std::string& text);

    //! The 28 address bits.
    constexpr uint32_t bits() const { return d_raw & 0x0fffffffu; }
    //! 28 address bits and the group flag as bit 28.
    constexpr uint32_t raw() const { return d_raw; }
    constexpr bool is_group() const { return (d_raw & 0x10000000u) != 0; }
    constexpr bool is_broadcast() const { return d_raw == 0x1fffffffu; }
    //! Half octets without leading zeros, 1 to 7.
    int half_octets() const;
    std::string to_string() const;

    constexpr bool operator==(const address& o) const { return d_raw == o.d_raw; }
    constexpr bool operator!=(const address& o) const { return d_raw != o.d_raw; }
    constexpr bool operator<(const address& o) const { return d_raw < o.d_raw; }

private:
    explicit constexpr address(uint32_t raw) : d_raw(raw) {}
    uint32_t d_raw = 0;
};

} // namespace gr::hf::s5066
