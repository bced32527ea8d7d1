/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/pdu/crc.h"

#include <array>

namespace gr::hf::s5066 {

namespace {

template <typename T>
constexpr std::array<T, 256> reflected_table(T poly)
{
    std::array<T, 256> t{};
    for (unsigned i = 0; i < 256; ++i) {
        T r = static_cast<T>(i);
        for (int b = 0; b < 8; ++b)
            r = static_cast<T>(r & 1 ? (r >> 1) ^ poly : r >> 1);
        t[i] = r;
    }
    return t;
}

constexpr auto table_16 = reflected_table<uint16_t>(0x9299);
constexpr auto table_32 = reflected_table<uint32_t>(0xf3a4e550);

template <typename T>
T run(const std::array<T, 256>& table, const uint8_t* p, size_t n)
{
    T r = 0;
    for (size_t i = 0; i < n; ++i)
        r = static_cast<T>(table[(r ^ p[i]) & 0xff] ^ (r >> 8));
    return r;
}

} // namespace

uint16_t crc16(const uint8_t* p, size_t n) { return run(table_16, p, n); }
uint32_t crc32(const uint8_t* p, size_t n) { return run(table_32, p, n); }

} // namespace gr::hf::s5066
