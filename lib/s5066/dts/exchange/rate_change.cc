/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/dts/exchange/rate_change.h"

#include "waveform/timing.h"

#include <stdexcept>

namespace gr::hf::s5066 {

namespace {
// D_PDUs in the old mode until we go back. A transmission repeats a message up to four
// times.
constexpr unsigned max_outdated = 20;
} // namespace

mode rate_change::initial() { return mode::parse("4539-300S"); }

void rate_change::reset() { *this = rate_change(); }

bool rate_change::useless(const mode& m) const
{
    return d_unknown || d_refused == m ||
           !encode_rate_request(m, rate_other::independent);
}

bool rate_change::less_robust(const mode& a, const mode& b)
{
    if (a.rate_bps != b.rate_bps)
        return a.rate_bps > b.rate_bps;
    const auto block = [](const mode& m) { return kernel::timing_of(m).block_symbols; };
    return block(a) < block(b);
}

void rate_change::start(const mode& m, rate_other other, management_exchange& x)
{
    const auto request = encode_rate_request(m, other);
    if (!request) {
        throw std::invalid_argument("rate change to " + m.to_string() +
                                    ": allowed are modes of 4539");
    }
    d_new = m;
    d_equal = other == rate_other::equal;
    d_state = state::requested;
    x.send(*request);
}

void rate_change::on_message(const management_message& m,
                             const limits& l,
                             management_exchange& x)
{
    switch (static_cast<eow_type>(eow_kind(m.eow))) {
    case eow_type::rate_request:
    case eow_type::high_rate_request: {
        const auto p = decode_rate_request(m);
        if (p &&
            (p->other == rate_other::advisory || p->other == rate_other::advisory_equal))
            return; // no request: the acknowledgement is enough
        if (!p || !l.offered) {
            x.send({ encode_rate_answer(rate_answer::refuse, rate_reason_neither), {} });
            d_state = l.offered ? state::refused : state::idle;
            return;
        }
        on_request(*p, l, x);
        return;
    }
    case eow_type::rate_response:
        on_answer(m.eow, x);
        return;
    case eow_type::unrecognised:
        give_up();
        return;
    default:
        return;
    }
}

void rate_change::on_request(const rate_parameters& p,
                             const limits& l,
                             management_exchange& x)
{
    if (d_state == state::requested && l.first_of_crossed)
        return; // the peer becomes the slave
    uint8_t why = rate_reason_none;
    const auto m = find_mode(p, why);
    // Only a mode less robust than the present one can exceed the channel.
    if (m && l.advised && less_robust(*m, d_rx) && less_robust(*m, *l.advised))
        why = rate_reason_conditions;
    if (!m || why != rate_reason_none) {
        d_state = state::refused;
        x.send({ encode_rate_answer(rate_answer::refuse, why), {} });
        return;
    }
    if (d_state == state::requested)
        x.withdraw(); // crossed requests: we become the slave
    d_new = *m;
    d_equal = p.other == rate_other::equal;
    d_state = state::accepted;
    x.send({ encode_rate_answer(rate_answer::accept, rate_reason_none), {} });
}

void rate_change::on_answer(uint16_t eow, management_exchange& x)
{
    const auto answer = static_cast<rate_answer>(eow >> 5 & 7);
    const uint8_t reason = eow & 0x1f;
    switch (d_state) {
    case state::requested:
        x.withdraw(); // the answer also acknowledges the request
        if (answer == rate_answer::accept) {
            d_equal = d_equal || reason == rate_reason_equal;
            d_state = state::wait_confirm;
        } else if (answer == rate_answer::refuse) {
            d_refused = d_new;
            d_state = state::cancelled;
            x.send({ encode_rate_answer(rate_answer::cancel, rate_reason_none), {} });
        }
        break;
    case state::wait_confirm:
        if (answer == rate_answer::confirm)
            change_as_master();
        break;
    case state::accepted:
    case state::refused:
        if (answer == rate_answer::cancel)
            finish_as_slave();
        break;
    default:
        break;
    }
}

void rate_change::on_acked(uint16_t eow, management_exchange& x)
{
    // An acknowledgement of an earlier message, still under way, means nothing here.
    const auto answer = eow_kind(eow) == static_cast<unsigned>(eow_type::rate_response)
                            ? std::optional(static_cast<rate_answer>(eow >> 5 & 7))
                            : std::nullopt;
    switch (d_state) {
    case state::accepted: // DT_ACK: both sides change now
        if (answer != rate_answer::accept)
            break;
        d_old = d_rx;
        d_old_tx = d_tx;
        d_outdated = 0;
        d_rx = d_new;
        d_tx = d_equal ? d_new : d_tx;
        d_state = state::confirmed;
        x.send({ encode_rate_answer(rate_answer::confirm, rate_reason_none), {} });
        break;
    case state::confirmed:
        if (answer == rate_answer::confirm)
            finish_as_slave();
        break;
    case state::cancelled:
        if (answer == rate_answer::cancel)
            d_state = state::idle;
        break;
    default:
        break;
    }
}

void rate_change::on_data(management_exchange& x)
{
    switch (d_state) {
    case state::wait_confirm:
        change_as_master();
        break;
    case state::cancelled:
    case state::accepted:
    case state::refused:
    case state::confirmed:
        x.withdraw();
        d_state = state::idle;
        break;
    default:
        break; // the peer has not heard our request yet
    }
}

bool rate_change::outdated(const mode& received_in, management_exchange& x)
{
    if (d_state != state::confirmed || d_old == d_rx || received_in != d_old)
        return false;
    if (++d_outdated >= max_outdated) {
        x.withdraw();
        d_rx = d_old;
        d_tx = d_old_tx;
        d_state = state::idle;
    }
    return true;
}

void rate_change::change_as_master()
{
    d_tx = d_new;
    d_rx = d_equal ? d_new : d_rx;
    d_state = state::idle;
}

void rate_change::finish_as_slave()
{
    d_state = state::idle;
    d_slave_finished = true;
}

bool rate_change::take_finished_as_slave()
{
    const bool f = d_slave_finished;
    d_slave_finished = false;
    return f;
}

} // namespace gr::hf::s5066
