/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slep/endpoint.h"
#include "slep/endpoint_impl.h"

#include <stdexcept>

namespace gr::hf::slep {

namespace {

template <typename T>
void require(bool ok, const char* name, T value, const char* allowed)
{
    if (!ok)
        throw std::invalid_argument(std::string(name) + " " + std::to_string(value) +
                                    ": expected " + allowed);
}

} // namespace

void endpoint_config::validate() const
{
    require(sap <= 15, "sap", sap, "0 to 15");
    require(rank <= 14, "rank", rank, "0 to 14");
    const auto octets_ok = [](size_t v) { return v >= 2048 && v <= (size_t(1) << 26); };
    const char* octets_text = "2048 to 2^26 octets";
    require(octets_ok(queue_octets), "queue_octets", queue_octets, octets_text);
    require(octets_ok(send_buffer), "send_buffer", send_buffer, octets_text);
    require(octets_ok(buffer_high), "buffer_high", buffer_high, octets_text);
    require(octets_ok(datagram_octets), "datagram_octets", datagram_octets, octets_text);
    require(open_octets <= 1000, "open_octets", open_octets, "0 to 1000");
    require(buffer_low < buffer_high, "buffer_low", buffer_low, "less than buffer_high");
    require(segment_octets >= 16 && segment_octets <= 1023,
            "segment_octets",
            segment_octets,
            "16 to 1023");
    require(
        streams_max >= 1 && streams_max <= 4096, "streams_max", streams_max, "1 to 4096");
    const std::pair<const char*, station_time> times[] = {
        { "partial_hold", partial_hold },     { "accept_hold", accept_hold },
        { "turn_ride", turn_ride },           { "outage_max", outage_max },
        { "open_wait", open_wait },           { "gap_max", gap_max },
        { "number_rest", number_rest },       { "reliable_ttl", reliable_ttl },
        { "unreliable_ttl", unreliable_ttl },
    };
    for (const auto& t : times)
        require(t.second >= station_time(0) && t.second <= std::chrono::hours(24 * 30),
                t.first,
                to_seconds(t.second),
                "0 s to 30 days");
}

std::string user_address::to_string() const
{
    std::string s = node.to_string() + "/" + std::to_string(sap);
    return extended != 0 ? s + "." + std::to_string(extended) : s;
}

endpoint::endpoint(const endpoint_config& c) : d_impl(std::make_unique<impl>(c)) {}
endpoint::~endpoint() = default;
endpoint::endpoint(endpoint&&) noexcept = default;
endpoint& endpoint::operator=(endpoint&&) noexcept = default;

void endpoint::sis_in(station_time now, const uint8_t* p, size_t n)
{
    d_impl->d_ctx.now = now;
    d_impl->sis_in(p, n);
}

void endpoint::sis_reset(station_time now)
{
    d_impl->d_ctx.now = now;
    d_impl->sis_reset();
}

std::optional<octets> endpoint::poll_sis() { return d_impl->poll_sis(); }
std::optional<event> endpoint::poll_event() { return d_impl->poll_event(); }

std::optional<station_time> endpoint::next_deadline() const
{
    return d_impl->next_deadline();
}

void endpoint::on_deadline(station_time now)
{
    d_impl->d_ctx.now = now;
    d_impl->on_deadline();
}

void endpoint::listen(uint8_t extended) { d_impl->d_ctx.listening.set(extended); }

std::optional<stream_id> endpoint::open(station_time now,
                                        const user_address& to,
                                        const octets& open_data,
                                        const octets& data,
                                        bool fin,
                                        const stream_options& options)
{
    d_impl->d_ctx.now = now;
    return d_impl->d_calls.open(to, open_data, data, fin, options);
}

void endpoint::accept(station_time now,
                      stream_id id,
                      const octets& open_data,
                      const stream_options& options)
{
    d_impl->d_ctx.now = now;
    d_impl->d_calls.accept(id, open_data, options);
}

void endpoint::refuse(station_time now,
                      stream_id id,
                      uint8_t code,
                      const std::string& text)
{
    d_impl->d_ctx.now = now;
    d_impl->d_calls.refuse(id, code, text);
}

size_t endpoint::writable(stream_id id) const { return d_impl->d_calls.writable(id); }

size_t
endpoint::write(station_time now, stream_id id, const uint8_t* p, size_t n, bool push)
{
    d_impl->d_ctx.now = now;
    return d_impl->d_calls.write(id, p, n, push);
}

void endpoint::finish(station_time now, stream_id id)
{
    d_impl->d_ctx.now = now;
    d_impl->d_calls.finish(id);
}

void endpoint::abort(station_time now, stream_id id, uint8_t code)
{
    d_impl->d_ctx.now = now;
    d_impl->d_calls.abort(id, code);
}

void endpoint::consumed(station_time now, stream_id id, size_t n)
{
    d_impl->d_ctx.now = now;
    d_impl->d_calls.consumed(id, n);
}

bool endpoint::send_unreliable(station_time now,
                               const user_address& to,
                               const octets& data,
                               uint8_t priority,
                               bool arq)
{
    d_impl->d_ctx.now = now;
    return d_impl->d_datagrams.send_unreliable(to, data, priority, arq);
}

std::optional<stream_id> endpoint::send_confirmed(station_time now,
                                                  const user_address& to,
                                                  const octets& data,
                                                  uint8_t priority,
                                                  station_time ttl)
{
    d_impl->d_ctx.now = now;
    return d_impl->d_datagrams.send_confirmed(to, data, priority, ttl);
}

std::optional<stream_id> endpoint::send_reliable(station_time now,
                                                 const user_address& to,
                                                 const octets& data,
                                                 uint8_t priority)
{
    d_impl->d_ctx.now = now;
    return d_impl->d_datagrams.send_reliable(to, data, priority);
}

bool endpoint::bound() const { return d_impl->d_sis.client().bound(); }

size_t endpoint::outstanding(const s5066::address& node) const
{
    const node_state* n = d_impl->d_peers.node(node);
    return n != nullptr ? n->outstanding : 0;
}

bool endpoint::reachable(const s5066::address& node) const { return failures(node) == 0; }

bool endpoint::heard(const s5066::address& node) const
{
    const node_state* n = d_impl->d_peers.node(node);
    return n != nullptr && n->heard();
}

int endpoint::failures(const s5066::address& node) const
{
    const node_state* n = d_impl->d_peers.node(node);
    return n != nullptr ? n->rejects_in_a_row : 0;
}

station_time endpoint::retry_at(const s5066::address& node) const
{
    const node_state* n = d_impl->d_peers.node(node);
    return n != nullptr ? n->retry_at : station_time(0);
}

size_t endpoint::streams() const { return d_impl->d_streams.all().size(); }

std::vector<stream_info> endpoint::list() const
{
    std::vector<stream_info> all;
    for (const auto& entry : d_impl->d_streams.all())
        all.push_back(entry.second.info());
    return all;
}

const endpoint_stats& endpoint::stats() const { return d_impl->d_ctx.stats; }
const endpoint_config& endpoint::config() const { return d_impl->d_ctx.config; }

} // namespace gr::hf::slep
