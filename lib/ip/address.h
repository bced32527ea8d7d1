/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gr::hf::ip {

/*! \brief IPv4 or IPv6 address. A value type; the default is IPv4 0.0.0.0. */
class address
{
public:
    constexpr address() = default;
    /*! \brief From text: dotted quad or RFC 4291 form.
     *  \throws std::invalid_argument that names \p text and what is allowed.
     */
    explicit address(const std::string& text);
    //! IPv4 from 4 octets in network order.
    static address v4(const uint8_t* octets);
    //! IPv6 from 16 octets in network order.
    static address v6(const uint8_t* octets);
    //! From text. Empty: not an address.
    static std::optional<address> parse(const std::string& text);

    bool is_v6() const { return d_v6; }
    //! 4 or 16.
    size_t size() const { return d_v6 ? 16 : 4; }
    //! 32 or 128.
    int bits() const { return d_v6 ? 128 : 32; }
    //! size() octets in network order.
    const uint8_t* data() const { return d_octets.data(); }
    //! 224.0.0.0/4 or ff00::/8.
    bool is_multicast() const;
    //! 169.254.0.0/16 or fe80::/10.
    bool is_link_local() const;
    //! An address of the internet: assigned to hosts anywhere, and not to a purpose
    //! (RFC 6890), a private network or a group. One that holds an IPv4 address for a
    //! translator (mapped, 64:ff9b::/96) counts as that. Tunnels (6to4, Teredo) do not.
    bool is_public() const;
    //! IPv4 of a mapped address, ::ffff:0:0/96. Any other address unchanged.
    address unmapped() const;
    //! Dotted quad or the RFC 5952 form.
    std::string to_string() const;

    bool operator==(const address& o) const
    {
        return d_v6 == o.d_v6 && d_octets == o.d_octets;
    }
    bool operator!=(const address& o) const { return !(*this == o); }
    bool operator<(const address& o) const
    {
        return d_v6 != o.d_v6 ? d_v6 < o.d_v6 : d_octets < o.d_octets;
    }

private:
    bool d_v6 = false;
    std::array<uint8_t, 16> d_octets{};
};

/*! \brief Address prefix such as 10.66.0.0/16. Bits after the length are ignored. */
class prefix
{
public:
    //! 0.0.0.0/0
    prefix() = default;
    /*! \brief "10.66.0.0/16", "fd00::/8"; an address without a length is a host prefix.
     *  \throws std::invalid_argument that names \p text and what is allowed.
     */
    explicit prefix(const std::string& text);
    //! \throws std::invalid_argument when \p length is not 0 to a.bits().
    prefix(const address& a, int length);

    const address& base() const { return d_base; }
    int length() const { return d_length; }
    bool contains(const address& a) const;
    std::string to_string() const;

private:
    address d_base;
    int d_length = 0;
};

/*! \brief Longest-prefix table. On a tie the earlier entry wins. */
template <typename T>
class prefix_table
{
public:
    void add(const prefix& p, T value) { d_entries.emplace_back(p, std::move(value)); }
    //! Empty pointer: no entry matches. Valid until the next add().
    const T* find(const address& a) const
    {
        const std::pair<prefix, T>* best = nullptr;
        for (const auto& e : d_entries)
            if (e.first.contains(a) &&
                (best == nullptr || e.first.length() > best->first.length()))
                best = &e;
        return best != nullptr ? &best->second : nullptr;
    }
    const std::vector<std::pair<prefix, T>>& entries() const { return d_entries; }

private:
    std::vector<std::pair<prefix, T>> d_entries;
};

} // namespace gr::hf::ip
