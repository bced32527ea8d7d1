/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "blocks/stage_tags.h"
#include "waveform/description.h"

#include <gnuradio/tagged_stream_block.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace gr::hf {

//! An interleaver block on its way through the chain.
struct packet {
    uint64_t number = 0;              //!< in its transmission, from 0 on
    bool first = false, last = false; //!< of a transmission, by its tags
};

/*! \brief A stage of the waveform chain: one packet (an interleaver block) in, one out.
 *
 * \p Api is the public class, a gr::tagged_stream_block. Tags of a packet go on at the
 * same share of its length, the end of a transmission at the last item. A packet of
 * another length ends the flowgraph, with a message that names both lengths.
 */
template <class Api>
class stage : public Api
{
public:
    int calculate_output_stream_length(const gr_vector_int&) override
    {
        return static_cast<int>(d_most);
    }

    int work(int,
             gr_vector_int& length,
             gr_vector_const_void_star& in,
             gr_vector_void_star& out) override
    {
        for (const int n : length)
            if (n != static_cast<int>(d_expected)) {
                this->d_logger->error("{} = {}: a block of {} has {} items here",
                                      tags::packet_len,
                                      n,
                                      d_d.m.to_string(),
                                      d_expected);
                return Api::WORK_DONE;
            }
        const uint64_t begin = this->nitems_read(0);
        std::vector<gr::tag_t> found;
        this->get_tags_in_range(found, 0, begin, begin + d_expected);
        packet p;
        for (const gr::tag_t& t : found) {
            p.first = p.first || tags::begins(t.key);
            p.last = p.last || tags::ends(t.key);
        }
        p.number = p.first ? 0 : d_next;
        d_next = p.number + 1;
        const size_t made = run(p, in, out);
        for (const gr::tag_t& t : found)
            if (!pmt::eqv(t.key, pmt::intern(tags::packet_len)))
                d_tags.push_back({ t, t.offset - begin });
        if (made > 0)
            forward(made, out.size());
        return static_cast<int>(made);
    }

protected:
    /*! \param expected items of a packet in
     *  \param most items of a packet out
     */
    stage(const kernel::description& d, size_t expected, size_t most)
        : d_d(d), d_expected(expected), d_most(most)
    {
        this->set_tag_propagation_policy(gr::block::TPP_DONT);
        // The buffer has two packets: the next stage reads one while this one writes another.
        for (int port = 0; port < this->output_signature()->max_streams(); ++port)
            this->set_min_output_buffer(port, static_cast<long>(2 * most));
    }

    /*! \brief Turn a packet into \p out.
     *  \returns items written; 0: the tags of the packet are kept for the next one
     */
    virtual size_t
    run(const packet& p, gr_vector_const_void_star& in, gr_vector_void_star& out) = 0;

    //! Tag the first item of the packet that run() makes.
    void tag(const pmt::pmt_t& key, const pmt::pmt_t& value)
    {
        gr::tag_t t;
        t.key = key;
        t.value = value;
        d_tags.push_back({ t, 0 });
    }

    const kernel::description& d_d;

private:
    struct waiting {
        gr::tag_t tag;
        uint64_t at; // items from the start of its packet
    };

    void forward(size_t made, size_t ports)
    {
        for (const waiting& w : d_tags) {
            const uint64_t at =
                tags::ends(w.tag.key) ? made - 1 : w.at * made / d_expected;
            for (size_t port = 0; port < ports; ++port)
                this->add_item_tag(static_cast<unsigned>(port),
                                   this->nitems_written(static_cast<unsigned>(port)) + at,
                                   w.tag.key,
                                   w.tag.value);
        }
        d_tags.clear();
    }

    const size_t d_expected, d_most;
    uint64_t d_next = 0;
    std::vector<waiting> d_tags;
};

} // namespace gr::hf
