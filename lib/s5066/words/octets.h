/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

/*! \file
 *  Reading and writing fields, most significant octet first.
 */
namespace gr::hf::s5066 {

//! Appends fields to a vector.
class octet_writer
{
public:
    void u8(unsigned v) { d_out.push_back(static_cast<uint8_t>(v)); }
    void u16(unsigned v)
    {
        u8(v >> 8);
        u8(v & 0xff);
    }
    void u32(uint32_t v)
    {
        u16(v >> 16);
        u16(v & 0xffff);
    }
    void bytes(const std::vector<uint8_t>& v)
    {
        d_out.insert(d_out.end(), v.begin(), v.end());
    }
    void bytes(const uint8_t* p, size_t n) { d_out.insert(d_out.end(), p, p + n); }
    std::vector<uint8_t>& out() { return d_out; }

private:
    std::vector<uint8_t> d_out;
};

//! Reads fields from a buffer; reading past the end returns 0 and makes ok() false.
class octet_reader
{
public:
    octet_reader(const uint8_t* p, size_t n) : d_p(p), d_left(n) {}
    bool ok() const { return d_ok; }
    size_t left() const { return d_left; }
    uint8_t u8()
    {
        if (d_left == 0) {
            d_ok = false;
            return 0;
        }
        --d_left;
        return *d_p++;
    }
    uint16_t u16()
    {
        const unsigned hi = u8();
        return static_cast<uint16_t>(hi << 8 | u8());
    }
    uint32_t u32()
    {
        const uint32_t hi = u16();
        return hi << 16 | u16();
    }
    std::vector<uint8_t> bytes(size_t n)
    {
        if (n > d_left) {
            d_ok = false;
            n = d_left;
        }
        std::vector<uint8_t> v(d_p, d_p + n);
        d_p += n;
        d_left -= n;
        return v;
    }
    std::vector<uint8_t> rest() { return bytes(d_left); }

private:
    const uint8_t* d_p;
    size_t d_left;
    bool d_ok = true;
};

} // namespace gr::hf::s5066
