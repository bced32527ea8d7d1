/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/block_errors.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace gr::hf::s5066 {

namespace {

constexpr double beyond_db = 2; // distance of the points measured

bool is_long(const mode& m)
{
    return m.il == interleaver::long_ || m.il == interleaver::very_long;
}

block_error_point all_bad(double snr_db) { return { snr_db, 1, 1, 0.5 }; }

bool share(double v, double most) { return v >= 0 && v <= most; }

} // namespace

void block_error_curves::add(const mode& m, const std::vector<block_error_point>& points)
{
    const auto refuse = [&m](const std::string& why) {
        throw std::invalid_argument("block errors of " + m.to_string() + ": " + why);
    };
    if (points.empty()) {
        refuse("no points");
    }
    for (size_t i = 0; i < points.size(); ++i) {
        const auto& p = points[i];
        if (i > 0 && !(p.snr_db > points[i - 1].snr_db)) {
            refuse("SNR " + std::to_string(p.snr_db) + " dB does not rise");
        }
        if (!share(p.lost, 1) || !share(p.bad, 1) || !share(p.ber_of_bad, 0.5)) {
            refuse("at " + std::to_string(p.snr_db) +
                   " dB: shares must be 0 to 1, bit errors of bad blocks 0 to 0.5");
        }
    }
    auto& curve = d_curves[{ m.rate_bps, is_long(m) }];
    curve = points;
    auto first = all_bad(points.front().snr_db - beyond_db);
    curve.insert(curve.begin(), first);
    const auto& last = points.back();
    if (last.bad == 0 && last.lost == 0) {
        curve.push_back({ last.snr_db + beyond_db, 0, 0, 0 });
    }
}

const std::vector<block_error_point>* block_error_curves::find(const mode& m) const
{
    for (const bool il : { is_long(m), !is_long(m) }) {
        const auto it = d_curves.find({ m.rate_bps, il });
        if (it != d_curves.end()) {
            return &it->second;
        }
    }
    return nullptr;
}

block_error_point block_error_curves::at(const mode& m, double snr_db) const
{
    const auto* curve = find(m);
    if (curve == nullptr || snr_db <= curve->front().snr_db) {
        return all_bad(snr_db);
    }
    const auto next = std::find_if(curve->begin(), curve->end(), [snr_db](const auto& p) {
        return p.snr_db > snr_db;
    });
    if (next == curve->end()) {
        return curve->back();
    }
    const auto& a = *(next - 1);
    const auto& b = *next;
    const double t = (snr_db - a.snr_db) / (b.snr_db - a.snr_db);
    const auto between = [t](double x, double y) { return x + t * (y - x); };
    // Where one end has no bad blocks, what is inside them is known from the other end.
    const double ber = b.bad > 0 ? between(a.ber_of_bad, b.ber_of_bad) : a.ber_of_bad;
    return { snr_db, between(a.lost, b.lost), between(a.bad, b.bad), ber };
}

double block_error_point::loss(size_t octets, unsigned copies) const
{
    const double bursts = 2 * ber_of_bad / error_burst_bits;
    const double hit = 1 - std::exp(-8 * static_cast<double>(octets) * bursts);
    return lost + (1 - lost) * bad * std::pow(hit, copies);
}

namespace {

struct measured_row {
    const char *mode, *channel;
    double snr_db, trials, lost, blocks, bad_blocks, ber_of_bad;
};
constexpr measured_row measured_rows[] = {
#include "measured_block_errors.inc"
};

std::map<std::string, block_error_curves> read_measured()
{
    std::map<std::string, std::map<std::string, std::vector<block_error_point>>> points;
    for (const auto& r : measured_rows) {
        const bool any = r.blocks > 0;
        points[r.channel][r.mode].push_back({ r.snr_db,
                                              r.lost / r.trials,
                                              any ? r.bad_blocks / r.blocks : 1,
                                              r.ber_of_bad });
    }
    std::map<std::string, block_error_curves> curves;
    for (const auto& [channel, modes] : points) {
        for (const auto& [name, list] : modes) {
            curves[channel].add(mode::parse(name), list);
        }
    }
    return curves;
}

} // namespace

const block_error_curves& measured_block_errors(const std::string& channel)
{
    static const auto all = read_measured();
    const auto found = all.find(channel);
    if (found == all.end()) {
        std::string known;
        for (const auto& [name, curves] : all) {
            known += (known.empty() ? "" : ", ") + name;
        }
        throw std::invalid_argument("channel '" + channel + "': measured are " + known);
    }
    return found->second;
}

} // namespace gr::hf::s5066
