/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "edges/auth_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <unistd.h>

namespace gr::hf {

namespace {

using s5066::address;

// More lines than auth_state ever has.
constexpr size_t max_lines = 2000;

std::optional<uint64_t> number(const std::string& text)
{
    if (text.empty() || text.size() > 19 ||
        text.find_first_not_of("0123456789") != std::string::npos)
        return std::nullopt;
    return std::stoull(text);
}

bool read_line(const std::string& line, s5066::auth_state& to)
{
    std::istringstream in(line);
    std::string kind, first, second, third, rest;
    in >> kind >> first;
    if (kind == "reserved") {
        const auto n = number(first);
        to.reserved = n.value_or(0);
        return n && !(in >> rest);
    }
    in >> second >> third;
    const auto src = address::parse(first), dst = address::parse(second);
    const auto n = number(third);
    if (kind != "heard" || !src || !dst || !n || in >> rest)
        return false;
    to.heard[{ *src, *dst }] = *n;
    return true;
}

std::string text_of(const s5066::auth_state& s)
{
    std::string text = "reserved " + std::to_string(s.reserved) + "\n";
    for (const auto& [route, counter] : s.heard) {
        text += "heard " + route.first.to_string() + " " + route.second.to_string() +
                " " + std::to_string(counter) + "\n";
    }
    return text;
}

} // namespace

s5066::auth_state auth_file::load() const
{
    s5066::auth_state s;
    if (d_path.empty())
        return s;
    errno = 0;
    std::ifstream file(d_path);
    if (!file) {
        if (errno == ENOENT)
            return s;
        throw std::invalid_argument("auth: state file '" + d_path +
                                    "' cannot be read: " + std::strerror(errno));
    }
    std::string line;
    for (size_t k = 1; std::getline(file, line); ++k) {
        if (k > max_lines || !read_line(line, s)) {
            throw std::invalid_argument(
                "auth: state file '" + d_path + "', line " + std::to_string(k) + ": '" +
                line.substr(0, 60) +
                "': allowed are 'reserved NUMBER' and 'heard SOURCE DESTINATION NUMBER'");
        }
    }
    return s;
}

std::string auth_file::save(const s5066::auth_state& s)
{
    const std::string wrong = d_path.empty() ? "" : write(s);
    const bool first = !wrong.empty() && !d_failed;
    d_failed = !wrong.empty();
    return first ? "auth: state file '" + d_path + "' cannot be written: " + wrong +
                       ". After a restart, recordings may be accepted"
                 : "";
}

std::string auth_file::write(const s5066::auth_state& s) const
{
    const std::string partial = d_path + ".partial", text = text_of(s);
    const int fd =
        ::open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return std::strerror(errno);
    errno = 0;
    const bool whole = ::write(fd, text.data(), text.size()) == ssize_t(text.size());
    const bool closed = ::close(fd) == 0;
    if (whole && closed && std::rename(partial.c_str(), d_path.c_str()) == 0)
        return "";
    const std::string wrong = errno != 0 ? std::strerror(errno) : "not all was written";
    ::unlink(partial.c_str());
    return wrong;
}

} // namespace gr::hf
