/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "channel/learned_channel.h"

// Without this, a header included by the parser of Boost 1.74 warns.
#define BOOST_BIND_GLOBAL_PLACEHOLDERS
#include <boost/property_tree/json_parser.hpp>
#include <boost/property_tree/ptree.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace gr::hf::kernel {

namespace {

using boost::property_tree::ptree;

// Deeper than any SigMF file; the parser recurses for each level.
constexpr int deepest = 16;

[[noreturn]] void fail(const std::string& file, const std::string& why)
{
    throw std::invalid_argument("channel file " + file + ": " + why);
}

// File names of description and samples.
std::pair<std::string, std::string> names(const std::string& file)
{
    std::string base = file;
    for (const std::string ending : { ".sigmf-meta", ".sigmf-data", ".sigmf" })
        if (base.size() > ending.size() &&
            base.compare(base.size() - ending.size(), ending.size(), ending) == 0) {
            base.erase(base.size() - ending.size());
            break;
        }
    return { base + ".sigmf-meta", base + ".sigmf-data" };
}

std::string contents(const std::string& file, size_t most)
{
    std::ifstream in(file, std::ios::binary);
    if (!in)
        fail(file, std::strerror(errno));
    std::string text;
    std::array<char, 65536> piece{};
    while (in.read(piece.data(), piece.size()), in.gcount() > 0) {
        text.append(piece.data(), static_cast<size_t>(in.gcount()));
        if (text.size() > most)
            fail(file, "more than " + std::to_string(most) + " octets");
    }
    if (in.bad())
        fail(file, "cannot be read");
    return text;
}

int depth(const std::string& json)
{
    int now = 0, most = 0;
    bool quoted = false;
    for (size_t i = 0; i < json.size(); ++i)
        if (quoted && json[i] == '\\')
            ++i;
        else if (json[i] == '"')
            quoted = !quoted;
        else if (!quoted && (json[i] == '{' || json[i] == '['))
            most = std::max(most, ++now);
        else if (!quoted && (json[i] == '}' || json[i] == ']'))
            --now;
    return most;
}

ptree description(const std::string& file)
{
    const std::string json = contents(file, learned_channel::max_description);
    if (depth(json) > deepest)
        fail(file, "not a SigMF description");
    ptree all;
    std::istringstream in(json);
    try {
        boost::property_tree::read_json(in, all);
    } catch (const boost::property_tree::json_parser_error& error) {
        fail(file, "not JSON: " + error.message());
    }
    const auto global = all.get_child_optional("global");
    if (!global)
        fail(file, "not a SigMF description: it has no \"global\"");
    return *global;
}

double number(const std::string& file,
              const std::string& key,
              const std::string& text,
              double least,
              double most)
{
    double v = 0;
    const char* end = text.data() + text.size();
    const auto r = std::from_chars(text.data(), end, v);
    if (r.ec != std::errc{} || r.ptr != end || !(v >= least && v <= most)) {
        std::ostringstream s;
        s << key << " " << text.substr(0, 40) << ": allowed are " << least << " to "
          << most;
        fail(file, s.str());
    }
    return v;
}

std::string required(const std::string& file, const ptree& global, const char* key)
{
    const auto value = global.get_child_optional(key);
    if (!value)
        fail(file,
             std::string("no ") + key + "; hf channel --learn writes channel files");
    return value->data();
}

void read_description(const std::string& file, learned_channel& c)
{
    const ptree global = description(file);
    const std::string type = required(file, global, "core:datatype");
    if (type != "cf32_le")
        fail(file, "core:datatype " + type.substr(0, 40) + ": allowed is cf32_le");
    c.rate = number(
        file, "core:sample_rate", required(file, global, "core:sample_rate"), 1e-3, 1e5);
    required(file, global, "hf:delays_s");
    for (const auto& delay : global.get_child("hf:delays_s"))
        c.delays_ms.push_back(1e3 *
                              number(file, "hf:delays_s", delay.second.data(), 0, 1));
    if (c.paths() < 1 || c.paths() > learned_channel::max_paths)
        fail(file,
             "hf:delays_s has " + std::to_string(c.paths()) +
                 " delays: allowed are 1 to " +
                 std::to_string(learned_channel::max_paths));
    const auto count = static_cast<double>(c.paths());
    number(file,
           "core:num_channels",
           global.get<std::string>("core:num_channels", "1"),
           count,
           count);
}

} // namespace

std::shared_ptr<const learned_channel> learned_channel::read(const std::string& file)
{
    auto c = std::make_shared<learned_channel>();
    c->file = file;
    const auto [meta, data] = names(file);
    read_description(meta, *c);
    const std::string octets = contents(data, max_octets);
    const size_t each = sizeof(std::complex<float>) * c->paths();
    if (octets.empty() || octets.size() % each != 0)
        fail(data,
             std::to_string(octets.size()) + " octets: " + std::to_string(c->paths()) +
                 " paths need a multiple of " + std::to_string(each));
    c->gains.resize(octets.size() / sizeof(std::complex<float>));
    std::memcpy(c->gains.data(), octets.data(), octets.size());
    double power = 0;
    for (const auto& g : c->gains)
        power += std::norm(std::complex<double>(g));
    power /= static_cast<double>(c->length());
    if (!(power > 1e-20 && power < 1e20))
        fail(data, "the mean power of the gains is not a number above 0");
    for (auto& g : c->gains)
        g *= static_cast<float>(1 / std::sqrt(power));
    return c;
}

learned_tap::learned_tap(std::shared_ptr<const learned_channel> channel,
                         size_t path,
                         double sample_rate)
    : d_channel(std::move(channel)), d_path(path),
      d_per_sample(d_channel->rate / sample_rate)
{
}

std::complex<float> learned_tap::at(double sample) const
{
    const auto last = static_cast<double>(d_channel->length() - 1);
    double place = 0;
    if (last > 0) {
        place = std::fmod(std::max(sample, 0.0) * d_per_sample, 2 * last);
        if (place > last)
            place = 2 * last - place;
    }
    const auto from = static_cast<size_t>(place);
    const size_t to = std::min(from + 1, d_channel->length() - 1);
    const auto& gains = d_channel->gains;
    const auto a = gains[from * d_channel->paths() + d_path],
               b = gains[to * d_channel->paths() + d_path];
    return a + (b - a) * static_cast<float>(place - static_cast<double>(from));
}

void learned_tap::produce(std::complex<float>* out, size_t n)
{
    for (size_t i = 0; i < n; ++i)
        out[i] = at(static_cast<double>(d_count + i));
    d_count += n;
}

} // namespace gr::hf::kernel
