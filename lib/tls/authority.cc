/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tls/authority.h"
#include "tls/openssl.h"

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <stdexcept>
#include <system_error>

namespace gr::hf::tls {
namespace {

constexpr long day_s = 86400;
// A key that was copied is worth something for a year at most. The certificate of a server
// is made at each start. Both begin a day early, for clocks that differ.
constexpr long authority_s = 365 * day_s, server_s = 90 * day_s;
// Certificates of servers that are kept.
constexpr size_t kept_max = 256;

[[noreturn]] void fail(const std::string& path, const std::string& why)
{
    throw std::runtime_error("certificate authority " + path + ": " + why);
}

[[noreturn]] void fail_by_system(const std::string& path)
{
    fail(path, std::strerror(errno));
}

owned<EVP_PKEY> new_key()
{
    owned<EVP_PKEY> key(EVP_EC_gen("P-256"));
    if (!key)
        throw std::runtime_error("OpenSSL makes no key");
    return key;
}

void add_extension(X509* to, X509* issuer, int id, const std::string& value)
{
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, to, nullptr, nullptr, 0);
    X509_EXTENSION* e = X509V3_EXT_conf_nid(nullptr, &context, id, value.c_str());
    if (e == nullptr || X509_add_ext(to, e, -1) != 1)
        throw std::runtime_error("OpenSSL makes no certificate for " + value);
    X509_EXTENSION_free(e);
}

void set_name(X509_NAME* name, const std::string& text)
{
    // A common name has at most 64 characters; programs look at the alternative name.
    X509_NAME_add_entry_by_txt(name,
                               "CN",
                               MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(text.c_str()),
                               static_cast<int>(std::min<size_t>(text.size(), 64)),
                               -1,
                               0);
}

//! A certificate without extensions and signature.
owned<X509> new_certificate(EVP_PKEY* key, const std::string& name, long valid_s)
{
    owned<X509> x(X509_new());
    std::array<unsigned char, 16> serial;
    if (!x || RAND_bytes(serial.data(), static_cast<int>(serial.size())) != 1)
        throw std::runtime_error("OpenSSL makes no certificate");
    serial[0] &= 0x7f;
    BIGNUM* number = BN_bin2bn(serial.data(), static_cast<int>(serial.size()), nullptr);
    BN_to_ASN1_INTEGER(number, X509_get_serialNumber(x.get()));
    BN_free(number);
    X509_set_version(x.get(), X509_VERSION_3);
    X509_gmtime_adj(X509_getm_notBefore(x.get()), -day_s);
    X509_gmtime_adj(X509_getm_notAfter(x.get()), valid_s);
    X509_set_pubkey(x.get(), key);
    set_name(X509_get_subject_name(x.get()), name);
    return x;
}

//! Name constraints of a certificate. Null: none.
owned<NAME_CONSTRAINTS> limits_of(X509* x)
{
    return owned<NAME_CONSTRAINTS>(static_cast<NAME_CONSTRAINTS*>(
        X509_get_ext_d2i(x, NID_name_constraints, nullptr, nullptr)));
}

void sign(X509* x, EVP_PKEY* key)
{
    if (X509_sign(x, key, EVP_sha256()) == 0)
        throw std::runtime_error("OpenSSL signs no certificate");
}

bool is_address(const std::string& host)
{
    std::array<unsigned char, 16> octets;
    return inet_pton(AF_INET, host.c_str(), octets.data()) == 1 ||
           inet_pton(AF_INET6, host.c_str(), octets.data()) == 1;
}

std::string text_of(BIO* b)
{
    char* p = nullptr;
    const long n = BIO_get_mem_data(b, &p);
    return { p, static_cast<size_t>(n) };
}

//! Writes a file that only its owner may read. It is whole or absent.
void write_private(const std::string& path, const std::string& text)
{
    const std::string partial = path + ".tmp";
    ::unlink(partial.c_str());
    const int fd = ::open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        fail_by_system(partial);
    const bool ok = ::fchmod(fd, 0600) == 0 &&
                    ::write(fd, text.data(), text.size()) == ssize_t(text.size()) &&
                    ::fsync(fd) == 0;
    const int error = errno;
    ::close(fd);
    if (!ok || ::rename(partial.c_str(), path.c_str()) != 0) {
        const std::string why = std::strerror(ok ? errno : error);
        ::unlink(partial.c_str());
        fail(path, why);
    }
}

void make_folders(const std::string& path)
{
    for (size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
        const std::string part = path.substr(0, at);
        if (::mkdir(part.c_str(), 0700) != 0 && errno != EEXIST)
            fail_by_system(part);
        if (at == std::string::npos)
            return;
    }
}

} // namespace

struct authority::content {
    owned<EVP_PKEY> key;
    owned<X509> certificate;
    owned<EVP_PKEY> server_key = new_key(); // of all servers, not on disk
    std::map<std::string, owned<X509>> servers;
    struct stat file {
    };
};

authority::authority(const std::string& folder, const std::vector<std::string>& names)
    : d_folder(folder), d_path(folder + "/ca.key"), d_names(names), d_content(new content)
{
    struct stat unused;
    if (::stat(d_path.c_str(), &unused) != 0 && errno == ENOENT)
        make();
    read();
}

authority::~authority() = default;

void authority::rotate()
{
    make();
    read();
}

void authority::make()
{
    make_folders(d_folder);
    const auto key = new_key();
    std::array<char, 256> host{};
    ::gethostname(host.data(), host.size() - 1);
    const auto x = new_certificate(
        key.get(), std::string("gr-hf TLS apart on ") + host.data(), authority_s);
    X509_set_issuer_name(x.get(), X509_get_subject_name(x.get()));
    add_extension(x.get(), x.get(), NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
    add_extension(x.get(), x.get(), NID_key_usage, "critical,keyCertSign");
    add_extension(x.get(), x.get(), NID_subject_key_identifier, "hash");
    if (!d_names.empty()) {
        // Constraints hold for each kind of name by itself, so addresses are excluded.
        std::string limits = "critical,excluded;IP:0.0.0.0/0.0.0.0,"
                             "excluded;IP:0:0:0:0:0:0:0:0/0:0:0:0:0:0:0:0";
        for (const auto& name : d_names)
            limits += ",permitted;DNS:" + name;
        add_extension(x.get(), x.get(), NID_name_constraints, limits);
    }
    sign(x.get(), key.get());
    const owned<BIO> out(BIO_new(BIO_s_mem()));
    PEM_write_bio_PKCS8PrivateKey(
        out.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    PEM_write_bio_X509(out.get(), x.get());
    write_private(d_path, text_of(out.get()));
}

void authority::read()
{
    const int fd = ::open(d_path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        fail_by_system(d_path);
    std::string text(16384, '\0');
    auto next = std::make_unique<content>();
    const bool known = ::fstat(fd, &next->file) == 0;
    const ssize_t n = ::read(fd, text.data(), text.size());
    ::close(fd);
    if (!known || n < 0)
        fail_by_system(d_path);
    if ((next->file.st_mode & 077) != 0)
        fail(d_path,
             "others may read the key; after chmod 600, hf pep ca --rotate makes a new "
             "one");
    const owned<BIO> in(BIO_new_mem_buf(text.data(), static_cast<int>(n)));
    next->key.reset(PEM_read_bio_PrivateKey(in.get(), nullptr, nullptr, nullptr));
    next->certificate.reset(PEM_read_bio_X509(in.get(), nullptr, nullptr, nullptr));
    if (!next->key || !next->certificate ||
        X509_check_private_key(next->certificate.get(), next->key.get()) != 1)
        fail(d_path, "has no key and its certificate; hf pep ca --rotate makes new ones");
    d_content = std::move(next);
}

void authority::read_if_changed()
{
    struct stat now;
    const auto& then = d_content->file;
    if (::stat(d_path.c_str(), &now) != 0 ||
        (now.st_ino == then.st_ino && now.st_mtim.tv_sec == then.st_mtim.tv_sec &&
         now.st_mtim.tv_nsec == then.st_mtim.tv_nsec))
        return;
    try {
        read();
    } catch (const std::runtime_error&) {
        // Not readable for this user any more: go on with what is known.
    }
}

std::string authority::certificate() const
{
    const owned<BIO> out(BIO_new(BIO_s_mem()));
    PEM_write_bio_X509(out.get(), d_content->certificate.get());
    return text_of(out.get());
}

std::string authority::fingerprint() const
{
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
    unsigned n = 0;
    X509_digest(d_content->certificate.get(), EVP_sha256(), digest.data(), &n);
    std::string text;
    for (unsigned k = 0; k < n; ++k) {
        std::array<char, 4> octet;
        std::snprintf(octet.data(), octet.size(), k ? ":%02X" : "%02X", digest[k]);
        text += octet.data();
    }
    return text;
}

std::vector<std::string> authority::names() const
{
    std::vector<std::string> all;
    const auto limits = limits_of(d_content->certificate.get());
    for (int k = 0; limits && k < sk_GENERAL_SUBTREE_num(limits->permittedSubtrees);
         ++k) {
        const GENERAL_NAME* n =
            sk_GENERAL_SUBTREE_value(limits->permittedSubtrees, k)->base;
        if (n->type == GEN_DNS)
            all.emplace_back(reinterpret_cast<const char*>(n->d.dNSName->data),
                             static_cast<size_t>(n->d.dNSName->length));
    }
    std::sort(all.begin(), all.end());
    return all;
}

std::time_t authority::not_after() const
{
    std::tm t{};
    ASN1_TIME_to_tm(X509_get0_notAfter(d_content->certificate.get()), &t);
    return ::timegm(&t);
}

bool authority::use_certificate(ssl_st* session, const std::string& host)
{
    read_if_changed();
    content& c = *d_content;
    if (c.servers.size() >= kept_max && c.servers.count(host) == 0)
        c.servers.clear();
    auto& x = c.servers[host];
    try {
        if (!x) {
            auto made = new_certificate(c.server_key.get(), host, server_s);
            X509_set_issuer_name(made.get(), X509_get_subject_name(c.certificate.get()));
            const std::string kind = is_address(host) ? "IP:" : "DNS:";
            add_extension(
                made.get(), c.certificate.get(), NID_subject_alt_name, kind + host);
            add_extension(
                made.get(), c.certificate.get(), NID_ext_key_usage, "serverAuth");
            add_extension(made.get(),
                          c.certificate.get(),
                          NID_authority_key_identifier,
                          "keyid:always");
            sign(made.get(), c.key.get());
            X509_check_purpose(made.get(), -1, 0); // parses the extensions for the check
            const auto limits = limits_of(c.certificate.get());
            if (limits && NAME_CONSTRAINTS_check(made.get(), limits.get()) != X509_V_OK)
                throw std::runtime_error("not for " + host);
            x = std::move(made);
        }
    } catch (const std::runtime_error&) {
        c.servers.erase(host);
        return false;
    }
    return SSL_use_certificate(session, x.get()) == 1 &&
           SSL_use_PrivateKey(session, c.server_key.get()) == 1;
}

} // namespace gr::hf::tls
