/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <hf/time.h>

#include <functional>
#include <map>
#include <stdexcept>
#include <string>

namespace gr::hf {

/*! \brief Settings of a configuration by name, as numbers: what a station file and Python set
 *         besides the parameters of a block.
 */
template <class Config>
class setting_table
{
public:
    //! One setting: how it is read and set, and its largest value; the smallest is 0.
    struct setting {
        std::function<double(const Config&)> get;
        std::function<void(Config&, double)> set;
        double most;
    };
    //! \param of whose settings they are, for messages
    setting_table(std::string of, std::map<std::string, setting> all)
        : d_of(std::move(of)), d_all(std::move(all))
    {
    }

    //! \p member gives a reference to a number inside the configuration.
    template <class Member>
    static setting number(Member member, double most)
    {
        return { [member](const Config& c) {
                    return static_cast<double>(member(const_cast<Config&>(c)));
                },
                 [member](Config& c, double v) {
                     auto& x = member(c);
                     x = static_cast<std::decay_t<decltype(x)>>(v);
                 },
                 most };
    }
    //! The same for a time, in seconds.
    template <class Member>
    static setting seconds(Member member, double most)
    {
        return { [member](const Config& c) {
                    return to_seconds(member(const_cast<Config&>(c)));
                },
                 [member](Config& c, double v) { member(c) = from_seconds(v); },
                 most };
    }

    //! \throws std::invalid_argument that names the setting and what is allowed.
    void apply(const std::map<std::string, double>& settings, Config& c) const
    {
        for (const auto& [name, value] : settings) {
            const auto it = d_all.find(name);
            if (it == d_all.end()) {
                std::string known;
                for (const auto& s : d_all)
                    known += (known.empty() ? "" : ", ") + s.first;
                throw std::invalid_argument(d_of + " setting '" + name +
                                            "': allowed are " + known);
            }
            if (!(value >= 0 && value <= it->second.most))
                throw std::invalid_argument(
                    d_of + " setting " + name + " " + std::to_string(value) +
                    ": allowed are 0 to " +
                    std::to_string(static_cast<long long>(it->second.most)));
            it->second.set(c, value);
        }
    }
    std::map<std::string, double> values(const Config& c) const
    {
        std::map<std::string, double> v;
        for (const auto& s : d_all)
            v[s.first] = s.second.get(c);
        return v;
    }

private:
    const std::string d_of;
    const std::map<std::string, setting> d_all;
};

} // namespace gr::hf
