/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ale/frames/frame_reader.h"

#include "ale/words/address.h"

#include <algorithm>

namespace gr::hf::ale {

namespace {

constexpr size_t longest_address_words = longest_address / 3;
constexpr size_t votes_per_word = 48;
// Readings of the called address that make a frame of which the sender is missing. Single
// words of scrambled transmissions do not count (seen off the air).
constexpr size_t readings_without_sender = 3;

} // namespace

void frame_reader::push(const rx_event& e)
{
    switch (e.what) {
    case rx_event::kind::word:
        if (d_held) {
            // The sender again after a single TO: the TO was misread.
            const bool again =
                e.text.kind == preamble::tis || e.text.kind == preamble::twas;
            const rx_event held = *d_held;
            d_held.reset();
            if (!again) {
                end_frame();
                take(held);
            }
        }
        if (d_part == part::sender &&
            (e.text.kind == preamble::to || e.text.kind == preamble::thru)) {
            d_held = e;
            return;
        }
        take(e);
        break;
    case rx_event::kind::lost:
        d_held.reset();
        lose();
        break;
    case rx_event::kind::again:
        d_held.reset();
        forget_frame();
        break;
    default:
        d_held.reset();
        end_frame();
    }
}

void frame_reader::finish()
{
    d_held.reset();
    end_frame();
}

std::optional<frame> frame_reader::poll()
{
    if (d_frames.empty())
        return std::nullopt;
    frame f = std::move(d_frames.front());
    d_frames.pop_front();
    return f;
}

void frame_reader::take(const rx_event& e)
{
    const auto kind = e.text.kind;
    const bool concluded = d_part == part::sender && !d_to.empty();
    if (d_frame.words >= max_words ||
        (concluded && (kind == preamble::from || kind == preamble::cmd)))
        end_frame();
    count(e);
    switch (e.text.kind) {
    case preamble::to:
        start_address(e, part::to);
        break;
    case preamble::thru:
        start_address(e, part::thru);
        d_group = true;
        break;
    case preamble::from:
        start_address(e, part::from);
        break;
    case preamble::tis:
    case preamble::twas:
        start_address(e, part::sender);
        break;
    case preamble::cmd:
        // The CRC word belongs to the message before it.
        if (d_part == part::command && d_open.words.front().text[0] == 'd' &&
            read_crc(e.text)) {
            d_open.words.push_back(e.text);
            close_part();
            break;
        }
        close_part();
        d_part = part::command;
        d_open = { { e.text } };
        break;
    default:
        extend(e.text);
    }
}

void frame_reader::start_address(const rx_event& e, part p)
{
    close_part();
    if (!starts_address(e.text))
        return;
    d_part = p;
    d_open = { { e.text } };
    d_open.twas = e.text.kind == preamble::twas;
}

void frame_reader::extend(const word& w)
{
    if (d_part == part::nothing)
        return;
    // REP starts the next address of a group where it does not follow DATA.
    const bool next = w.kind == preamble::rep &&
                      d_open.words.back().kind != preamble::data &&
                      (d_part == part::to || d_part == part::thru);
    if (next) {
        const part p = d_part;
        close_part();
        d_part = p;
        d_open = { { w } };
        d_group = true;
        return;
    }
    const bool address = d_part != part::command;
    const bool after_sender = d_part == part::sender && d_open.words.size() == 1;
    if (after_sender && w.kind == preamble::rep) { // never follows TIS or TWAS
        lose();
        return;
    }
    if (w.kind == d_open.words.back().kind ||
        (address && d_open.words.size() >= longest_address_words))
        close_part(); // not of this frame
    else
        d_open.words.push_back(w);
}

void frame_reader::lose()
{
    if (d_frame.words == 0)
        return;
    ++d_lost;
    const bool concluded = d_part == part::sender && !d_to.empty();
    d_open.whole = concluded; // nothing follows the conclusion of a call
    if (concluded)
        end_frame();
    else if (d_part != part::command)
        close_part();
}

void frame_reader::close_part()
{
    switch (d_part) {
    case part::to:
        add(d_to, d_open);
        d_sequence.push_back(address_of(d_open.words));
        break;
    case part::thru:
        add(d_thru, d_open);
        break;
    case part::sender:
        add(d_senders, d_open);
        break;
    case part::from:
        d_frame.quick_id = address_of(d_open.words);
        break;
    case part::command:
        d_frame.commands.push_back(read_command(d_open.words, d_open.whole));
        break;
    default:
        break;
    }
    d_part = part::nothing;
}

void frame_reader::count(const rx_event& e)
{
    if (d_frame.words == 0)
        d_frame.start_s = e.start_s;
    else
        d_frame.lost += d_lost;
    d_frame.bit_errors +=
        static_cast<float>(votes_per_word) - static_cast<float>(e.votes) +
        (d_frame.words > 0 ? static_cast<float>(d_lost * votes_per_word) : 0.0f);
    d_lost = 0;
    ++d_frame.words;
    d_frame.end_s = e.start_s + word_s;
    d_frame.snr_db += e.snr_db;
    d_frame.offset_hz += e.offset_hz;
}

void frame_reader::end_frame()
{
    close_part();
    if (d_frame.words > 0) {
        const auto n = static_cast<float>(d_frame.words);
        d_frame.snr_db /= n;
        d_frame.offset_hz /= n;
        d_frame.bit_errors /= n + static_cast<float>(d_frame.lost);
        d_frame.to = called();
        if (d_frame.commands.empty())
            d_frame.quick_id.clear(); // comes before a command only: misread
        if (const auto* sender = most_frequent(d_senders)) {
            d_frame.from = address_of(sender->words);
            d_frame.answer_wanted = !sender->twas;
        }
        if (!d_frame.from.empty() || max_readings() >= readings_without_sender)
            d_frames.push_back(d_frame);
    }
    forget_frame();
}

void frame_reader::forget_frame()
{
    d_part = part::nothing;
    d_frame = {};
    d_to.clear();
    d_thru.clear();
    d_sequence.clear();
    d_senders.clear();
    d_group = false;
    d_lost = 0;
}

void frame_reader::add(std::vector<reading>& all, const reading& r)
{
    if (!kind_of_address(address_of(r.words)))
        return;
    for (auto& other : all)
        if (address_of(other.words) == address_of(r.words) && other.twas == r.twas) {
            other.whole |= r.whole;
            ++other.count;
            return;
        }
    all.push_back(r);
    all.back().count = 1;
}

// A whole address before one that may lack its end, then by how often.
const frame_reader::reading* frame_reader::most_frequent(const std::vector<reading>& all)
{
    const reading* best = nullptr;
    for (const auto& r : all)
        if (!best ||
            std::make_pair(r.whole, r.count) > std::make_pair(best->whole, best->count))
            best = &r;
    return best;
}

// Of addresses with the same first word the longer ones: a scanning call has the first
// word only.
void frame_reader::drop_beginnings(std::vector<reading>& all)
{
    const auto part_of_another = [&all](const reading& r) {
        return std::any_of(all.begin(), all.end(), [&r](const reading& other) {
            return r.words.size() == 1 && other.words.size() > 1 &&
                   other.words.front().text == r.words.front().text;
        });
    };
    std::vector<reading> kept;
    for (const auto& r : all)
        if (!part_of_another(r))
            kept.push_back(r);
    all = std::move(kept);
}

size_t frame_reader::max_readings() const
{
    size_t most = 0;
    for (const auto* all : { &d_to, &d_thru })
        for (const auto& r : *all)
            most = std::max(most, r.count);
    return most;
}

// A group whose addresses need no REP: two of them were read twice.
bool frame_reader::is_group(const std::vector<reading>& all)
{
    const reading* first = nullptr;
    for (const auto& r : all) {
        if (r.count < 2)
            continue;
        if (first && first->words.front().text != r.words.front().text)
            return true;
        first = &r;
    }
    return false;
}

// A leading call has all addresses twice. The second time counts, because the first one may
// have been met in its middle.
void frame_reader::put_in_order(std::vector<std::string>& group) const
{
    if (d_sequence.size() < group.size())
        return;
    const std::vector<std::string> last(
        d_sequence.end() - static_cast<ptrdiff_t>(group.size()), d_sequence.end());
    if (std::is_permutation(last.begin(), last.end(), group.begin(), group.end()))
        group = last;
}

std::vector<std::string> frame_reader::called() const
{
    std::vector<std::string> found;
    auto all = d_to.empty() ? d_thru : d_to;
    if (all.empty())
        return found;
    if (d_group || is_group(all)) {
        drop_beginnings(all);
        for (const auto& r : all)
            found.push_back(address_of(r.words));
        put_in_order(found);
        return found;
    }
    // One address. The first word that was read most often, then the whole address with it.
    const word first = std::max_element(all.begin(), all.end(), [&all](auto& a, auto& b) {
                           const auto total = [&all](const reading& r) {
                               size_t n = 0;
                               for (const auto& other : all)
                                   if (other.words.front().text == r.words.front().text)
                                       n += other.count;
                               return n;
                           };
                           return total(a) < total(b);
                       })->words.front();
    std::vector<reading> same;
    for (const auto& r : all)
        if (r.words.front().text == first.text)
            same.push_back(r);
    drop_beginnings(same);
    found.push_back(address_of(most_frequent(same)->words));
    return found;
}

} // namespace gr::hf::ale
