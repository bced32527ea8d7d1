/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gnuradio/block.h>
#include <hf/api.h>
#include <hf/setting_info.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace gr::hf {

//! U_PDUs of one priority that wait in a data link, for displays.
struct data_link_queue {
    unsigned priority = 0; //!< 0 to 15
    uint64_t u_pdus = 0;   //!< not yet sent as a whole
    uint64_t octets = 0;   //!< octets of these U_PDUs
    double oldest_s = 0;   //!< age of the oldest
};

//! What a peer has proved about itself, for displays. See data_link::make().
struct data_link_proof {
    std::string peer;        //!< address of the node
    uint64_t proved = 0;     //!< U_PDUs whose sender was proved
    uint64_t not_proved = 0; //!< U_PDUs delivered without a proof
    uint64_t refused = 0;    //!< U_PDUs that were not delivered
    std::string last;        //!< about the last U_PDU: proved, not proved, or why refused
};

//! The last reception of a station, for displays.
struct data_link_heard {
    std::string peer;  //!< address of the station
    double snr_db = 0; //!< of its last block, dB, in the bandwidth of its mode
    double age_s = 0;  //!< time since its end
};

//! State of a data link, for displays.
struct data_link_state {
    std::string phase; //!< idle, holding, transmitting, receiving, or what it waits for
    double phase_ends = 0;      //!< station time, s, if nothing else happens; 0: unknown
    std::string peer;           //!< peer of the current or last exchange; empty: none yet
    std::string tx_mode;        //!< mode of the current or last transmission
    std::string tx_reason;      //!< why the transmission has this mode, in words
    std::string rx_mode;        //!< mode of the current or last reception
    double rx_snr_db = 0;       //!< SNR of the last reception, dB
    uint64_t queued_octets = 0; //!< of C_PDUs not yet sent once and of held U_PDUs
    std::vector<data_link_queue>
        queues;                  //!< queues that are not empty, highest priority first
    uint64_t unacknowledged = 0; //!< data D_PDUs sent and not acknowledged, all peers
    uint64_t links = 0;          //!< links that are up, being made or being broken
    uint64_t clients = 0;        //!< clients that are bound
    bool emcon = false;          //!< emission control is on: nothing is transmitted
    bool broadcast = false;      //!< in a broadcast session
    std::vector<data_link_proof> proofs; //!< of each peer that was heard with keys
    std::vector<data_link_heard>
        heard;      //!< stations that sent anything to this one or to its groups
    double now = 0; //!< station time, s
};

/*! \brief STANAG 5066 data link of one station: SIS, CAS-1 and DTS (Annexes A, B, C).
 *  \ingroup hf
 *
 * Message ports, all in and out:
 *  - \c modem connects to hf.modem.
 *  - \c sis connects to clients (hf.pep, hf.ip_client, hf.sis_server). A PDU holds one
 *    whole S_primitive of Annex A. Its key client identifies the client (see
 *    keys::new_client_id()), its key now is station time. A PDU without octets only
 *    carries time. One of type client_gone reports that the client's connection is
 *    closed. In lock step every client of this module answers each tick by tick_done. A
 *    user's own block must do so too if its input port is named sis_in_step.
 *  - \c log (out): PDUs of type log (now: station time, ns), one for each event that a
 *    person may want to follow. The octets are a line of text.
 */
class HF_API data_link : virtual public gr::block
{
public:
    typedef std::shared_ptr<data_link> sptr; //!< pointer type for flowgraphs

    /*! \param address STANAG 5066 address of this station, for example 1.2.0.1
     *  \param mode mode of transmissions with data, for example 4539-9600S
     *  \param ack_mode mode of transmissions without data: a mode, "same" or "auto" (same
     *         rate with the shortest interleaver)
     *  \param settings further settings by name, see settings()
     *  \param d_pdu_pcap file for a capture of all D_PDUs (Wireshark reads it); empty:
     *         none
     *  \param sis_pcap file for a capture of all S_primitives; empty: none
     *  \param auth keys and rules that prove who sent a U_PDU, as words; empty: off.
     *         key=NUMBER:HEX is a net key, send=NUMBER the one that seals, others=POLICY
     *         (off, accept or require) the rule for all, peer=ADDRESS:POLICY for one node
     *         or group, sign=HEX an Ed25519 private key, public=ADDRESS:HEX the public key
     *         of a node, state=FILE where counters are stored
     *  \throws std::invalid_argument
     */
    static sptr make(const std::string& address,
                     const std::string& mode = "4539-600S",
                     const std::string& ack_mode = "auto",
                     const std::map<std::string, double>& settings = {},
                     const std::string& d_pdu_pcap = "",
                     const std::string& sis_pcap = "",
                     const std::vector<std::string>& auth = {});

    //! Names and default values of the further settings.
    static std::map<std::string, double> settings();
    //! Further settings with meanings, units and ranges.
    static std::vector<setting_info> describe_settings();

    virtual data_link_state state() const = 0; //!< any thread may call it
    //! Counters by name. D_PDUs are counted by type: sent_0, received_1 and so on.
    virtual std::map<std::string, uint64_t> stats() const = 0;
    //! Change the mode of data, from the next transmission on.
    //! \throws std::invalid_argument
    virtual void set_mode(const std::string& mode) = 0;
    /*! \brief Emission control: while on, nothing is transmitted. Received data is
     *         delivered, and not acknowledged. Clients are notified by
     *         S_SUBNET_AVAILABILITY.
     */
    virtual void set_emcon(bool on) = 0;
    /*! \brief Enter or leave a broadcast session (A.1.1.3): only data without ARQ, no
     *         links. With the setting broadcast_only the session never ends.
     */
    virtual void set_broadcast(bool on) = 0;
};

} // namespace gr::hf
