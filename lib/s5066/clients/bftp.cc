/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/clients/bftp.h"

#include "s5066/words/octets.h"

#include <algorithm>
#include <cctype>

namespace gr::hf::s5066 {

std::vector<uint8_t> encode(const bftp_header& h)
{
    if (h.name.size() > 255)
        return {};
    octet_writer w;
    w.u8(static_cast<unsigned>(h.name.size()));
    w.bytes(reinterpret_cast<const uint8_t*>(h.name.data()), h.name.size());
    w.u32(h.size);
    return std::move(w.out());
}

std::optional<bftp_header> decode_bftp_header(const uint8_t* p, size_t n)
{
    octet_reader r(p, n);
    const auto name = r.bytes(r.u8());
    bftp_header h;
    h.name.assign(name.begin(), name.end());
    h.size = r.u32();
    if (!r.ok())
        return std::nullopt;
    return h;
}

std::vector<uint8_t> bftp_message(const std::string& name,
                                  const std::vector<uint8_t>& file)
{
    if (file.size() > UINT32_MAX)
        return {};
    const auto header = encode(bftp_header{ name, static_cast<uint32_t>(file.size()) });
    if (header.empty())
        return {};
    octet_writer w;
    w.bytes(header);
    w.bytes(file);
    return std::move(w.out());
}

std::optional<bftp_file> decode_bftp(const std::vector<uint8_t>& message)
{
    const auto h = decode_bftp_header(message.data(), message.size());
    if (!h || message.size() != h->octets() + uint64_t(h->size))
        return std::nullopt;
    return bftp_file{
        *h, { message.begin() + static_cast<std::ptrdiff_t>(h->octets()), message.end() }
    };
}

std::vector<uint8_t> encode(const bftp_receipt& r)
{
    rcop_segment s;
    s.connection = r.connection;
    s.id = r.id;
    s.application = r.header ? app_frap_v2 : app_frap;
    if (r.header) {
        s.data = encode(*r.header);
        if (s.data.empty())
            return {};
    }
    return encode(s);
}

std::optional<bftp_receipt> decode_receipt(const rcop_message& m)
{
    if (m.application == app_frap)
        return bftp_receipt{ m.connection, m.id, std::nullopt };
    if (m.application != app_frap_v2)
        return std::nullopt;
    const auto h = decode_bftp_header(m.data.data(), m.data.size());
    if (!h)
        return std::nullopt;
    return bftp_receipt{ m.connection, m.id, h };
}

std::optional<uint64_t> bftp_message_octets(uint16_t application,
                                            const std::vector<uint8_t>& begin)
{
    if (application != app_bftp)
        return std::nullopt;
    const auto h = decode_bftp_header(begin.data(), begin.size());
    if (!h)
        return std::nullopt; // one segment, which decode_bftp() will refuse
    return h->octets() + uint64_t(h->size);
}

std::string safe_file_name(const std::string& name)
{
    constexpr size_t longest = 200;
    const auto slash = name.find_last_of("/\\");
    std::string safe = slash == std::string::npos ? name : name.substr(slash + 1);
    for (char& c : safe)
        if (c < ' ' || c > '~')
            c = '_';
    safe.erase(0, std::min(safe.find_first_not_of('.'), safe.size()));
    safe.resize(std::min(safe.size(), longest));
    if (!safe.empty() && !std::isalnum(static_cast<unsigned char>(safe[0])))
        safe[0] = '_';
    return safe.empty() ? "unnamed" : safe;
}

} // namespace gr::hf::s5066
