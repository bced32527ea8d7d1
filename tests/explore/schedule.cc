/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "explore/schedule.h"

#include <algorithm>

namespace gr::hf::explore {

namespace {

bool has_number(fault_kind k)
{
    return k == fault_kind::header || k == fault_kind::segment || k == fault_kind::forged;
}

bool is_carrier(fault_kind k)
{
    return k == fault_kind::carrier || k == fault_kind::stuck;
}

bool is_restart(fault_kind k)
{
    return k == fault_kind::restart_sender || k == fault_kind::restart_other;
}

// Reads digits at the position at. Empty if there are none.
std::optional<unsigned> number(const std::string& text, size_t& at)
{
    const size_t begin = at;
    unsigned n = 0;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9' && at - begin < 6) {
        n = 10 * n + static_cast<unsigned>(text[at++] - '0');
    }
    return at == begin ? std::nullopt : std::optional<unsigned>(n);
}

} // namespace

std::string to_string(const schedule& s)
{
    std::string text;
    for (const fault& f : s) {
        text += text.empty() ? "" : ",";
        text += std::to_string(f.transmission) + static_cast<char>(f.kind);
        text += has_number(f.kind) ? std::to_string(f.d_pdu) : "";
    }
    return text;
}

std::optional<schedule> parse_schedule(const std::string& text)
{
    schedule s;
    for (size_t at = 0; at < text.size();) {
        fault f;
        const auto transmission = number(text, at);
        if (!transmission || at == text.size() ||
            std::string("LHSEPXCNRQUF").find(text[at]) == std::string::npos) {
            return std::nullopt;
        }
        f.transmission = *transmission;
        f.kind = static_cast<fault_kind>(text[at++]);
        if (has_number(f.kind)) {
            const auto d_pdu = number(text, at);
            if (!d_pdu) {
                return std::nullopt;
            }
            f.d_pdu = *d_pdu;
        }
        if (at < text.size() && text[at++] != ',') {
            return std::nullopt;
        }
        s.push_back(f);
    }
    std::sort(s.begin(), s.end());
    return s;
}

bool may_add(const schedule& s, const fault& more)
{
    const auto count = [&](auto&& same) {
        return std::count_if(
            s.begin(), s.end(), [&](const fault& f) { return same(f.kind); });
    };
    switch (more.kind) {
    case fault_kind::segment:
        return count([](fault_kind k) { return k == fault_kind::segment; }) < 2;
    case fault_kind::carrier:
    case fault_kind::stuck:
        return count(is_carrier) < 2;
    case fault_kind::restart_sender:
    case fault_kind::restart_other:
        return count(is_restart) < 1;
    case fault_kind::submit:
        return count([](fault_kind k) { return k == fault_kind::submit; }) < 1;
    default:
        return true;
    }
}

} // namespace gr::hf::explore
