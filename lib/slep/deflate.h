/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

struct z_stream_s;

/*! \file
 *  Raw DEFLATE (RFC 1951) of one direction of a stream. Window 32 kB, level 6.
 */
namespace gr::hf::slep {

/*! \brief Compresses one direction.
 *
 * After 64 kB that did not shrink by a twentieth it uses stored blocks, which cost 5
 * octets in 64 kB. It tries again after each further megabyte. From time to time it tests
 * whether short matches help. In hexadecimal or base64 text they cost a tenth.
 */
class deflater
{
public:
    enum class flush {
        none, //!< output may stay in the compressor
        sync, //!< all input so far is output; ends with 00 00 FF FF
        last  //!< final block; nothing may follow
    };
    //! \param dictionary number of a preset dictionary, \ref preset. 0: none
    explicit deflater(uint8_t dictionary = 0);
    ~deflater();
    deflater(const deflater&) = delete;
    deflater& operator=(const deflater&) = delete;

    //! Appends to \p out. A sync flush without new input adds nothing.
    void run(const uint8_t* p, size_t n, flush f, std::vector<uint8_t>& out);

private:
    void adapt(size_t in, size_t out, std::vector<uint8_t>& to);
    void sample(const uint8_t* p, size_t n, std::vector<uint8_t>& out);
    void set(int level, int strategy, std::vector<uint8_t>& out);

    std::unique_ptr<z_stream_s> d_z;
    int d_strategy = 0;            // zlib's default
    std::vector<uint8_t> d_sample; // sample of the latest input
    size_t d_until_trial;          // octets of input
    size_t d_in = 0, d_out = 0;    // octets since the last decision
    bool d_stored = false;
    bool d_dirty = false;
    bool d_ended = false;
};

//! One datagram as a complete DEFLATE stream. Empty: it does not get smaller.
std::optional<std::vector<uint8_t>> deflate_whole(const std::vector<uint8_t>& data);

//! Decompresses one direction.
class inflater
{
public:
    //! \param dictionary the sender's dictionary
    explicit inflater(uint8_t dictionary = 0);
    ~inflater();
    inflater(const inflater&) = delete;
    inflater& operator=(const inflater&) = delete;

    //! Octets of one PDU. Empty: damaged, or more than \p limit after decompression.
    std::optional<std::vector<uint8_t>> run(const uint8_t* p, size_t n, size_t limit);

private:
    std::unique_ptr<z_stream_s> d_z;
    bool d_ended = false;
    bool d_bad = false;
};

} // namespace gr::hf::slep
