/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks/data_link_report.h"

#include <chrono>

namespace gr::hf {

namespace {

std::vector<data_link_queue> queues(const s5066::queue_states& all, station_time now)
{
    std::vector<data_link_queue> found;
    for (unsigned priority = 16; priority-- > 0;) {
        const auto& q = all.of(priority);
        if (q.c_pdus > 0)
            found.push_back(
                { priority, q.c_pdus, q.octets, to_seconds(now - q.oldest_at) });
    }
    return found;
}

std::vector<data_link_proof> proofs(const std::vector<s5066::auth_peer>& all)
{
    std::vector<data_link_proof> found;
    for (const auto& p : all)
        found.push_back({ p.peer.to_string(),
                          p.proved,
                          p.not_proved,
                          p.refused,
                          s5066::to_string(p.last) });
    return found;
}

std::vector<data_link_heard> heard(const std::vector<s5066::heard_node>& all,
                                   station_time now)
{
    std::vector<data_link_heard> found;
    for (const auto& h : all)
        found.push_back({ h.node.to_string(), h.snr_db, to_seconds(now - h.at) });
    return found;
}

} // namespace

data_link_state report_of(const s5066::node_state& s, station_time now)
{
    return { s5066::to_string(s.phase),
             s.phase_ends ? to_seconds(*s.phase_ends) : 0,
             s.peer ? s.peer->to_string() : std::string(),
             s.tx_mode,
             s5066::to_string(s.tx_reason),
             s.rx_mode,
             s.rx_snr_db,
             s.queued_octets,
             queues(s.queues, now),
             s.unacknowledged,
             s.links,
             s.clients,
             s.emcon,
             s.broadcast,
             proofs(s.auth_peers),
             heard(s.heard, now),
             to_seconds(now) };
}

std::map<std::string, uint64_t> report_of(const s5066::node_stats& s)
{
    std::map<std::string, uint64_t> m{
        { "d_pdus_repeated", s.d_pdus_repeated },
        { "octets_sent_again", s.octets_sent_again },
        { "octets_sent_as_fill", s.octets_sent_as_fill },
        { "d_pdus_fill", s.d_pdus_fill },
        { "d_pdus_acked", s.d_pdus_acked },
        { "d_pdus_duplicate", s.d_pdus_duplicate },
        { "segment_crc_errors", s.segment_crc_errors },
        { "segments_repaired", s.segments_repaired },
        { "segments_summed", s.segments_summed },
        { "headers_recovered", s.headers_recovered },
        { "d_pdus_unread", s.d_pdus_unread },
        { "false_syncs", s.false_syncs },
        { "transmissions", s.transmissions },
        { "receptions", s.receptions },
        { "octets_sent", s.octets_sent },
        { "octets_received", s.octets_received },
        { "u_pdus_submitted", s.u_pdus_submitted },
        { "u_pdus_delivered", s.u_pdus_delivered },
        { "u_pdu_octets_submitted", s.u_pdu_octets_submitted },
        { "u_pdu_octets_delivered", s.u_pdu_octets_delivered },
        { "u_pdus_rejected", s.u_pdus_rejected },
        { "u_pdus_overflowed", s.u_pdus_overflowed },
        { "indications_dropped", s.indications_dropped },
        { "u_pdus_proved", s.u_pdus_proved },
        { "u_pdus_not_proved", s.u_pdus_not_proved },
        { "u_pdus_refused", s.u_pdus_refused },
        { "warnings_sent", s.warnings_sent },
        { "warnings_received", s.warnings_received },
        { "out_of_sync", s.out_of_sync },
        { "resets", s.resets },
        { "silent_rounds", s.silent_rounds },
        { "tx_damaged", s.tx_damaged },
        { "links_made", s.links_made },
        { "links_large", s.links_large },
        { "u_pdus_lost", s.u_pdus_lost },
        { "u_pdus_expired", s.u_pdus_expired },
        { "links_failed", s.links_failed },
        { "invalid_primitives", s.invalid_primitives },
        { "tx_time_ms",
          static_cast<uint64_t>(
              std::chrono::duration_cast<std::chrono::milliseconds>(s.tx_time).count()) }
    };
    uint64_t sent = 0, received = 0;
    for (size_t t = 0; t < s.d_pdus_sent.size(); ++t) {
        sent += s.d_pdus_sent[t];
        received += s.d_pdus_received[t];
        m["sent_" + std::to_string(t)] = s.d_pdus_sent[t];
        m["received_" + std::to_string(t)] = s.d_pdus_received[t];
    }
    m["d_pdus_sent"] = sent;
    m["d_pdus_received"] = received;
    return m;
}

} // namespace gr::hf
