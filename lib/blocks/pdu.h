/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <hf/keys.h>
#include <hf/station_time.h>
#include <pmt/pmt.h>

#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/*! \file pdu.h
 *  \brief Building and reading PDUs without exceptions. A port may receive any message.
 */
namespace gr::hf::pdu {

//! Metadata under construction. Methods can be chained.
class builder
{
public:
    explicit builder(const char* type) { set(keys::type(), pmt::intern(type)); }
    builder() = default;

    builder& set(const pmt::pmt_t& key, const pmt::pmt_t& value)
    {
        d_meta = pmt::dict_add(d_meta, key, value);
        return *this;
    }
    builder& set(const pmt::pmt_t& key, station_time t)
    {
        return set(key, pmt::from_uint64(static_cast<uint64_t>(t.count())));
    }
    builder& set(const pmt::pmt_t& key, uint64_t v)
    {
        return set(key, pmt::from_uint64(v));
    }
    builder& set(const pmt::pmt_t& key, double v)
    {
        return set(key, pmt::from_double(v));
    }
    builder& set(const pmt::pmt_t& key, bool v) { return set(key, pmt::from_bool(v)); }
    builder& set(const pmt::pmt_t& key, const std::string& v)
    {
        return set(key, pmt::intern(v));
    }

    builder& set(const pmt::pmt_t& key, const std::vector<float>& v)
    {
        return set(key, pmt::init_f32vector(v.size(), v));
    }
    builder& set(const pmt::pmt_t& key, const std::vector<std::complex<float>>& v)
    {
        return set(key, pmt::init_c32vector(v.size(), v));
    }
    builder& unset(const pmt::pmt_t& key)
    {
        d_meta = pmt::dict_delete(d_meta, key);
        return *this;
    }

    pmt::pmt_t make(const std::vector<uint8_t>& octets = {}) const
    {
        return pmt::cons(d_meta, pmt::init_u8vector(octets.size(), octets));
    }

    //! With complex values instead of octets.
    pmt::pmt_t make(const std::vector<std::complex<float>>& values) const
    {
        return pmt::cons(d_meta, pmt::init_c32vector(values.size(), values));
    }

private:
    pmt::pmt_t d_meta = pmt::make_dict();
};

/*! \brief One line of a log: a PDU of type log with the time, and the text as octets
 *         (UTF-8).
 *  \details The text is not a symbol, because GNU Radio keeps every symbol forever.
 */
inline pmt::pmt_t
line(station_time now, const std::string& text, builder b = builder("log"))
{
    return b.set(keys::now(), now).make(std::vector<uint8_t>(text.begin(), text.end()));
}

//! Read access to a message that claims to be a PDU.
class reader
{
public:
    explicit reader(const pmt::pmt_t& msg)
    {
        d_valid = pmt::is_pair(msg) && pmt::is_dict(pmt::car(msg)) &&
                  pmt::is_u8vector(pmt::cdr(msg));
        if (d_valid) {
            d_meta = pmt::car(msg);
            d_data = pmt::cdr(msg);
        }
    }

    bool valid() const { return d_valid; }

    std::string symbol(const pmt::pmt_t& key) const
    {
        const auto v = find(key);
        return pmt::is_symbol(v) ? pmt::symbol_to_string(v) : std::string();
    }
    std::string type() const { return symbol(keys::type()); }

    std::optional<uint64_t> integer(const pmt::pmt_t& key) const
    {
        const auto v = find(key);
        if (pmt::is_uint64(v))
            return pmt::to_uint64(v);
        if (pmt::is_integer(v) && pmt::to_long(v) >= 0)
            return static_cast<uint64_t>(pmt::to_long(v));
        return std::nullopt;
    }
    std::optional<station_time> time(const pmt::pmt_t& key) const
    {
        const auto v = integer(key);
        if (!v || *v > static_cast<uint64_t>(INT64_MAX))
            return std::nullopt;
        return station_time(static_cast<int64_t>(*v));
    }
    //! Elements of a u8vector; empty: none there.
    std::vector<uint8_t> octets(const pmt::pmt_t& key) const
    {
        const auto v = find(key);
        return pmt::is_u8vector(v) ? pmt::u8vector_elements(v) : std::vector<uint8_t>();
    }
    double real(const pmt::pmt_t& key, double otherwise = 0) const
    {
        const auto v = find(key);
        return pmt::is_real(v) ? pmt::to_double(v) : otherwise;
    }
    bool flag(const pmt::pmt_t& key) const { return pmt::is_true(find(key)) && has(key); }
    bool has(const pmt::pmt_t& key) const { return !pmt::is_null(find(key)); }

    std::vector<uint8_t> octets() const
    {
        return d_valid ? pmt::u8vector_elements(d_data) : std::vector<uint8_t>();
    }

private:
    pmt::pmt_t find(const pmt::pmt_t& key) const
    {
        return d_valid ? pmt::dict_ref(d_meta, key, pmt::PMT_NIL) : pmt::PMT_NIL;
    }

    bool d_valid = false;
    pmt::pmt_t d_meta = pmt::PMT_NIL;
    pmt::pmt_t d_data = pmt::PMT_NIL;
};

} // namespace gr::hf::pdu
