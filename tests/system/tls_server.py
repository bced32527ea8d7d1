# SPDX-License-Identifier: GPL-3.0-or-later
"""HTTPS servers with good and bad certificates, for the test of TLS apart.

    tls_server.py FOLDER ADDRESS    makes the certificates, prints "ready", serves until killed
"""
import http.server
import os
import ssl
import subprocess
import sys
import threading

NAME = "shop.example"
#: Ports, by what is special about them.
PORTS = {"good": 443, "through": 8440, "expired": 8441, "wrong name": 8442, "self signed": 8443,
         "no close_notify": 8445, "late": 8446, "late expired": 8447, "late h2": 8448}


def openssl(folder, *arguments):
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


def make_certificates(folder):
    """ca.pem is what the shore trusts. Each certificate is NAME.pem with its key."""
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    openssl(folder, "req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-days", "9",
            "-subj", "/CN=Shore")
    for name, host, dates in (("good", NAME, ("20200101000000Z", "20990101000000Z")),
                              ("expired", NAME, ("20200101000000Z", "20210101000000Z")),
                              ("wrong", "other.example", ("20200101000000Z", "20990101000000Z"))):
        openssl(folder, "req", *key, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj",
                f"/CN={host}", "-addext", f"subjectAltName=DNS:{host}")
        with open(os.path.join(folder, "ca.cnf"), "w", encoding="utf-8") as file:
            file.write("[ca]\ndefault_ca=x\n[x]\ndatabase=index\nserial=serial\nnew_certs_dir=.\n"
                       "default_md=sha256\npolicy=p\ncopy_extensions=copy\n[p]\ncommonName="
                       "supplied\n")
        for empty in ("index", "index.attr"):
            open(os.path.join(folder, empty), "w", encoding="utf-8").close()
        openssl(folder, "ca", "-batch", "-config", "ca.cnf", "-cert", "ca.pem", "-keyfile",
                "ca.key", "-rand_serial", "-in", f"{name}.csr", "-out", f"{name}.pem", "-notext",
                "-startdate", dates[0], "-enddate", dates[1])
    openssl(folder, "req", "-x509", *key, "-keyout", "self.key", "-out", "self.pem", "-days", "9",
            "-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}")


class Page(http.server.BaseHTTPRequestHandler):
    """Answers with the file page."""

    protocol_version = "HTTP/1.1"
    content = b""

    def do_GET(self):
        cut = self.server.server_port == PORTS["no close_notify"]
        self.send_response(200)
        if not cut:
            self.send_header("Content-Length", str(len(self.content)))
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(self.content)
        if cut:  # the end of the connection ends the page, and TLS does not say so
            self.close_connection = True

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    """A server of which each connection has its TLS handshake in its own thread."""

    def __init__(self, address, context):
        super().__init__(address, Page)
        self._context = context

    def process_request_thread(self, request, client_address):
        try:
            request = self._context.wrap_socket(request, server_side=True)
        except OSError:
            return
        super().process_request_thread(request, client_address)

    def shutdown_request(self, request):
        if isinstance(request, ssl.SSLSocket) and self.server_port != PORTS["no close_notify"]:
            try:
                request.unwrap()
            except OSError:
                pass
        super().shutdown_request(request)


def main(folder, address):
    make_certificates(folder)
    with open(os.path.join(folder, "page"), "rb") as file:
        Page.content = file.read()
    for what, port in PORTS.items():
        name = {"expired": "expired", "late expired": "expired", "wrong name": "wrong",
                "self signed": "self"}.get(what, "good")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(os.path.join(folder, f"{name}.pem"),
                                os.path.join(folder, f"{name}.key"))
        context.set_alpn_protocols(["h2"] if what == "late h2" else ["http/1.1"])
        threading.Thread(target=Server((address, port), context).serve_forever).start()
    print("ready", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
