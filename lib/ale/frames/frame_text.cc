/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ale/frames/frame_text.h"

#include <algorithm>
#include <stdexcept>

namespace gr::hf::ale {

namespace {

class parser
{
public:
    explicit parser(const std::string& text) : d_text(text) {}

    frame_plan plan()
    {
        frame_plan p;
        for (std::string w = next(); !w.empty(); w = next()) {
            if (!p.from.empty())
                refuse(w);
            if (w == "TO")
                p.to.push_back(next());
            else if (w == "FROM")
                p.quick_id = next();
            else if (w == "AMD")
                p.text = quoted();
            else if (w == "LQA")
                p.report = report();
            else if (w == "TIS" || w == "TWAS")
                conclude(p, w == "TIS");
            else
                refuse(w);
        }
        if (p.from.empty())
            throw std::invalid_argument("frame '" + d_text +
                                        "': it must end with TIS or TWAS and an address");
        return p;
    }

private:
    [[noreturn]] void refuse(const std::string& w) const
    {
        throw std::invalid_argument("'" + w + "' in frame '" + d_text +
                                    "': allowed are TO, FROM and an address, LQA, AMD "
                                    "\"...\", and at the end TIS "
                                    "or TWAS with the own address");
    }

    void conclude(frame_plan& p, bool answer_wanted)
    {
        p.answer_wanted = answer_wanted;
        p.from = next();
        if (p.from.empty())
            refuse(answer_wanted ? "TIS" : "TWAS");
    }

    // The next word, without blanks; empty: the end.
    std::string next()
    {
        d_at = std::min(d_text.find_first_not_of(' ', d_at), d_text.size());
        const size_t end = std::min(d_text.find(' ', d_at), d_text.size());
        const std::string w = d_text.substr(d_at, end - d_at);
        d_at = end;
        return w;
    }
    std::string peek()
    {
        const size_t before = d_at;
        const std::string w = next();
        d_at = before;
        return w;
    }

    // Up to the last quotation mark: the text may have others.
    std::string quoted()
    {
        const size_t begin = d_text.find('"', d_at), end = d_text.rfind('"');
        if (begin == std::string::npos || end == begin ||
            d_text.find_first_not_of(' ', d_at) != begin)
            refuse("AMD");
        d_at = end + 1;
        return d_text.substr(begin + 1, end - begin - 1);
    }

    // Numbers with their units, in any order.
    lqa report()
    {
        lqa r;
        for (std::string w = peek();; w = peek()) {
            if (w == "wanted") {
                next();
                r.wanted = true;
                continue;
            }
            if (w.empty() || w.size() > 3 ||
                w.find_first_not_of("0123456789") != std::string::npos)
                return r;
            next();
            const int value = std::stoi(w);
            const std::string unit = next();
            if (unit == "dB")
                r.sinad_db = value;
            else if (unit == "ms")
                r.multipath_ms = value;
            else if (unit == "bit" && next() == "errors")
                r.bit_errors = value;
            else
                refuse(w + " " + unit);
        }
    }

    const std::string d_text;
    size_t d_at = 0;
};

} // namespace

frame_plan plan_of(const std::string& text) { return parser(text).plan(); }

} // namespace gr::hf::ale
