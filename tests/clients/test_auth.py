# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys that prove who speaks: key files, hf auth, [auth] of station files, and the page."""
import os
from pathlib import Path
import re
import stat
import subprocess
import time

from click.testing import CliRunner
from gnuradio import blocks, gr, hf
from gnuradio.hf import station
from gnuradio.hf.cli import top
from gnuradio.hf.cli.auth import command
from gnuradio.hf.gui import glance, problems
from gnuradio.hf.station import auth
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def call(*words):
    done = CliRunner(mix_stderr=False).invoke(command, list(map(str, words)))
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def made(description):
    """The station with its data link, which nobody runs."""
    return station.Station(gr.top_block(), description, blocks.null_source(8), blocks.null_sink(8))


def description(text, address="1.2.0.1"):
    return station.parse(f'address = "{address}"\n{text}', "a.toml")


def test_new_makes_a_file_for_its_owner_and_overwrites_nothing(tmp_path):
    path = tmp_path / "net.key"
    done = call("new", path)
    assert done.exit_code == 0
    assert re.fullmatch(r"key 0: ([0-9A-F]{4} ){4}[0-9A-F]{4}, seals\n", done.stdout)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    before = path.read_text()
    assert call("show", path).stdout == done.stdout
    again = call("new", path)
    assert again.exit_code == 1 and str(path) in again.stderr + str(again.exception)
    assert path.read_text() == before and os.listdir(tmp_path) == ["net.key"]
    assert call("new", tmp_path / "other.key").stdout != done.stdout
    secret = re.search('"([0-9a-f]{64})"', before)[1]
    assert secret not in done.stdout and secret.upper()[:8] not in done.stdout.replace(" ", "")


def test_a_key_changes_in_three_steps_and_no_step_refuses_the_one_before(tmp_path):
    path = tmp_path / "net.key"
    call("new", path)
    steps = [auth.load(str(path))]
    for _ in range(3):
        done = call("rotate", path)
        assert done.exit_code == 0 and done.stderr
        steps.append(auth.load(str(path)))
    assert [sorted(s.keys) for s in steps] == [["0"], ["0", "1"], ["0", "1"], ["1"]]
    assert [s.send for s in steps] == [0, 0, 1, 1]
    for older, newer in zip(steps, steps[1:]):
        for one, other in ((older, newer), (newer, older)):
            assert one.keys[str(one.send)] == other.keys.get(str(one.send)) or \
                len(older.keys) == 1  # the new key is copied before it seals
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for _ in range(24):  # through all numbers
        call("rotate", path)
    assert sorted(auth.load(str(path)).keys) == ["1"]
    assert auth.load(str(path)).keys != steps[-1].keys


def test_a_signing_key_prints_its_public_half(tmp_path):
    path = tmp_path / "a.sign"
    done = call("new", "--signing", path)
    public = re.fullmatch("public key: ([0-9a-f]{64})\n", done.stdout)[1]
    assert call("show", path).stdout == done.stdout
    assert call("rotate", path).exit_code == 1
    secret = auth.load(str(path)).signing
    der = bytes.fromhex("302e020100300506032b657004220420" + secret)
    found = subprocess.run(["openssl", "pkey", "-inform", "DER", "-pubout", "-outform", "DER"],
                           input=der, capture_output=True, check=True).stdout
    assert found[-32:].hex() == public


@pytest.mark.parametrize("text, said", [
    ("", "needs [keys] or signing"),
    ("send = 8\n", "send = 8: allowed are 0 to 7"),
    ('[keys]\n0 = "12"\n', "[keys] 0: a key must be 64 hexadecimal digits"),
    (f'[keys]\n8 = "{"0" * 64}"\n', "[keys] 8: a key number must be 0 to 7"),
    (f'send = 1\n[keys]\n0 = "{"0" * 64}"\n', "send = 1: must be the number of a key"),
    ("[keys]\n" + "".join(f'{k} = "{"0" * 64}"\n' for k in range(3)), "3 net keys: at most 2"),
    (f'signing = "{"x" * 64}"\n', "signing: a key must be 64"),
    ("secret = 1\n", "'secret' is unknown"),
    ("\x00", "net.key"),
])
def test_a_wrong_key_file_is_named(tmp_path, text, said):
    path = tmp_path / "net.key"
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(auth.AuthError) as error:
        auth.load(str(path))
    assert str(path) in str(error.value) and said in str(error.value)


def test_a_key_file_that_others_may_read_is_refused(tmp_path):
    path = tmp_path / "net.key"
    call("new", path)
    for mode in (0o640, 0o604, 0o644):
        path.chmod(mode)
        with pytest.raises(auth.AuthError, match=f"mode {mode:03o}.: allowed is 600"):
            auth.load(str(path))
    with pytest.raises(auth.AuthError, match="missing.key: No such file"):
        auth.load(str(tmp_path / "missing.key"))


def test_what_is_wrong_in_the_table_is_named(tmp_path):
    key, sign = tmp_path / "net.key", tmp_path / "a.sign"
    call("new", key)
    call("new", "--signing", sign)
    good = f'[auth]\nkey = "{key}"\nstate = "{tmp_path}/state"\n'
    made(description(good))
    for text, said in [("[auth]\n", "needs key"),
                       (f'[auth]\nkey = "{sign}"\n', "allowed is a file with net keys"),
                       (good + f'signing_key = "{key}"\n', "allowed is a file with a signing key"),
                       (good + 'others = "yes"\n', "'yes': allowed are off, accept, require"),
                       (good + '[auth.peers]\n"1.2.0.2" = "on"\n', "1.2.0.2 'on': allowed are"),
                       (good + '[auth.peers]\n"1.2.0" = "off"\n', "1.2.0"),
                       (good + '[auth.public_keys]\n"1.2.0.2" = "12"\n',
                        "public 1.2.0.2: a key must be 64"),
                       (good + '[auth.public_keys]\n"31.255.255.255" = "' + "0" * 64 + '"\n',
                        "31.255.255.255: must be of a node")]:
        with pytest.raises(station.StationError) as error:
            made(description(text))
        assert "a.toml" in str(error.value) and said in str(error.value), error.value
        assert auth.load(str(key)).keys["0"] not in str(error.value)
    (tmp_path / "state").write_text("reserved 12\nheard 1.2.0.2 nobody 7\n")
    with pytest.raises(station.StationError, match="state', line 2: 'heard 1.2.0.2 nobody 7'"):
        made(description(good))
    with pytest.raises(station.StationError, match="modem_server"):
        station.parse('[modem_server]\n[auth]\nkey = "x"\n')


def test_the_counters_go_to_the_users_state_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    call("new", tmp_path / "net.key")
    words = description(f'[auth]\nkey = "{tmp_path}/net.key"\n').auth.words("1.2.0.1")
    assert f"state={tmp_path}/state/gr-hf/auth-1.2.0.1" in words
    assert stat.S_IMODE((tmp_path / "state" / "gr-hf").stat().st_mode) == 0o700


class OnTheAir:
    """The two example stations in lock step. B has other keys if it is told so."""

    def __init__(self, folder, key_b=None, peers_b=""):
        self.tb = gr.top_block()
        air = hf.air(2, "awgn snr=30")
        self.stations, self.clients = [], []
        for k, name in enumerate("ab"):
            text = (EXAMPLES / f"proofs_{name}.toml").read_text()
            text = re.sub(r"\[sis_server\]\nport = \d+\n", "", text)
            key = key_b if name == "b" and key_b else folder / "net.key"
            text = text.replace('key = "net.key"',
                                f'key = "{key}"\nstate = "{folder}/state-{name}"')
            one = station.Station(self.tb, station.parse(text + (peers_b if name == "b" else "")),
                                  air.source(k), air.sink(k))
            client = hf.traffic("1.2.0.2" if name == "a" else "1.2.0.1",
                                octets=3000 if name == "a" else 0, u_pdu_octets=500)
            one.add_client(self.tb, client)
            self.stations.append(one)
            self.clients.append(client)

    def received(self):
        """Octets that arrived at B."""
        return self.clients[1].state().octets_received

    def run(self, done):
        """Run until done() or 300 s of station time."""
        self.tb.start()
        try:
            while not done() and self.stations[0].data_link.state().now < 300:
                time.sleep(0.01)
        finally:
            self.tb.stop()
            self.tb.wait()


def test_the_example_stations_prove_themselves(tmp_path):
    call("new", tmp_path / "net.key")
    reserved = []
    for _ in range(2):  # the second time the counters of the first run are there
        pair = OnTheAir(tmp_path)
        far = pair.stations[1].data_link
        pair.run(lambda: pair.received() >= 3000)
        assert pair.received() == 3000
        (proof,) = far.state().proofs
        assert (proof.peer, proof.not_proved, proof.refused, proof.last) == \
            ("1.2.0.1", 0, 0, "proved")
        assert proof.proved == far.stats()["u_pdus_proved"] > 0
        lines = (tmp_path / "state-b").read_text().splitlines()
        assert any(re.fullmatch(r"heard 1\.2\.0\.1 1\.2\.0\.2 \d+", line) for line in lines)
        first = (tmp_path / "state-a").read_text().splitlines()[0]
        reserved.append(int(first.split()[1]))
        assert stat.S_IMODE((tmp_path / "state-b").stat().st_mode) == 0o600
    assert reserved[1] > reserved[0]


def test_a_station_with_another_key_is_refused_and_said(tmp_path):
    call("new", tmp_path / "net.key")
    call("new", tmp_path / "other.key")
    pair = OnTheAir(tmp_path, key_b=tmp_path / "other.key")
    far = pair.stations[1].data_link
    pair.run(lambda: far.stats()["u_pdus_refused"] > 0)
    assert pair.received() == 0
    (proof,) = far.state().proofs
    assert proof.refused > 0 and proof.proved == 0 and proof.last == "wrong proof"


def test_the_terminal_and_the_problems_name_who_was_refused():
    link = {"tx_mode": "4539-600S", "tx_reason": "set", "proofs": [
        {"peer": "1.2.0.2", "proved": 4, "not_proved": 0, "refused": 1, "last": "replayed"}]}
    shown = top.station({"mode": "4539-600S", "link": link}, {
        "me": "1.2.0.1", "peer": "1.2.0.2", "sentence": "", "problems": [], "state": "idle",
        "now": "", "speed": "", "speed_minutes": "", "cost": "", "channel": "",
        "channel_numbers": "", "waiting": "", "ready": ""}, utf8=False)
    cells = [str(cell) for column in shown[-1].columns for cell in column.cells]
    assert "proofs of 1.2.0.2" in cells
    assert "replayed (proved 4, not proved 0, refused 1)" in cells
    found = problems.problems({"link": link, "progress": {"troubles": {"u_pdus_refused": 2}}})
    assert any("did not prove who sent them" in p["what"] and "(2 U_PDUs" in p["what"]
               for p in found)
    assert glance
