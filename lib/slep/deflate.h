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

//! Compresses one direction.
class deflater
{
public:
    enum class flush {
        none, //!< output may stay inside
        sync, //!< everything so far comes out; ends with 00 00 FF FF
        last  //!< final block; nothing may follow
    };
    deflater();
    ~deflater();
    deflater(const deflater&) = delete;
    deflater& operator=(const deflater&) = delete;

    //! Appends to \p out. A sync flush without new input adds nothing.
    void run(const uint8_t* p, size_t n, flush f, std::vector<uint8_t>& out);

private:
    std::unique_ptr<z_stream_s> d_z;
    bool d_dirty = false;
    bool d_ended = false;
};

//! Decompresses one direction.
class inflater
{
public:
    inflater();
    ~inflater();
    inflater(const inflater&) = delete;
    inflater& operator=(const inflater&) = delete;

    //! Octets of one PDU; empty: damaged, or more than \p limit came out.
    std::optional<std::vector<uint8_t>> run(const uint8_t* p, size_t n, size_t limit);

private:
    std::unique_ptr<z_stream_s> d_z;
    bool d_ended = false;
    bool d_bad = false;
};

} // namespace gr::hf::slep
