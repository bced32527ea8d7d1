/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/symbol_receiver.h"

#include "loopback.h"
#include "modem/find/preamble_watch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <utility>
#include <vector>

namespace gr::hf::kernel {
namespace {

using starts = std::vector<std::pair<size_t, acquired>>; // found at a sample

starts starts_of(const mode& m, const loopback::samples& x)
{
    constexpr size_t quantum = 48;
    preamble_watch watch(grid_of(m), receptions(m.bandwidth_hz, false), 75, {});
    sample_buffer in;
    starts found;
    for (size_t at = 0; at + quantum <= x.size(); at += quantum) {
        in.append(&x[at], quantum);
        while (const auto f = watch.advance(in)) {
            found.emplace_back(at + quantum, f->what);
            watch.restart(static_cast<int64_t>(f->what.origin));
        }
    }
    return found;
}

struct followed {
    size_t starts = 0;
    std::vector<std::complex<float>> symbols;
};

followed follow(const mode& m, const loopback::samples& x, size_t chunk)
{
    const description& d = describe(m);
    symbol_receiver r(d);
    followed out;
    const starts found = starts_of(m, x);
    for (size_t at = 0, next = 0; at < x.size(); at += chunk) {
        const size_t n = std::min(chunk, x.size() - at);
        r.push(&x[at], n);
        for (; next < found.size() && found[next].first <= at + n; ++next)
            r.begin(found[next].second);
        while (const auto b = r.next()) {
            out.starts += b->start.has_value();
            out.symbols.insert(
                out.symbols.end(), b->symbols.symbols.begin(), b->symbols.symbols.end());
        }
    }
    return out;
}

// Preambles are reinserted into a long transmission, and each looks like the next one.
TEST(symbol_receiver, what_goes_on_is_no_new_transmission_whatever_the_chunks)
{
    const mode m = mode::parse("4539-3200S");
    loopback::samples x = loopback::transmit(m, loopback::random_octets(12000, 1));
    x.insert(x.end(), 9600, {});
    const followed fine = follow(m, x, 96);
    EXPECT_GE(starts_of(m, x).size(), 2u) << "the search alone finds them again";
    EXPECT_EQ(fine.starts, 1u);
    EXPECT_GE(fine.symbols.size(), 12000u * 8 / 4 * 2);
    for (const size_t chunk : { size_t{ 512 }, size_t{ 2048 }, size_t{ 20000 } }) {
        const followed coarse = follow(m, x, chunk);
        EXPECT_EQ(coarse.starts, 1u) << chunk;
        EXPECT_EQ(coarse.symbols, fine.symbols) << chunk;
    }
}

} // namespace
} // namespace gr::hf::kernel
