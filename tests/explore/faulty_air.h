/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "explore/flow.h"
#include "explore/world.h"
#include "sim/air/emulated_air.h"

#include <functional>
#include <map>

namespace gr::hf::explore {

//! Address of a station by its number.
s5066::address address_of(size_t station);

//! The air of a run: an emulated air that does what a schedule says, and keeps a record.
class faulty_air
{
public:
    //! \param stations that keep to the rules; further ones on the air do not
    faulty_air(sim::scheduler& time, const schedule& s, size_t stations);
    faulty_air(const faulty_air&) = delete;
    faulty_air& operator=(const faulty_air&) = delete;

    sim::emulated_air& air() { return d_air; }
    //! Called when a station restarts: with the number of the sender of a transmission,
    //! and whether it is that sender (true) or the other station.
    std::function<void(size_t, bool)> on_restart;
    //! Called with the number of a station whose transmission has ended, for fault_kind::submit.
    std::function<void(size_t)> on_submit;
    //! The same for fault_kind::carrier: begins or ends.
    std::function<void(size_t, bool)> on_false_carrier;

    //! Called for fault_kind::forged with the number of the transmission and the forgery.
    std::function<void(uint64_t, unsigned)> on_forgery;

    //! Transmissions can be lost without a fault, so an answer may be missing.
    void set_lossy() { d_lossy = true; }
    //! A station has restarted, and cannot know yet who is on the air.
    void restarted(size_t station) { d_restarts[station] = d_time.now(); }
    const std::vector<transmission>& transmissions() const { return d_transmissions; }
    //! When the last fault happened, or the last data D_PDU went out.
    station_time last_event() const { return d_last_event; }
    //! Mode of a transmission, and the number after that of its last data D_PDU.
    mode mode_of(uint64_t number) const { return d_progress[number].m; }
    uint16_t next_fsn(uint64_t number) const;
    //! No transmission is on the air.
    bool silent() const { return d_on_air == 0; }
    //! Transmissions of station \p from since it could last hear one of station \p to.
    silence unanswered(size_t from, size_t to) const;
    //! Violated rules of access to the channel, as text: overlaps, answers that do not
    //! come, and third stations that do not leave time for an answer.
    std::vector<std::string> violations() const;
    //! Link requests with a new number and resets between two stations until now. Data
    //! sent again after one of these may be delivered again.
    size_t links_begun(size_t a, size_t b) const;

private:
    // Facts about a transmission beyond the record.
    struct progress {
        station_time begin{};
        station_time end{};
        bool over = false;
        mode m;
        bool deaf = false;           // its station had listened for a moment only
        bool excused = false;        // others could not hear it, or forgot it
        bool unread = false;         // others sense it, but cannot read it
        bool asks = false;           // one of its D_PDUs wants an answer
        std::optional<size_t> to;    // station of the first D_PDU
        uint32_t request = 0;        // its link request or break, 0: none
        std::vector<uint8_t> octets; // unaltered
        size_t next = 0;             // where the next D_PDU begins
        std::vector<size_t> headers; // complete, but not noted yet
        std::vector<size_t> damaged; // octets to damage, not reached yet
    };

    bool begins(uint64_t number, size_t station);
    void passes(uint64_t number, size_t first, std::vector<uint8_t>& octets);
    void find_d_pdus(uint64_t number);
    void note_headers(uint64_t number, bool complete);
    void note(progress& p, size_t from, const s5066::d_pdu& d);
    void ended(const sim::transmission_record& r);
    bool can_be_heard(uint64_t number) const;
    bool undisturbed(uint64_t number) const;
    void overlaps(std::vector<std::string>& found) const;
    void missing_answers(std::vector<std::string>& found) const;
    bool has(uint64_t number, fault_kind k, unsigned d_pdu = 0) const;
    void happened();
    void in(station_time t, std::function<void()> f);

    sim::scheduler& d_time;
    const schedule d_schedule;
    const size_t d_stations;
    sim::emulated_air d_air;
    std::vector<transmission> d_transmissions;
    std::vector<progress> d_progress;
    std::map<size_t, station_time> d_restarts; // the last of each station
    // Number of the last link request, and count of links and resets, of pairs from - to.
    std::map<std::pair<size_t, size_t>, std::pair<unsigned, size_t>> d_links;
    size_t d_on_air = 0;
    bool d_lossy = false;
    station_time d_last_event{};
};

} // namespace gr::hf::explore
