/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem_interface/interleaver_set.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <random>
#include <sstream>

namespace gr::hf::modem_interface {
namespace {

octets from_hex(const std::string& text)
{
    octets o;
    for (size_t k = 0; k + 1 < text.size(); k += 2)
        o.push_back(static_cast<uint8_t>(std::stoi(text.substr(k, 2), nullptr, 16)));
    return o;
}

std::vector<std::vector<std::string>> lines_of(const std::string& kind)
{
    std::ifstream file(HF_VECTORS "/modem_interface.vec");
    std::vector<std::vector<std::string>> lines;
    std::string line, word;
    while (std::getline(file, line)) {
        std::istringstream words(line);
        std::vector<std::string> v;
        while (words >> word)
            v.push_back(word);
        if (!v.empty() && v.front() == kind)
            lines.push_back(v);
    }
    return lines;
}

packet_id ident()
{
    packet_id id;
    for (size_t k = 0; k < id.size(); ++k)
        id[k] = static_cast<uint8_t>(k + 1);
    return id;
}

status_reply golden_status()
{
    status_reply s;
    s.sequence = 0xffff;
    s.transfer = 0x1234;
    s.errors = tx_underrun;
    s.rx_started = s.carrier = s.in_control = true;
    s.tx = udp_tx_state::started;
    s.dropped = 3;
    s.jitter_ms = 15;
    s.queue_fill = 1200;
    s.queue_space = 64336;
    s.rx_rate_bps = 1200;
    s.rx_blocking_bits = 720;
    s.tx_rate_bps = 9600;
    s.tx_blocking_bits = 2880;
    return s;
}

octets data_packet(const tcp_payload& p) { return encode(p); }
octets datagram(udp_payload p) { return encode(udp_packet{ 0xa1b2c3, std::move(p) }); }

// Each vector in our terms.
std::map<std::string, octets> ours()
{
    encoded_data plain, enhanced;
    plain.transfer = enhanced.transfer = 0x1234;
    plain.sequence = 6;
    plain.holdoff = plain.last_set = true;
    plain.fec_n = 7;
    plain.fec_k = 4;
    plain.timestamp = 1234567;
    plain.data = { 0xde, 0xad };
    enhanced.enhanced = enhanced.first_set = true;
    enhanced.fec_n = 6;
    enhanced.fec_k = 2;
    enhanced.rate_bps = 600;
    enhanced.blocking_bits = 16;
    enhanced.timestamp = 3599999999u;
    enhanced.data = { 0xbe };
    return {
        { "connect", encode(tcp_packet{ 0x01, { tcp_version } }) },
        { "connect-ack", encode(tcp_packet{ 0x02, { tcp_version } }) },
        { "error", encode(tcp_packet{ 0xff, {} }) },
        { "keep-alive", encode(tcp_packet{ 0x00, {} }) },
        { "data-first-and-last",
          data_packet(data_transfer{
              packet_order::first_and_last, ident(), { 'H', 'E', 'L', 'L', 'O' } }) },
        { "data-last-empty",
          data_packet(data_transfer{ packet_order::last, ident(), {} }) },
        { "transmit-arm", data_packet(transmit_arm{}) },
        { "transmit-start", data_packet(transmit_start{}) },
        { "request-tx-status", data_packet(request_tx_status{}) },
        { "nak-underrun", data_packet(tx_data_nak{ nak_cause::underrun, ident() }) },
        { "status-started",
          data_packet(tx_status{ transmitter_state::started, 65536, 1080, 2880, 360 }) },
        { "abort-reception", data_packet(abort_reception{}) },
        { "carrier-detected", data_packet(carrier_detect{ true, 9600, 2880 }) },
        { "no-carrier", data_packet(carrier_detect{}) },
        { "transmit-setup", data_packet(transmit_setup{ 600, 360 }) },
        { "initial-setup", data_packet(initial_setup{ 7, 0, 30000 }) },
        { "initial-setup-async",
          data_packet(initial_setup{ 7, 100, 3000, false, 3, 1, 2, 0 }) },
        { "connection-probe", data_packet(connection_probe{}) },
        { "ping-request", datagram(ping_request{}) },
        { "ping-reply", datagram(ping_reply{}) },
        { "status-request", datagram(status_request{}) },
        { "status-reply", datagram(golden_status()) },
        { "encoded-data", datagram(plain) },
        { "enhanced-encoded-data", datagram(enhanced) },
        { "command-abort-reception", datagram(command_request{ 1, 1 }) },
        { "command-ack", datagram(command_ack{ 1 }) },
    };
}

TEST(codec, equals_every_vector)
{
    const auto made = ours();
    const auto lines = lines_of("packet");
    ASSERT_EQ(lines.size(), made.size());
    for (const auto& v : lines) {
        ASSERT_TRUE(made.count(v[2])) << v[2];
        EXPECT_EQ(made.at(v[2]), from_hex(v[3])) << v[1] << " " << v[2];
    }
}

TEST(codec, reads_every_vector_back)
{
    for (const auto& v : lines_of("packet")) {
        const auto o = from_hex(v[3]);
        if (o[0] == 0x49) {
            tcp_deframer d;
            d.push(o.data(), o.size());
            const auto p = d.next();
            ASSERT_TRUE(p) << v[2];
            EXPECT_EQ(encode(*p), o);
            if (p->type != 0 || p->payload.empty())
                continue;
            const auto parsed = parse_payload(p->payload);
            ASSERT_TRUE(parsed) << v[2];
            EXPECT_EQ(encode(*parsed), o) << v[2];
        } else {
            const auto p = parse_datagram(o.data(), o.size());
            ASSERT_TRUE(p) << v[2];
            EXPECT_EQ(encode(*p), o) << v[2];
        }
    }
}

TEST(codec, a_flipped_bit_is_never_taken)
{
    for (const auto& v : lines_of("packet")) {
        const auto good = from_hex(v[3]);
        for (size_t bit = 0; bit < 8 * good.size(); ++bit) {
            auto o = good;
            o[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
            tcp_deframer d;
            d.push(o.data(), o.size());
            EXPECT_FALSE(d.next()) << v[2] << " bit " << bit;
            EXPECT_FALSE(parse_datagram(o.data(), o.size())) << v[2] << " bit " << bit;
        }
    }
}

TEST(codec, finds_packets_between_noise_and_in_pieces)
{
    std::mt19937 random(5);
    octets stream = encode(tcp_packet{});
    size_t sent = 1;
    for (int k = 0; k < 200; ++k) {
        for (unsigned n = random() % 20; n > 0; --n)
            stream.push_back("IPU\x00x"[random() % 5]);
        octets data(random() % 300);
        for (auto& o : data)
            o = static_cast<uint8_t>(random());
        const auto p =
            encode(data_transfer{ packet_order::continuation, {}, std::move(data) });
        stream.insert(stream.end(), p.begin(), p.end());
        ++sent;
    }
    tcp_deframer d;
    size_t got = 0;
    for (size_t at = 0; at < stream.size();) {
        const size_t n = std::min<size_t>(1 + random() % 50, stream.size() - at);
        d.push(stream.data() + at, n);
        at += n;
        while (d.next())
            ++got;
    }
    EXPECT_EQ(got, sent);
    EXPECT_LT(d.held(), 8u);
}

// A web page can make a browser send packets in the body of a request, and choose its head
// but for the form of HTTP.
TEST(codec, takes_nothing_from_a_browser)
{
    const char* env = std::getenv("HF_BROWSER_INPUTS");
    const int count = env ? std::atoi(env) : 1000;
    std::mt19937 random(6);
    const auto some = [&random](std::initializer_list<const char*> of) {
        return std::string(of.begin()[random() % of.size()]);
    };
    for (int k = 0; k < count; ++k) {
        std::string head = some({ "GET", "POST", "IPU", "IP", "I", "PUT" }) + " /" +
                           some({ "", "IPU", "%00" }) +
                           " HTTP/1.1\r\nHost: 127.0.0.1:" + some({ "5066", "IPU" }) +
                           "\r\nX-IPU: IPU\r\n\r\n";
        if (k % 10 == 1)
            head.assign({ 0x16, 0x03, 0x01 }); // TLS, with the packets in its ticket
        if (k % 10 == 2)
            head.assign({ 0, 3, 0, 0x10, 0x21, 0x12, '\xa4', 0x42 }); // STUN
        octets stream(head.begin(), head.end());
        for (unsigned n = random() % 4; n > 0; --n) {
            const auto p =
                random() % 2 == 0
                    ? encode(tcp_packet{ static_cast<uint8_t>(packet_type::connect),
                                         { tcp_version } })
                    : encode(data_transfer{ packet_order::first_and_last, {}, { 1, 2 } });
            stream.insert(stream.end(), p.begin(), p.end());
        }
        tcp_deframer d;
        for (size_t at = 0; at < stream.size();) {
            const size_t n = std::min<size_t>(1 + random() % 200, stream.size() - at);
            d.push(stream.data() + at, n);
            at += n;
            ASSERT_FALSE(d.next()) << k;
        }
        ASSERT_TRUE(d.foreign()) << k;
    }
}

TEST(codec, refuses_what_does_not_fit)
{
    EXPECT_THROW(encode(tcp_packet{ 0, octets(4087) }), std::invalid_argument);
    EXPECT_THROW(encode(data_transfer{ packet_order::last, {}, octets(4073) }),
                 std::invalid_argument);
    encoded_data d;
    d.data.resize(1201);
    EXPECT_THROW(encode(udp_packet{ 0, d }), std::invalid_argument);
    EXPECT_THROW(encode(udp_packet{ 1u << 24, ping_request{} }), std::invalid_argument);
    EXPECT_THROW(erasure_code(16, 5), std::invalid_argument);
    EXPECT_THROW(erasure_code(5, 5), std::invalid_argument);
    EXPECT_FALSE(parse_payload({ 0x07 }));       // no command has this number
    EXPECT_FALSE(parse_payload({ 0x01, 0x00 })); // TRANSMIT_ARM has no arguments
    EXPECT_FALSE(parse_payload({ 0x00, 0x05, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }));
}

TEST(codec, control_line_names_one_port)
{
    EXPECT_EQ(parse_control_line(control_line(50001)), 50001);
    for (const char* bad :
         { "", "UDP", "UDP ", "UDP 0", "UDP 65536", "UDP 1 ", "udp 5", "BUSY" })
        EXPECT_FALSE(parse_control_line(bad)) << bad;
}

TEST(erasure_code, has_the_printed_generator)
{
    // The codeword of the lowest data symbol alone is the generator: a^10, a^3, a^6, a^13, 1.
    const uint8_t one[11] = { 1 };
    const auto word = erasure_code(15, 11).encode(one);
    EXPECT_EQ(std::vector<uint8_t>(word.begin(), word.begin() + 5),
              (std::vector<uint8_t>{ 7, 8, 12, 13, 1 }));
}

TEST(interleaver_set, equals_every_vector)
{
    const auto lines = lines_of("set");
    ASSERT_EQ(lines.size(), 4u);
    for (const auto& v : lines) {
        const set_layout s{ std::stoul(v[3]), std::stoul(v[4]), std::stoul(v[5]) };
        const auto packets = encode_set(s, from_hex(v[6]));
        ASSERT_EQ(packets.size() + 7, v.size());
        for (size_t p = 0; p < packets.size(); ++p)
            EXPECT_EQ(packets[p], from_hex(v[7 + p])) << v[2] << " packet " << p;
    }
}

TEST(interleaver_set, survives_every_loss_that_it_can)
{
    std::mt19937 random(7);
    for (const auto& s :
         { set_layout{ 6, 2, 3 }, set_layout{ 7, 4, 3 }, set_layout{ 8, 5, 3 } }) {
        octets user(s.octets());
        for (auto& o : user)
            o = static_cast<uint8_t>(random());
        const auto packets = encode_set(s, user);
        for (unsigned lost = 0; lost < 1u << s.n; ++lost) {
            auto some = packets;
            size_t n = 0;
            for (size_t p = 0; p < s.n; ++p) {
                if (lost >> p & 1) {
                    some[p].clear();
                    ++n;
                }
            }
            const auto back = decode_set(s, some);
            ASSERT_EQ(back.has_value(), n <= s.n - s.k) << lost;
            if (back) {
                ASSERT_EQ(*back, user) << lost;
            }
        }
    }
}

// Table A-XXI, for interleavers of 100 ms, above 28800 bit/s of 40 ms.
TEST(interleaver_set, has_the_recommended_lengths)
{
    const struct {
        uint32_t rate;
        size_t n, k, rows;
    } table[] = { { 300, 6, 2, 2 },    { 2400, 6, 2, 15 },   { 3200, 7, 4, 10 },
                  { 9600, 7, 4, 30 },  { 28800, 7, 4, 90 },  { 32000, 8, 5, 32 },
                  { 76800, 8, 5, 77 }, { 384000, 8, 5, 384 } };
    for (const auto& row : table) {
        const auto s =
            set_layout::of(row.rate, row.rate > 28800 ? row.rate / 25 : row.rate / 10);
        EXPECT_EQ(s.n, row.n) << row.rate;
        EXPECT_EQ(s.k, row.k) << row.rate;
        EXPECT_EQ(s.rows, row.rows) << row.rate;
    }
    EXPECT_EQ(set_layout::of(9600, 0).rows, 1u);
    EXPECT_EQ(set_layout::of(75, 0xffffffff).rows, 1200u);
}

TEST(set_decoder, gives_back_any_message_in_any_order)
{
    std::mt19937 random(11);
    for (int round = 0; round < 200; ++round) {
        octets message(random() % 400);
        for (auto& o : message) // zeros and pieces of the end-of-message string, too
            o = random() % 3 ? static_cast<uint8_t>(random() % 2 * random())
                             : end_of_message[random() % 8];
        set_encoder encoder(
            static_cast<uint16_t>(random()), 2400, 8 + random() % 300, true);
        encoder.push(message);
        encoder.finish();
        std::vector<encoded_data> packets;
        while (auto d = encoder.poll())
            packets.push_back(std::move(*d));
        // Swap neighbours, send some twice, drop one in ten.
        set_decoder decoder;
        octets got;
        for (size_t k = 0; k + 1 < packets.size(); ++k)
            if (random() % 2)
                std::swap(packets[k], packets[k + 1]);
        std::map<size_t, int> dropped;
        const size_t n = encoder.layout().n;
        for (const auto& p : packets) {
            if (random() % 10 == 0 && dropped[p.sequence / n]++ < 2)
                continue;
            decoder.push(p);
            decoder.push(p);
            while (auto o = decoder.poll())
                got.insert(got.end(), o->begin(), o->end());
        }
        ASSERT_TRUE(decoder.finished()) << round;
        ASSERT_EQ(got, message) << round;
    }
}

TEST(set_decoder, goes_on_behind_a_set_that_is_lost)
{
    set_encoder encoder(9, 2400, 160, false);
    octets message(100);
    for (size_t k = 0; k < message.size(); ++k)
        message[k] = static_cast<uint8_t>(k + 1);
    encoder.push(message);
    encoder.finish();
    set_decoder decoder;
    while (auto d = encoder.poll())
        if (d->sequence / 6 != 2)
            decoder.push(*d);
    EXPECT_FALSE(decoder.finished());
    EXPECT_GE(decoder.sets_ahead(), 2u);
    decoder.skip_set();
    EXPECT_TRUE(decoder.finished());
    octets got;
    while (auto o = decoder.poll())
        got.insert(got.end(), o->begin(), o->end());
    std::fill(message.begin() + 40, message.begin() + 60, uint8_t(0));
    EXPECT_EQ(got, message);
}

// Sequence numbers are 16 bits wide and start again within a long transmission.
TEST(set_decoder, reads_more_than_65536_packets)
{
    set_encoder encoder(9, 2400, 8, false);
    octets message(2 * 12000); // two octets in a set, which is six packets
    for (size_t k = 0; k < message.size(); ++k)
        message[k] = static_cast<uint8_t>(k % 251 + 1);
    encoder.push(message);
    encoder.finish();
    set_decoder decoder;
    octets got;
    size_t packets = 0;
    while (auto d = encoder.poll()) {
        ++packets;
        EXPECT_TRUE(decoder.push(*d) || packets % 6 == 3 || packets % 6 == 4 ||
                    packets % 6 == 5 || packets % 6 == 0)
            << packets;
        while (auto o = decoder.poll())
            got.insert(got.end(), o->begin(), o->end());
    }
    EXPECT_GT(packets, 70000u);
    EXPECT_TRUE(decoder.finished());
    EXPECT_EQ(got, message);
    EXPECT_EQ(decoder.lost_packets(), 4u) << "all but the last set: only late";
}

// A set is returned with the first K packets. The others were not lost if they arrive
// before the next set is complete.
TEST(set_decoder, late_packets_do_not_count_as_lost)
{
    set_encoder encoder(9, 2400, 160, false);
    encoder.push(octets(100, 7));
    encoder.finish();
    std::vector<encoded_data> packets;
    while (auto d = encoder.poll())
        packets.push_back(*d);
    set_decoder decoder;
    for (size_t k = 0; k < 2; ++k)
        EXPECT_TRUE(decoder.push(packets[k]));
    EXPECT_EQ(decoder.lost_packets(), 4u) << "K of N";
    EXPECT_FALSE(decoder.push(packets[2]));
    EXPECT_EQ(decoder.lost_packets(), 3u) << "the K+1st is late";
    for (size_t k = 3; k < 6; ++k)
        decoder.push(packets[k]);
    EXPECT_EQ(decoder.lost_packets(), 0u);
}

} // namespace
} // namespace gr::hf::modem_interface
