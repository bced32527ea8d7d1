/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <ctime>
#include <memory>
#include <string>
#include <vector>

struct ssl_st;

namespace gr::hf::tls {

/*! \brief The certificate authority of this machine, for the near end of TLS apart.
 *
 * A program that has its key can pretend to be any server to the programs that trust it. So the
 * key is in one file that only its owner may read, and nothing here exports it.
 */
class authority
{
public:
    /*! \brief Reads the authority of a folder. Makes it if there is none.
     *  \param names host names, each with all below it, that a new one is limited to, by
     *         name constraints (RFC 5280 4.2.1.10); empty: every host
     *  \throws std::runtime_error names the file and what is wrong, for example a key
     *          that others may read.
     */
    explicit authority(const std::string& folder,
                       const std::vector<std::string>& names = {});
    ~authority();

    //! The certificate, PEM, for programs that are to trust it.
    std::string certificate() const;
    //! SHA-256 of the certificate: hexadecimal octets with colons.
    std::string fingerprint() const;
    //! End of its validity.
    std::time_t not_after() const;
    //! Host names that it is limited to, sorted. Empty: every host.
    std::vector<std::string> names() const;
    //! The file of key and certificate.
    const std::string& path() const { return d_path; }

    //! Makes a new key and certificate. Programs that trust the old one trust nothing
    //! made from now on. \throws std::runtime_error
    void rotate();

    /*! \brief Gives a server session a certificate for a host.
     *  \details Reads the file again if another process has changed it.
     *  \param host name or address
     *  \return false if the authority is not for that host, or OpenSSL refuses
     */
    bool use_certificate(ssl_st* session, const std::string& host);

private:
    void read();
    void make();
    void read_if_changed();

    struct content;
    const std::string d_folder, d_path;
    const std::vector<std::string> d_names; // for make()
    std::unique_ptr<content> d_content;
};

} // namespace gr::hf::tls
