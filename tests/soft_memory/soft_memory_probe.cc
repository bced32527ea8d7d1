/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Soft combining of repeated D_PDUs, without any change on the air:
 *     soft_memory_probe MODE CHANNEL [SEED [TRIALS [D_PDUS [SEGMENT [ROUNDS]]]]]
 * A trial sends the same D_PDUs in each round, in another order, over an independent
 * channel. MODE has the running code of the serial tone (600L, 75S). CHANNEL is a
 * channel_spec in quotes. SEGMENT is in octets.
 *
 * Methods, each with plain headers and with headers decoded from known octets:
 *     off    each copy alone
 *     hard   two damaged copies as octets, see combine_copies(): the data link today
 *     sum    information bits: log-likelihood ratios after the decoder, added up
 *     prior  the ratios of earlier copies as a-priori values of the decoder
 *     code   code bits: ratios before the decoder, added up by soft_copies
 * Goodput is D_PDUs delivered for each one sent; each is sent until it is delivered, but
 * at most ROUNDS times. */
#include "modem/loopback.h"
#include "s5066/dts/arq/combine.h"
#include "s5066/dts/rx/code_ratios.h"
#include "s5066/dts/rx/soft_copies.h"
#include "s5066/pdu/crc.h"
#include "s5066/pdu/deframer.h"

#include "modem/decode/segment_decoder.h"
#include "modem/decode/viterbi.h"
#include "modem/detect/block_details.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <numeric>
#include <random>

namespace {

using namespace gr::hf;
using namespace gr::hf::s5066;
using floats = std::vector<float>;
using bits = std::vector<uint8_t>;

constexpr float certain = 1e4f; // ratio of a known bit, above all others
constexpr size_t memory = 6;    // K - 1
constexpr size_t run_in = 64;   // pairs around a window, ten times the memory

bits unpack(const std::vector<uint8_t>& octets)
{
    bits b;
    for (const uint8_t o : octets)
        for (unsigned i = 0; i < 8; ++i)
            b.push_back(o >> i & 1);
    return b;
}

std::vector<uint8_t> pack(const bits& b, size_t from, size_t octets)
{
    std::vector<uint8_t> v(octets, 0);
    for (size_t i = 0; i < 8 * octets; ++i)
        v[i / 8] = static_cast<uint8_t>(v[i / 8] | b[from + i] << (i & 7));
    return v;
}

//! Max-log BCJR of the K = 7 code for information bits. Start and end are open.
class information_decoder
{
public:
    information_decoder()
    {
        const kernel::code_plan p = kernel::serial_tone_code(1);
        for (unsigned s = 0; s < 64; ++s)
            for (unsigned b = 0; b < 2; ++b) {
                const uint32_t reg = s | b << 6;
                d_t1[s][b] = __builtin_parity(reg & p.t1) ? -0.5f : 0.5f;
                d_t2[s][b] = __builtin_parity(reg & p.t2) ? -0.5f : 0.5f;
            }
    }

    floats decode(const float* pairs, size_t n, const float* prior) const
    {
        std::vector<std::array<float, 64>> alpha(n + 1);
        alpha[0].fill(0);
        for (size_t k = 0; k < n; ++k) {
            alpha[k + 1].fill(-1e30f);
            float best = -1e30f;
            for (unsigned s = 0; s < 64; ++s)
                for (unsigned b = 0; b < 2; ++b) {
                    const float m = alpha[k][s] + branch(pairs, prior, k, s, b);
                    float& to = alpha[k + 1][(s | b << 6) >> 1];
                    to = std::max(to, m);
                    best = std::max(best, m);
                }
            for (float& a : alpha[k + 1])
                a -= best;
        }
        floats out(n);
        std::array<float, 64> beta{}, before{};
        for (size_t k = n; k-- > 0;) {
            float bit[2] = { -1e30f, -1e30f }, best = -1e30f;
            for (unsigned s = 0; s < 64; ++s) {
                before[s] = -1e30f;
                for (unsigned b = 0; b < 2; ++b) {
                    const float m =
                        beta[(s | b << 6) >> 1] + branch(pairs, prior, k, s, b);
                    before[s] = std::max(before[s], m);
                    bit[b] = std::max(bit[b], alpha[k][s] + m);
                }
                best = std::max(best, before[s]);
            }
            out[k] = bit[0] - bit[1];
            for (unsigned s = 0; s < 64; ++s)
                beta[s] = before[s] - best;
        }
        return out;
    }

private:
    float
    branch(const float* pairs, const float* prior, size_t k, unsigned s, unsigned b) const
    {
        const float known = prior == nullptr ? 0 : (b ? -prior[k] : prior[k]) / 2;
        return d_t1[s][b] * pairs[2 * k] + d_t2[s][b] * pairs[2 * k + 1] + known;
    }

    float d_t1[64][2], d_t2[64][2];
};

bits hard(const floats& ratios)
{
    bits b;
    for (const float l : ratios)
        b.push_back(l < 0);
    return b;
}

//! One received transmission as ratios of code bits, decoder input.
struct stream {
    floats pairs;
    bits decided;
    code_ratios ratios; // the same, as the data link gets them
};

//! Place in T1 T2 T1 T2 ... of a coded bit.
size_t pair_of(size_t coded, unsigned repetition)
{
    return coded / (2 * repetition) * 2 + coded % 2;
}

std::vector<stream> receive(const mode& m, const loopback::samples& x)
{
    const kernel::description& d = kernel::describe(m);
    kernel::rx_options options;
    options.give_noise = true; // as the modem of a data link
    const auto rx = loopback::receiver_of(m, options);
    rx->keep_details(true);
    std::vector<stream> streams;
    bool right = false;
    for (size_t i = 0; i < x.size(); i += 960) {
        rx->push(&x[i], std::min<size_t>(960, x.size() - i));
        while (const auto e = rx->poll()) {
            if (const auto* s = std::get_if<rx_start>(&e->what)) {
                right = s->m == m;
                if (right)
                    streams.emplace_back();
            }
            if (!std::holds_alternative<rx_octets>(e->what) || !e->details || !right)
                continue;
            floats& p = streams.back().pairs;
            const size_t at = p.size();
            p.resize(at + 2 * d.input_bits);
            for (size_t k = 0; k < std::min(d.coded_bits, e->details->llrs.size()); ++k)
                p[at + pair_of(d.interleave[k], d.code.repetition)] +=
                    e->details->llrs[k];
        }
    }
    for (stream& s : streams) {
        s.pairs.resize(s.pairs.size() + 2 * run_in);
        const size_t n = s.pairs.size() / 2;
        kernel::viterbi_decoder viterbi(d.code);
        viterbi.reset();
        viterbi.decode_running(s.pairs.data(), n, s.decided);
        s.decided.resize(n / 8 * 8);
        rx_octets whole{ pack(s.decided, 0, s.decided.size() / 8) };
        for (const float l : s.pairs)
            whole.ratios.push_back(static_cast<int8_t>(
                std::clamp(std::round(l / rx_octets::ratio_unit), -127.0f, 127.0f)));
        s.ratios.reset(m);
        s.ratios.push(whole);
    }
    return streams;
}

//! A D_PDU's place in a stream, with a good header.
struct found {
    size_t at = 0; //!< first bit
    std::vector<uint8_t> header;
    uint16_t number = 0;
    bool good = false;       //!< segment as well
    bool with_known = false; //!< header decoded from known octets only
};

struct trial_data {
    size_t header = 0, total = 0; // octets
    std::vector<uint8_t> known;   // bits of the header: 1 is the same in all D_PDUs
    bits values;                  // of a header
    std::vector<std::vector<uint8_t>> sent;
};

/* Decode a header at \p at from its known bits, as of other D_PDUs of the same sender. */
bool header_at(const trial_data& t, const stream& s, size_t at, found& f)
{
    const size_t lead = std::min(at, run_in), bits_of = 8 * t.header;
    const size_t n = lead + bits_of + run_in;
    if (at + bits_of + run_in > s.pairs.size() / 2)
        return false;
    floats prior(n, 0);
    for (size_t k = 0; k < bits_of; ++k)
        if (t.known[k])
            prior[lead + k] = t.values[k] ? -certain : certain;
    const auto got =
        hard(information_decoder().decode(&s.pairs[2 * (at - lead)], n, prior.data()));
    f.header = pack(got, lead, t.header);
    size_t need = 0;
    if (!check_header(f.header.data(), f.header.size(), need))
        return false;
    f.at = at;
    f.number = decode_d_pdu(f.header)->arq.fsn;
    f.with_known = true;
    return true;
}

std::vector<found> find_all(const trial_data& t, const stream& s)
{
    d_pdu_deframer deframer;
    deframer.push(pack(s.decided, 0, s.decided.size() / 8));
    std::vector<found> all;
    while (const auto r = deframer.next()) {
        if (r->octets.size() != t.total)
            continue;
        found f;
        f.at = r->bit_offset;
        f.header.assign(r->octets.begin(),
                        r->octets.begin() + static_cast<long>(t.header));
        f.number = r->pdu.arq.fsn;
        f.good = r->pdu.segment_ok;
        all.push_back(f);
    }
    // D_PDUs follow each other without a gap: try where the last one ended
    std::vector<found> more;
    size_t at = 0, next = 0;
    for (size_t k = 0; k < t.sent.size(); ++k) {
        while (next < all.size() && all[next].at < at)
            ++next;
        found f;
        if (next < all.size() && all[next].at == at)
            ++next;
        else if (header_at(t, s, at, f))
            more.push_back(f);
        at += 8 * t.total;
    }
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

enum method {
    off,
    hard_copies,
    sum,
    prior,
    code,
    sum_known,
    prior_known,
    code_known,
    methods
};
const char* const names[] = { "off",  "hard",      "sum",         "prior",
                              "code", "sum+known", "prior+known", "code+known" };

struct memory_of {
    floats information;          // of earlier copies; empty: none
    std::vector<uint8_t> octets; // the last copy
};

void add(floats& to, const floats& from)
{
    for (size_t i = 0; i < std::min(to.size(), from.size()); ++i)
        to[i] += from[i];
}

//! Decode the segment after a known header, with a-priori ratios of its bits.
floats decode_segment(const stream& s,
                      const found& f,
                      size_t header_bits,
                      size_t n,
                      const floats& priors)
{
    const size_t begin = f.at + header_bits;
    const size_t after = std::min(run_in, s.pairs.size() / 2 - begin - n);
    floats known(memory + n + after, 0);
    const bits head = unpack(f.header);
    for (size_t k = 0; k < memory; ++k)
        known[k] = head[header_bits - memory + k] ? -certain : certain;
    for (size_t k = 0; k < priors.size(); ++k)
        known[memory + k] = priors[k];
    const floats out = information_decoder().decode(
        &s.pairs[2 * (begin - memory)], known.size(), known.data());
    return floats(out.begin() + memory, out.begin() + static_cast<long>(memory + n));
}

//! As the data link has them.
code_piece ratios_of(const stream& s, const found& f, size_t segment)
{
    received_d_pdu r;
    r.bit_offset = f.at;
    r.octets = f.header;
    const auto rest = pack(s.decided, f.at + 8 * f.header.size(), segment + 4);
    r.octets.insert(r.octets.end(), rest.begin(), rest.end());
    r.pdu = *decode_d_pdu(r.octets);
    return s.ratios.of_segment(r);
}

struct tally {
    std::array<double, methods> delivered{}, sent{};
};

int measure(int argc, char** argv)
{
    const mode m = mode::parse(argv[1]);
    const std::string channel = argv[2];
    const auto number = [&](int k, size_t usual) {
        return argc > k ? static_cast<size_t>(std::atoi(argv[k])) : usual;
    };
    const size_t seed = number(3, 1), trials = number(4, 4), count = number(5, 20),
                 segment = number(6, 200), rounds = number(7, 6);
    std::vector<tally> all;
    size_t copies = 0, streams = 0, plain_headers = 0, known_headers = 0, good = 0,
           wrong = 0, tries = 0;
    std::array<size_t, methods> second{}; // delivered by the end of round 2
    for (size_t trial = 0; trial < trials; ++trial) {
        std::mt19937_64 rng(seed * 1000 + trial);
        trial_data t;
        std::vector<d_pdu> pdus(count);
        for (size_t k = 0; k < count; ++k) {
            d_pdu& p = pdus[k];
            p.dst = address("1.2.3.4");
            p.src = address("1.2.3.5");
            p.arq.fsn = static_cast<uint16_t>(k);
            p.segment =
                loopback::random_octets(segment, (seed * 1000 + trial) * 1000 + k);
            t.sent.push_back(p.segment);
        }
        t.header = pdus[0].header_octets();
        t.total = pdus[0].octets();
        t.values = unpack(encode(pdus[0]));
        t.values.resize(8 * t.header);
        // The EOT, the number and the CRC differ; the rest of a neighbour's header holds.
        d_pdu other = pdus[0];
        other.eot = 255;
        other.arq.fsn = 255;
        const bits differs = unpack(encode(other));
        for (size_t k = 0; k < 8 * t.header; ++k)
            t.known.push_back(k + 16 < 8 * t.header && differs[k] == t.values[k]);
        const size_t header_bits = 8 * t.header, n = 8 * (segment + 4);
        std::array<std::map<size_t, memory_of>, methods> kept;
        soft_copies soft(kernel::decode_after_zeros);
        std::array<std::vector<size_t>, methods> done;
        for (auto& v : done)
            v.assign(count, 0);
        std::vector<size_t> order(count);
        std::iota(order.begin(), order.end(), size_t{ 0 });
        for (size_t round = 1; round <= rounds; ++round) {
            std::shuffle(order.begin(), order.end(), rng);
            std::vector<uint8_t> octets;
            for (size_t k = 0; k < count; ++k) {
                pdus[order[k]].eot = static_cast<uint8_t>(2 * (count - k));
                const auto v = encode(pdus[order[k]]);
                octets.insert(octets.end(), v.begin(), v.end());
            }
            loopback::samples x(4800 + 37 * round);
            const auto sent = loopback::transmit(m, octets);
            x.insert(x.end(), sent.begin(), sent.end());
            loopback::pause(x, 24000);
            x = loopback::through(
                x, channel, (seed * 1000 + trial) * 100 + round, kernel::mean_power(m));
            copies += count;
            for (const stream& s : receive(m, x)) {
                ++streams;
                for (const found& f : find_all(t, s)) {
                    (f.with_known ? known_headers : plain_headers) += 1;
                    good += f.good;
                    if (f.number >= count || f.at + header_bits + n > s.pairs.size() / 2)
                        continue;
                    for (int way = 0; way < methods; ++way) {
                        if (done[way][f.number] != 0 || (way < sum_known && f.with_known))
                            continue;
                        memory_of& old = kept[way][f.number];
                        bool ok = f.good;
                        if (!ok && way == hard_copies) {
                            const auto got =
                                pack(s.decided, f.at + header_bits, segment + 4);
                            ok = combine_copies(old.octets, got).has_value();
                            old.octets = got;
                        } else if (!ok && way != off) {
                            const int kind =
                                way < sum_known ? way : way - (sum_known - sum);
                            ++tries;
                            if (kind == code) {
                                const auto made = soft.add({},
                                                           { pdus[0].src,
                                                             static_cast<uint64_t>(way),
                                                             f.number,
                                                             segment },
                                                           ratios_of(s, f, segment));
                                ok = made.has_value();
                                wrong += ok && *made != t.sent[f.number];
                            } else {
                                floats own = decode_segment(
                                    s,
                                    f,
                                    header_bits,
                                    n,
                                    kind == prior ? old.information : floats());
                                if (kind == sum)
                                    add(own, old.information);
                                const auto got = pack(hard(own), 0, segment + 4);
                                ok = crc32(got.data(), got.size()) == 0;
                                wrong += ok && !std::equal(t.sent[f.number].begin(),
                                                           t.sent[f.number].end(),
                                                           got.begin());
                                old.information = own;
                            }
                        }
                        if (ok)
                            done[way][f.number] = round;
                    }
                }
            }
        }
        tally one;
        for (int way = 0; way < methods; ++way)
            for (size_t k = 0; k < count; ++k) {
                const size_t at = done[way][k];
                one.delivered[way] += at != 0;
                one.sent[way] += static_cast<double>(at != 0 ? at : rounds);
                second[way] += at != 0 && at <= 2;
            }
        all.push_back(one);
    }
    const auto copies_of = static_cast<double>(copies);
    std::printf("%s %s: %zu copies, transmissions found %zu of %zu, headers plain %.3f, "
                "with known octets %.3f, accepted alone %.3f, wrong accepts %zu of %zu\n",
                argv[1],
                argv[2],
                copies,
                streams,
                trials * rounds,
                static_cast<double>(plain_headers) / copies_of,
                static_cast<double>(plain_headers + known_headers) / copies_of,
                static_cast<double>(good) / copies_of,
                wrong,
                tries);
    const auto goodput = [&](const std::vector<size_t>& which, int way) {
        double d = 0, s = 0;
        for (const size_t k : which) {
            d += all[k].delivered[way];
            s += all[k].sent[way];
        }
        return d / s;
    };
    std::vector<size_t> each(trials);
    std::iota(each.begin(), each.end(), size_t{ 0 });
    std::mt19937_64 rng(1);
    for (int way = 0; way < methods; ++way) {
        std::vector<double> gains;
        for (int k = 0; k < 2000; ++k) {
            std::vector<size_t> drawn;
            for (size_t i = 0; i < trials; ++i)
                drawn.push_back(rng() % trials);
            gains.push_back(goodput(drawn, way) / goodput(drawn, hard_copies));
        }
        std::sort(gains.begin(), gains.end());
        std::printf(
            "  %-12s goodput %.3f, of off %.2f, of hard %.2f (95 %%: %.2f to %.2f), "
            "delivered by round 2: %.3f\n",
            names[way],
            goodput(each, way),
            goodput(each, way) / goodput(each, off),
            goodput(each, way) / goodput(each, hard_copies),
            gains[50],
            gains[1949],
            static_cast<double>(second[way]) / static_cast<double>(trials * count));
    }
    return 0;
}

} // namespace

int main(int argc, char** argv)
{
    if (argc < 3) {
        std::fprintf(stderr,
                     "soft_memory_probe MODE CHANNEL [SEED [TRIALS [D_PDUS [SEGMENT "
                     "[ROUNDS]]]]]\n");
        return 2;
    }
    try {
        return measure(argc, argv);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
