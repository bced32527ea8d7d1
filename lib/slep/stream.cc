/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slep/stream.h"

#include <algorithm>

namespace gr::hf::slep {

namespace {
// Overhead of a held PDU besides its data, so that many small ones are limited as well.
constexpr size_t held_allowance = 64;
// Limit of the decompressed size of one PDU.
constexpr size_t inflated_max = 1 << 20;
// Octets already taken are removed from the buffer in pieces of at least this size.
constexpr size_t trim_octets = 65536;
// Confirmed PDUs kept of a stream, octets: those of a longest transmission at 9600 bit/s.
constexpr size_t confirmed_max = 163840;
// Times that a PDU is sent again before the stream ends.
constexpr unsigned again_max = 3;
} // namespace

stream_sender::stream_sender(size_t buffer,
                             station_time hold,
                             bool compress,
                             uint8_t dictionary)
    : d_limit_octets(buffer), d_hold(hold), d_compress(compress), d_dictionary(dictionary)
{
}

size_t stream_sender::room() const
{
    return d_finish || waiting() >= d_limit_octets ? 0 : d_limit_octets - waiting();
}

size_t stream_sender::write(station_time now, const uint8_t* p, size_t n, bool push)
{
    n = std::min(n, room());
    if (n == 0)
        return 0;
    if (d_taken >= trim_octets || d_taken == d_buffer.size()) {
        d_buffer.erase(d_buffer.begin(), d_buffer.begin() + static_cast<long>(d_taken));
        d_taken = 0;
    }
    // The compressor needs a quarter of a megabyte. A direction without data never needs
    // one.
    if (d_compress && !d_deflater)
        d_deflater = std::make_unique<deflater>(d_dictionary);
    d_digest.update(p, n);
    if (d_deflater)
        d_deflater->run(
            p, n, push ? deflater::flush::sync : deflater::flush::none, d_buffer);
    else
        d_buffer.insert(d_buffer.end(), p, p + n);
    if (push) {
        d_push = true;
        d_hold_until.reset();
    } else if (!d_hold_until && (!d_push || d_deflater)) {
        // A push covers only output of the compressor, not what it still holds.
        d_hold_until = now + d_hold;
    }
    return n;
}

void stream_sender::finish()
{
    if (d_finish)
        return;
    d_finish = true;
    d_hold_until.reset();
    flush_compressed(deflater::flush::last);
    d_deflater.reset();
}

void stream_sender::flush_compressed(deflater::flush f)
{
    if (d_deflater)
        d_deflater->run(nullptr, 0, f, d_buffer);
}

void stream_sender::hold_over()
{
    d_hold_until.reset();
    flush_compressed(deflater::flush::sync);
    d_push = waiting() > 0;
}

bool stream_sender::due(size_t full) const
{
    if (d_fin_built || d_next >= d_limit)
        return false;
    if (!d_kept.empty() && d_next - d_kept.begin()->first >= stream_span)
        return false;
    if (waiting() >= full)
        return true;
    // The headers of many small PDUs cost more than the wait for a confirm.
    if (d_kept.size() >= small_pdus && d_kept_octets < d_kept.size() * full / 2)
        return false;
    return (d_push && waiting() > 0) || d_finish;
}

stream_sender::part stream_sender::take(size_t full)
{
    part p;
    // The last PDU has a digest as well.
    const bool last = d_finish && waiting() <= full;
    const size_t n =
        std::min(last && full >= digest_octets ? full - digest_octets : full, waiting());
    const auto from = d_buffer.begin() + static_cast<long>(d_taken);
    p.data.assign(from, from + static_cast<long>(n));
    d_taken += n;
    if (waiting() == 0) {
        d_push = false;
        // A compressor may still hold input. Its hold time then goes on.
        if (!d_deflater)
            d_hold_until.reset();
        d_buffer.clear();
        d_taken = 0;
        p.fin = d_fin_built = d_finish;
    }
    ++d_next;
    return p;
}

std::optional<uint64_t> stream_sender::to_resend() const
{
    if (d_resend.empty())
        return std::nullopt;
    return *d_resend.begin();
}

const octets& stream_sender::resend(uint64_t number)
{
    d_resend.erase(number);
    return d_kept.at(number);
}

void stream_sender::keep(uint64_t number, octets wire)
{
    d_kept_octets += wire.size();
    d_kept.emplace(number, std::move(wire));
}

void stream_sender::confirmed(uint64_t number)
{
    const auto it = d_kept.find(number);
    if (it == d_kept.end())
        return;
    d_kept_octets -= it->second.size();
    d_confirmed.octets_kept += it->second.size();
    d_confirmed.pdus.insert(d_kept.extract(it));
    d_resend.erase(number);
    while (d_confirmed.octets_kept > confirmed_max) {
        d_confirmed.octets_kept -= d_confirmed.pdus.begin()->second.size();
        d_confirmed.pdus.erase(d_confirmed.pdus.begin());
    }
}

bool stream_sender::send_again(uint16_t ack)
{
    const auto it = d_confirmed.pdus.find(expected(ack));
    if (it == d_confirmed.pdus.end())
        return false;
    const uint64_t number = it->first;
    d_confirmed.again_count = d_confirmed.again_count > 0 && d_confirmed.again == number
                                  ? d_confirmed.again_count + 1
                                  : 1;
    d_confirmed.again = number;
    if (d_confirmed.again_count > again_max)
        return false;
    d_confirmed.octets_kept -= it->second.size();
    d_kept_octets += it->second.size();
    d_kept.insert(d_confirmed.pdus.extract(it));
    d_resend.insert(number);
    return true;
}

void stream_sender::rejected(uint64_t number)
{
    if (d_kept.count(number) != 0)
        d_resend.insert(number);
}

bool stream_sender::window(uint16_t ack, uint8_t win)
{
    // Unwrapped: the peer cannot expect a number that was not built yet.
    const uint64_t behind = static_cast<uint16_t>(static_cast<uint16_t>(d_next) - ack);
    if (behind > d_next)
        return false;
    while (!d_confirmed.pdus.empty() &&
           d_confirmed.pdus.begin()->first < d_next - behind) {
        d_confirmed.octets_kept -= d_confirmed.pdus.begin()->second.size();
        d_confirmed.pdus.erase(d_confirmed.pdus.begin());
    }
    d_limit = win >= window_unlimited ? UINT64_MAX : d_next - behind + window_pdus(win);
    return true;
}

stream_receiver::verdict
stream_receiver::put(uint16_t seq, octets data, bool fin, std::optional<uint32_t> digest)
{
    const auto ahead = static_cast<int16_t>(seq - static_cast<uint16_t>(d_received));
    const uint64_t number =
        d_received + static_cast<uint64_t>(static_cast<int64_t>(ahead));
    if (ahead < 0 || d_held.count(number) != 0)
        return verdict::duplicate;
    const size_t cost = data.size() + held_allowance;
    if (static_cast<uint64_t>(ahead) >= stream_span)
        return verdict::beyond;
    if (d_held_octets + cost > d_hard || (d_fin && (number > *d_fin || fin)) ||
        (fin && !d_held.empty() && d_held.rbegin()->first > number))
        return verdict::violation;
    if (fin) {
        d_fin = number;
        d_sent_digest = digest;
    }
    d_held_octets += cost;
    d_held.emplace(number, held{ std::move(data), fin });
    while (d_held.count(d_received) != 0)
        ++d_received;
    return verdict::taken;
}

stream_receiver::step stream_receiver::next(octets& out, bool hold_fin)
{
    while (!d_fin_ready) {
        const auto it = d_held.begin();
        if (it == d_held.end() || it->first != d_deliver || d_unread >= d_high)
            return step::none;
        held h = std::move(it->second);
        d_held_octets -= h.data.size() + held_allowance;
        d_held.erase(it);
        ++d_deliver;
        if (d_inflater) {
            auto plain = d_inflater->run(h.data.data(), h.data.size(), inflated_max);
            if (!plain)
                return step::damaged;
            h.data = std::move(*plain);
        }
        d_digest.update(h.data.data(), h.data.size());
        if (h.fin && d_sent_digest && *d_sent_digest != d_digest.value())
            return step::altered;
        d_fin_ready = h.fin;
        if (!h.data.empty()) {
            d_unread += h.data.size();
            out = std::move(h.data);
            return step::data;
        }
    }
    if (d_fin_delivered || hold_fin)
        return step::none;
    d_fin_delivered = true;
    return step::fin;
}

} // namespace gr::hf::slep
