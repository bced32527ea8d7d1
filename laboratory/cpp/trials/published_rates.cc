/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trials/published_rates.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace gr::hf::sim {

namespace {

using namespace s5066;

constexpr std::array<const char*, 10> ladder{ "4539-75S",   "4539-150S",  "4539-300S",
                                              "4539-600S",  "4539-1200S", "4539-3200S",
                                              "4539-4800S", "4539-6400S", "4539-8000S",
                                              "4539-9600S" };
// Bit error rates of the first rule, by rate.
constexpr std::array<double, 10> down_above{ 1,        3.465e-4, 3.465e-4, 3.465e-4,
                                             3.465e-4, 3.465e-4, 3.465e-4, 2.154e-4,
                                             8.126e-5, 2.565e-5 };
constexpr std::array<double, 10> up_below{ 1.116e-4, 1.116e-4, 1.116e-4, 1.116e-4,
                                           1.116e-4, 5.268e-5, 2.568e-5, 2.568e-5,
                                           1.01e-5,  0 };
// Bit error rates of the second rule, and the change of SNR from which it jumps.
constexpr double rapidm_down = 1e-4, rapidm_up = 1e-6, jump_db = 9;
// Slope of the ladder on AWGN: 75 to 9600 bit/s from -6.75 to 20.48 dB, in dB per dB.
constexpr double slope = 21.07 / 27.23;
// Both stations begin here.
constexpr size_t first_rate = 2;
constexpr size_t segment = 250; // octets

// Bit error rate that explains the loss.
double bit_error_rate(const reception& r)
{
    const double all = r.good_d_pdus + r.lost_d_pdus;
    if (!r.read || r.good_d_pdus == 0)
        return 1;
    const double octets = r.d_pdu_octets > 0 ? r.d_pdu_octets : segment;
    return -std::log(r.good_d_pdus / all) / (8 * octets);
}

//! The ladder, and the advice of both rules, for one peer.
class ladder_policy : public rate_policy
{
public:
    mode choose(station_time, const tx_context& c) override
    {
        return c.ack_only ? default_ack_mode(d_answer_to) : mode::parse(ladder[d_send]);
    }
    void on_reception(station_time, address, const reception& r) override
    {
        if (r.good_d_pdus + r.lost_d_pdus == 0 && r.read)
            return; // no data
        d_answer_to = r.m;
        const auto at =
            std::find_if(ladder.begin(), ladder.end(), [&r](const char* name) {
                return mode::parse(name) == r.m;
            });
        if (at == ladder.end())
            return;
        d_wanted = next(static_cast<size_t>(at - ladder.begin()), r);
        d_has_advice = true;
    }
    void on_silence(station_time, address) override
    {
        d_send -= std::min<size_t>(d_send, 1);
    }
    void on_advice(station_time, address, const mode& m) override
    {
        for (size_t k = 0; k < ladder.size(); ++k)
            if (mode::parse(ladder[k]) == m)
                d_send = k;
    }
    std::optional<mode> advice(address) const override
    {
        if (!d_has_advice)
            return std::nullopt;
        return mode::parse(ladder[d_wanted]);
    }
    std::optional<size_t> segment_octets(address, const mode&) const override
    {
        return segment;
    }

protected:
    //! Number of the rate that should follow rate \p n.
    virtual size_t next(size_t n, const reception& r) = 0;
    static size_t limited(double n)
    {
        return static_cast<size_t>(std::clamp(n, 0.0, ladder.size() - 1.0));
    }

private:
    size_t d_send = first_rate, d_wanted = first_rate;
    bool d_has_advice = false;
    mode d_answer_to = mode::parse(ladder[first_rate]);
};

class trinder_policy : public ladder_policy
{
    size_t next(size_t n, const reception& r) override
    {
        const double ber = bit_error_rate(r);
        const double step = ber > down_above[n] ? -1 : ber < up_below[n] ? 1 : 0;
        return limited(static_cast<double>(n) + step);
    }
};

class rapidm_policy : public ladder_policy
{
    size_t next(size_t n, const reception& r) override
    {
        const std::vector<double>& db = r.block_snr_db;
        const std::optional<double> before = d_snr_db;
        if (!db.empty())
            d_snr_db = std::accumulate(db.begin(), db.end(), 0.0) /
                       static_cast<double>(db.size());
        if (before && d_snr_db && std::abs(*d_snr_db - *before) > jump_db)
            return along_the_line(n, *d_snr_db - *before);
        const double ber = bit_error_rate(r);
        const double step = ber > rapidm_down ? -1 : ber < rapidm_up ? 1 : 0;
        return limited(static_cast<double>(n) + step);
    }
    // The fastest rate within the rate that belongs to another SNR.
    static size_t along_the_line(size_t n, double db)
    {
        const double rate =
            mode::parse(ladder[n]).rate_bps * std::pow(10, slope * db / 10);
        size_t found = 0;
        for (size_t k = 0; k < ladder.size(); ++k)
            if (mode::parse(ladder[k]).rate_bps <= rate)
                found = k;
        return found;
    }

    std::optional<double> d_snr_db; // of the last reception
};

} // namespace

std::unique_ptr<rate_policy> published_rate_policy(const std::string& name)
{
    if (name == "trinder")
        return std::make_unique<trinder_policy>();
    if (name == "rapidm")
        return std::make_unique<rapidm_policy>();
    throw std::invalid_argument("rule '" + name + "': allowed are trinder and rapidm");
}

} // namespace gr::hf::sim
