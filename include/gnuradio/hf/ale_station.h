/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <hf/modem.h>
#include <hf/setting_info.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gr::hf {

//! Link quality of a station on a channel, for displays.
struct ale_quality {
    std::string station;  //!< ALE address
    uint64_t channel = 0; //!< from 0 on
    double snr_db = 0;    //!< in 3 kHz, mean of both directions as far as known
    double age_s = 0;     //!< of the latest measurement, s
};

//! State of an ALE station, for displays.
struct ale_state {
    std::string state; //!< scanning, reading, listening, sending, answer, slot, handshake
                       //!< or linked
    uint64_t channel = 0;  //!< channel that the radio is tuned to, from 0 on
    std::string peer;      //!< ALE address of the station that we are linked with
    uint64_t links = 0;    //!< links since the start
    uint64_t failures = 0; //!< calls without a link since the start
    double now = 0;        //!< station time, s
    std::vector<ale_quality> quality; //!< of the last hour, by station and channel
};

//! What an ALE station knows of others.
struct ale_book {
    std::vector<std::string> self; //!< own ALE addresses, the first names the station
    //! ALE address of each peer, by its STANAG 5066 address.
    std::map<std::string, std::string> peers;
    std::map<std::string, std::vector<std::string>> nets; //!< members in order of slots
    //! Channels that a station scans, by ALE address; 0: it hears all at once. Default: as
    //! many as this station has.
    std::map<std::string, int> scanned;
};

/*! \brief Modem that finds its peers by 2G ALE (MIL-STD-188-141 Appendix A).
 *  \ingroup hf
 * It has the message ports of hf.modem, and connects to hf.data_link. While there is no
 * link the data link's data wait. When it wants a peer, the station calls it by ALE on the
 * best channel first. The data link then uses that channel. The link is held while data
 * wait, and ends with TWAS.
 * Complex baseband at 9600 samples/s. With one stream the radio changes channels: it
 * follows the port \c ale. With a stream for each channel the block chooses among them.
 * Message port \c ale (out): PDUs of type tune, transmit, linked, ended, failed and message
 * (now, ale_channel). Their octets are a line of text. Message port \c log (out): PDUs of type
 * log, as of hf.data_link.
 */
class HF_API ale_station : virtual public modem
{
public:
    typedef std::shared_ptr<ale_station> sptr; //!< pointer type for flowgraphs

    /*! \param book addresses
     *  \param channels number of channels, 1 to 100
     *  \param wide the radio hears all channels at once; needs a stream for each
     *  \param streams number of streams in and out, 1 to 100: 1, or as many as channels
     *  \param settings by name, see settings()
     *  \param lock_step as of hf.modem
     *  \param start_delay_s as of hf.modem, 0 to 60 s
     *  \param level as of hf.modem, 0.001 to 10
     *  \param seed seed of random pauses and slots, from 0 on
     *  \throws std::invalid_argument
     */
    static sptr make(const ale_book& book,
                     int channels,
                     bool wide = false,
                     int streams = 1,
                     const std::map<std::string, double>& settings = {},
                     bool lock_step = true,
                     std::optional<double> start_delay_s = std::nullopt,
                     double level = 1.6,
                     uint64_t seed = 1);

    //! Names and default values of the settings.
    static std::map<std::string, double> settings();
    //! Settings with meanings, units and ranges.
    static std::vector<setting_info> describe_settings();

    virtual ale_state ale() const = 0; //!< any thread may call it
    /*! \brief Call a station or net, with or without an AMD message.
     *  \throws std::invalid_argument
     */
    virtual void call(const std::string& to, const std::string& text) = 0;
    //! End the link with TWAS, and forget calls.
    virtual void hang_up() = 0;
    /*! \brief Note that a station was heard on a channel with this SNR, dB in 3 kHz.
     *  \throws std::invalid_argument for a channel that does not exist
     */
    virtual void note(const std::string& station, int channel, double snr_db) = 0;
};

} // namespace gr::hf
