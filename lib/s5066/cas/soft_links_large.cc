/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Agreement on large windows (S5066-EP5) between two of our nodes.
#include "s5066/cas/link_window.h"

#include "s5066/cas/soft_links.h"
#include "s5066/dts/tx/segment_length.h"

namespace gr::hf::s5066 {

namespace {
// Turns in a row in which a peer with data may send none, because others come first.
constexpr unsigned max_yields = 2;
} // namespace

uint16_t soft_links::window_of(const peer& p, c_pdu_type type) const
{
    const bool accepted = type == c_pdu_type::link_accepted;
    if (!accepted && type != c_pdu_type::link_request)
        return link_window;
    uint16_t window = accepted ? naming_window : link_window;
    if (d_node.config.uses_large_windows())
        window = p.arq.large ? large_window_mark : has_large_window;
    return with_modes(window, d_node.modes.reads());
}

// What the peer supports is known only from its own link control. S5066-EP7 announces the
// EP5 that was never published; ours differs.
void soft_links::note_window(peer& p, uint16_t shown)
{
    const uint16_t window = without_modes(shown);
    p.link.takes_large = window == has_large_window || window == large_window_mark;
    p.link.reads_5069 = modes_shown(shown).of_5069;
    d_node.modes.policy->on_window(p.addr, offers_large(p));
    d_node.modes.policy->on_modes_read(p.addr, modes_shown(shown));
}

bool soft_links::adapts_in_3_khz() const
{
    return d_node.modes.adaptive && d_node.modes.of_4539;
}

bool soft_links::offers_large(const peer& p) const
{
    // Rate adaptation in 4539 alone falls back to modes that no window bounds. There large
    // windows gained nothing, and 1 to 4 % were lost at 6 dB
    // (what_was_cut_for_a_fast_mode_goes_in_a_slow_one). With 5069 they bring 5 % on Poor
    // at 22 dB, 2 % on Moderate over a day, and nothing is lost at 4 dB (test_trials).
    const bool slow = adapts_in_3_khz() && !(d_node.modes.of_5069 && p.link.reads_5069);
    return d_node.config.uses_large_windows() && p.link.takes_large && !slow;
}

bool soft_links::upgrade_due(const peer& p, const gr::hf::mode& last) const
{
    // What the peer supports is learned on a link without large windows. A second request
    // makes a new link, which must not repeat anything that has arrived. So the peer must
    // have just acknowledged all of our data that it has. It must also have sent no data
    // for this many turns: it would have if our acknowledgement had been lost.
    const unsigned turns = p.arq.rx.advanced() ? max_yields + 1 : 1;
    const bool quiet = p.turn.silent == 0 && p.turn.acks_alone >= turns &&
                       !p.arq.ack_due && !p.arq.rx.incomplete() && !p.managing() &&
                       !p.reset.active() && p.expedited.tx.idle() &&
                       !p.expedited.ack_due && p.control.empty();
    // Rate adaptation in 3 kHz takes short segments where much is lost. There a fall is
    // near, after which no window is a bound.
    const size_t segment =
        adapts_in_3_khz() ? max_segment : segment_length(d_node, p, last);
    const double in_window = p.arq.tx.window() * static_cast<double>(segment);
    // If the window is no bound, a second request would cost its turn for nothing.
    const double in_longest = last.rate_bps * d_node.config.max_transmission_s / 8;
    return p.link.made() && !p.arq.large && !p.link.exclusive &&
           !p.link.wants_exclusive && offers_large(p) && quiet &&
           in_longest > in_window &&
           static_cast<double>(p.arq.tx.unsent().total()) > in_window;
}

} // namespace gr::hf::s5066
