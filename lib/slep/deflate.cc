/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slep/deflate.h"

#include "slep/dictionaries.h"

#include <algorithm>
#include <new>
#include <zlib.h>

namespace gr::hf::slep {

namespace {
constexpr int raw_window = -15; // negative: no zlib header
constexpr int level = 6, memory_level = 8;
constexpr size_t chunk = 16384;
// Input octets between decisions whether to compress: while compressing, and while not.
constexpr size_t trial_octets = 65536, stored_octets = 1 << 20;
// Size of the sample for comparing strategies, and octets between comparisons.
constexpr size_t sample_octets = 2048, strategy_octets = 16384;

//! Compressed size of \p data by itself.
size_t size_with(int strategy, const std::vector<uint8_t>& data)
{
    z_stream z{};
    if (deflateInit2(&z, level, Z_DEFLATED, raw_window, memory_level, strategy) != Z_OK)
        return data.size();
    std::vector<uint8_t> out(deflateBound(&z, static_cast<uLong>(data.size())));
    z.next_in = const_cast<Bytef*>(data.data());
    z.avail_in = static_cast<uInt>(data.size());
    z.next_out = out.data();
    z.avail_out = static_cast<uInt>(out.size());
    ::deflate(&z, Z_FINISH);
    const size_t size = z.total_out;
    deflateEnd(&z);
    return size;
}

const Bytef* octets_of(std::string_view v)
{
    return reinterpret_cast<const Bytef*>(v.data());
}
} // namespace

deflater::deflater(uint8_t dictionary) : d_z(new z_stream()), d_until_trial(sample_octets)
{
    if (deflateInit2(
            d_z.get(), level, Z_DEFLATED, raw_window, memory_level, Z_DEFAULT_STRATEGY) !=
        Z_OK)
        throw std::bad_alloc();
    const auto words = preset_dictionary(dictionary);
    if (!words.empty())
        deflateSetDictionary(
            d_z.get(), octets_of(words), static_cast<uInt>(words.size()));
}

deflater::~deflater() { deflateEnd(d_z.get()); }

void deflater::run(const uint8_t* p, size_t n, flush f, std::vector<uint8_t>& out)
{
    if (d_ended || (n == 0 && (f == flush::none || (f == flush::sync && !d_dirty))))
        return;
    const size_t before = out.size();
    sample(p, n, out);
    d_z->next_in = const_cast<Bytef*>(p);
    d_z->avail_in = static_cast<uInt>(n);
    const int how = f == flush::none   ? Z_NO_FLUSH
                    : f == flush::sync ? Z_SYNC_FLUSH
                                       : Z_FINISH;
    do {
        const size_t at = out.size();
        out.resize(at + chunk);
        d_z->next_out = out.data() + at;
        d_z->avail_out = chunk;
        ::deflate(d_z.get(), how);
        out.resize(at + chunk - d_z->avail_out);
    } while (d_z->avail_out == 0);
    d_dirty = f == flush::none;
    d_ended = f == flush::last;
    adapt(n, out.size() - before, out);
}

void deflater::adapt(size_t in, size_t out, std::vector<uint8_t>& to)
{
    d_in += in;
    d_out += out;
    if (d_ended || d_in < (d_stored ? stored_octets : trial_octets))
        return;
    const bool stored = !d_stored && d_out > d_in - d_in / 20;
    d_in = d_out = 0;
    if (stored == d_stored)
        return;
    d_stored = stored;
    set(stored ? 0 : level, d_strategy, to);
}

// Call it before new input. The kind of data decides the strategy.
void deflater::sample(const uint8_t* p, size_t n, std::vector<uint8_t>& out)
{
    if (d_stored || n == 0)
        return;
    if (d_until_trial > sample_octets + n) {
        d_until_trial -= n;
        return;
    }
    const size_t take = std::min(n, sample_octets - d_sample.size());
    d_sample.insert(d_sample.end(), p, p + take);
    if (d_sample.size() < sample_octets)
        return;
    const size_t plain = size_with(Z_DEFAULT_STRATEGY, d_sample);
    const size_t filtered = size_with(Z_FILTERED, d_sample);
    const int better = filtered + filtered / 32 < plain ? Z_FILTERED : Z_DEFAULT_STRATEGY;
    d_sample.clear();
    d_until_trial = strategy_octets;
    if (better != d_strategy)
        set(level, d_strategy = better, out);
}

void deflater::set(int new_level, int strategy, std::vector<uint8_t>& out)
{
    // First output the pending octets with the old parameters.
    d_z->next_in = nullptr;
    d_z->avail_in = 0;
    int r = Z_OK;
    do {
        const size_t at = out.size();
        out.resize(at + chunk);
        d_z->next_out = out.data() + at;
        d_z->avail_out = chunk;
        r = ::deflateParams(d_z.get(), new_level, strategy);
        out.resize(at + chunk - d_z->avail_out);
    } while (r == Z_BUF_ERROR && d_z->avail_out == 0);
}

std::optional<std::vector<uint8_t>> deflate_whole(const std::vector<uint8_t>& data)
{
    // Below this the block header and the codes cost more than they save.
    constexpr size_t least = 32;
    if (data.size() < least)
        return std::nullopt;
    std::vector<uint8_t> out;
    deflater().run(data.data(), data.size(), deflater::flush::last, out);
    if (out.size() >= data.size())
        return std::nullopt;
    return out;
}

inflater::inflater(uint8_t dictionary) : d_z(new z_stream())
{
    if (inflateInit2(d_z.get(), raw_window) != Z_OK)
        throw std::bad_alloc();
    const auto words = preset_dictionary(dictionary);
    if (!words.empty())
        inflateSetDictionary(
            d_z.get(), octets_of(words), static_cast<uInt>(words.size()));
}

inflater::~inflater() { inflateEnd(d_z.get()); }

std::optional<std::vector<uint8_t>>
inflater::run(const uint8_t* p, size_t n, size_t limit)
{
    std::vector<uint8_t> out;
    if (d_bad || (d_ended && n > 0))
        return std::nullopt;
    d_z->next_in = const_cast<Bytef*>(p);
    d_z->avail_in = static_cast<uInt>(n);
    while (!d_ended) {
        const size_t at = out.size();
        out.resize(at + chunk);
        d_z->next_out = out.data() + at;
        d_z->avail_out = chunk;
        const int r = ::inflate(d_z.get(), Z_SYNC_FLUSH);
        out.resize(at + chunk - d_z->avail_out);
        d_ended = r == Z_STREAM_END;
        // Z_BUF_ERROR only means that nothing was left to do.
        d_bad = (r != Z_OK && r != Z_STREAM_END && r != Z_BUF_ERROR) ||
                out.size() > limit || (d_ended && d_z->avail_in > 0);
        if (d_bad)
            return std::nullopt;
        if (d_z->avail_out > 0)
            break;
    }
    return out;
}

} // namespace gr::hf::slep
