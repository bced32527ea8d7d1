/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <hf/keys.h>

#include <atomic>

namespace gr::hf::keys {

// Interned once. Function-local so that they exist before any block is made.
#define HF_KEY(name)                                                \
    const pmt::pmt_t& name()                                        \
    {                                                               \
        static const pmt::pmt_t key = pmt::string_to_symbol(#name); \
        return key;                                                 \
    }

HF_KEY(type)
HF_KEY(now)
HF_KEY(air_time)
HF_KEY(mode)
HF_KEY(snr_db)
HF_KEY(freq_offset_hz)
HF_KEY(joined)
HF_KEY(reading)
HF_KEY(doppler_hz)
HF_KEY(delay_spread_ms)
HF_KEY(coded_ber)
HF_KEY(profile)
HF_KEY(taps)
HF_KEY(quality)
HF_KEY(ratios)
HF_KEY(ratios_from)
HF_KEY(reason)
HF_KEY(max_octets)
HF_KEY(last)
HF_KEY(present)
HF_KEY(lock_step)
HF_KEY(client)
HF_KEY(start_sample)
HF_KEY(end_sample)
HF_KEY(d_pdu)
HF_KEY(d_pdus)
HF_KEY(acknowledges)
HF_KEY(detail)
HF_KEY(down)
HF_KEY(held_s)
HF_KEY(wanted_s)
HF_KEY(host_s)
HF_KEY(gaps)
HF_KEY(erased)
HF_KEY(lost)
HF_KEY(transmission)
HF_KEY(seconds)
HF_KEY(fraction)
HF_KEY(ale_channel)
HF_KEY(open)
HF_KEY(only)
HF_KEY(wanted)
HF_KEY(active)
HF_KEY(unanswered)
#undef HF_KEY

uint64_t new_client_id()
{
    static std::atomic<uint64_t> next{ 1 };
    return next++;
}

} // namespace gr::hf::keys
