/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "pep/proxy.h"

#include <string>

namespace gr::hf::hfpep {

/*! \brief A rule from words, in any order and all optional:
 *
 *     port=22  port=8000-8099      of the destination
 *     to=PREFIX  from=PREFIX       destination, source
 *     node=1.2.0.2                 of the far proxy
 *     rate_min=2400 rate_max=9600  data rate of the link, bit/s
 *     action=proxy|ip_client|reject|drop
 *     max=4                        connections of this rule, and of each peer here
 *     load_max=50000               octets under way, above which no connection of this rule
 *                                  is made here
 *     over=wait|reject             what happens to more; reject unless said
 *     class=0...7                  each gets twice the share of the next one
 *     priority=0...15              of STANAG 5066
 *     compress=auto|on|off         auto: off for ports whose protocols encrypt
 *     accept=early|late
 *     hold_ms=50 idle_s=0 outage_s=1800
 *     tls=apart|through            apart: the port is 443 unless said
 *     names=a.example,b.example    hosts that may be taken apart, with all below them
 *
 *  \throws std::invalid_argument names the word and what is allowed.
 */
rule parse_rule(const std::string& words);

//! Rules of an operator, parse_rule() each, followed by default_rules() if
//! \p with_default.
std::vector<rule> rules_from(const std::vector<std::string>& words, bool with_default);

//! Host names of all rules with TLS apart, sorted. Empty: every host, or no such rule.
std::vector<std::string> apart_names(const std::vector<rule>& rules);

//! Length of the match of a name suffix (route::name_suffix). Negative: none. A name may end
//! with the dot of the root.
long name_matches(const std::string& suffix, std::string name);

//! Far proxy that serves \p to. Empty: none.
const stream_route* find_route(const std::vector<stream_route>& routes,
                               const destination& to);

/*! \brief Index of the first rule that matches.
 *  \param source empty: the connection comes from HF, rules with a source do not match
 *  \return empty: none matches, which means rule_action::proxy with the defaults of rule
 */
std::optional<size_t> find_rule(const std::vector<rule>& rules,
                                const destination& to,
                                const std::optional<endpoint_address>& source,
                                const s5066::address& node,
                                double link_rate);

/*! \brief Whether a connection to \p port is compressed under a rule.
 *  \param apart TLS apart: the stream has plain text
 */
bool compresses(compression how, uint16_t port, bool apart = false);

//! Preset dictionary for the usual protocol on \p port, slep::preset.
uint8_t dictionary_for(uint16_t port);

} // namespace gr::hf::hfpep
