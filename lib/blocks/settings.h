/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <hf/setting_info.h>
#include <hf/station_time.h>

#include <cmath>
#include <functional>
#include <iomanip>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace gr::hf {

/*! \brief Settings of a configuration by name, as numbers. A station file and Python set
 *         them besides the parameters of a block.
 */
template <class Config>
class setting_table
{
public:
    //! One setting: access, limits and description.
    struct setting {
        std::function<double(const Config&)> get;
        std::function<void(Config&, double)> set;
        double most;
        bool whole;
        const char* unit; //!< empty for counts and flags
        const char* meaning;
        double least;
    };
    //! \param of owner of the settings, for messages
    setting_table(std::string of, std::map<std::string, setting> all)
        : d_of(std::move(of)), d_all(std::move(all))
    {
    }

    //! \p member gives a reference to a number inside the configuration.
    template <class Member>
    static setting number(Member member,
                          double most,
                          const char* unit,
                          const char* meaning,
                          double least = 0)
    {
        using type = std::decay_t<decltype(member(std::declval<Config&>()))>;
        return { [member](const Config& c) {
                    return static_cast<double>(member(const_cast<Config&>(c)));
                },
                 [member](Config& c, double v) { member(c) = static_cast<type>(v); },
                 most,
                 std::is_integral_v<type>,
                 unit,
                 meaning,
                 least };
    }
    //! A time in seconds, otherwise as number().
    template <class Member>
    static setting seconds(Member member,
                           double most,
                           const char* unit,
                           const char* meaning,
                           double least = 0)
    {
        return { [member](const Config& c) {
                    return to_seconds(member(const_cast<Config&>(c)));
                },
                 [member](Config& c, double v) { member(c) = from_seconds(v); },
                 most,
                 false,
                 unit,
                 meaning,
                 least };
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
            const auto& [get, set, most, whole, unit, meaning, least] = it->second;
            if (!(value >= least && value <= most &&
                  (!whole || value == std::floor(value)))) {
                std::ostringstream said;
                said << std::setprecision(12) << d_of << " setting " << name << " = "
                     << value << ": allowed are " << (whole ? "whole numbers from " : "")
                     << least << " to " << most
                     << (*unit != 0 ? std::string(" ") + unit : "");
                throw std::invalid_argument(said.str());
            }
            set(c, value);
        }
    }
    std::map<std::string, double> values(const Config& c) const
    {
        std::map<std::string, double> v;
        for (const auto& s : d_all)
            v[s.first] = s.second.get(c);
        return v;
    }

    //! All settings with their descriptions.
    std::vector<setting_info> describe() const
    {
        std::vector<setting_info> list;
        for (const auto& [name, s] : d_all)
            list.push_back(
                { name, s.get({}), s.least, s.most, s.whole, s.unit, s.meaning });
        return list;
    }

private:
    const std::string d_of;
    const std::map<std::string, setting> d_all;
};

} // namespace gr::hf
