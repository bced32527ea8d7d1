# SPDX-License-Identifier: GPL-3.0-or-later
"""Station files: errors are reported in one line with the file, the key, the value and what is
allowed, before anything is set up."""
import dataclasses
from pathlib import Path
import typing

from click.testing import CliRunner
from gnuradio import blocks, gr
from gnuradio.hf import station
from gnuradio.hf.cli.run import command
from gnuradio.hf.station import tables
import pytest

GOOD = 'address = "1.2.0.{}"\nmode = "4539-600S"\n'

WRONG = [
    ('address = 1', "address = 1: allowed is a text"),
    ('mode = 600', "mode = 600"),
    ('address = "1.2.0"', "1.2.0"),
    ('mode = "600"', "4539"),
    ('zero_interleaver = "yes"', "zero_interleaver = 'yes': allowed is true or false"),
    ('netns = ["a"]', "netns = ['a']: allowed is a text"),
    ('data_link = 3', "data_link = 3: allowed is a table"),
    ('data_link = {turnaround_s = "x"}', "turnaround_s = 'x': allowed is a number"),
    ('data_link = {turnaround_s = nan}', "turnaround_s = nan: allowed are finite"),
    ('data_link = {turnaround = 1}', "turnaround"),
    ('ip_client = "hf0"', "[ip_client]: 'hf0' is not a table"),
    ('[ip_client]\nmtu = 100000', "[ip_client]: mtu = 100000: allowed are 576 to 2048"),
    ('[ip_client]\nmtu = 1e3', "[ip_client]: mtu = 1000.0: allowed is a whole number"),
    ('[ip_client]\nmtu = true', "[ip_client]: mtu = True: allowed is a whole number"),
    ('[ip_client]\nroutes = "10.0.0.0/8=1.2.0.2"', "routes = '10.0.0.0/8=1.2.0.2': allowed is a"),
    ('[ip_client]\nfilter = [{port = [1]}]', "filter[0] port = [1]: allowed is a text or"),
    ('[ip_client]\nfilter = [1]', "filter[0] = 1: allowed is a table"),
    ('[pep]\nlisten = [3128]', "[pep]: listen[0] = 3128: allowed is a text"),
    ('[pep]\nmax_connections = -1', "max_connections = -1: allowed are 1 to 65535"),
    ('[pep]\nrule = {port = 22}', "[pep]: rule = {'port': 22}: allowed is a list"),
    ('[pep.settings]\nx = []', "[pep]: settings x = []: allowed is a number"),
    ('[dns]\nresolver = 1', "[dns]: resolver = 1"),
    ('[sis_server]\nport = 70000', "[sis_server]: port = 70000: allowed are 0 to 65535"),
    ('[sis_server]\nport = "5066"', "[sis_server]: port = '5066': allowed is a whole number"),
    ('[sis_server]\nmax_clients = 1000000000000', "allowed are 5 to 60"),
    ('[sis_server]\nranks = "127.0.0.1=15"', "ranks = '127.0.0.1=15': allowed is a list"),
    ('[sis_server]\nranks = ["127.0.0.1=16"]', "127.0.0.1=16"),
    ('start_delay_s = "1"', "start_delay_s = '1': allowed is a number"),
    ('start_delay_s = 61', "start_delay_s = 61.0: allowed are 0 to 60"),
    ('data_link = {send_ttd = 1}', "system_utc 1"),
    ('[capture]\nd_pdu = 1', "[capture]: d_pdu = 1: allowed is a text"),
    ('[capture]\nd_pdu = "TMP/none/a.pcap"', "none/a.pcap: No such file"),
    ('where = "x"', "'where' is unknown"),
    ('a = 1\n[', "column"),
    ('a = ' + "[" * 5000, "."),
]


def run(*files):
    done = CliRunner(mix_stderr=False).invoke(command, [*map(str, files), "--duration", "0.1"])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


@pytest.mark.parametrize("text, said", WRONG, ids=range(len(WRONG)))
def test_what_is_wrong_is_named_with_its_file(tmp_path, text, said):
    good, bad = tmp_path / "good.toml", tmp_path / "bad.toml"
    good.write_text(GOOD.format(1))
    # Later keys must not repeat those of the template.
    text = text.replace("TMP", str(tmp_path))
    begin = "" if text.startswith(("address", "mode")) else GOOD.format(2)
    bad.write_text((begin or ('mode = "4539-600S"\n' if text.startswith("address")
                              else 'address = "1.2.0.2"\n')) + text + "\n")
    done = run(good, bad)
    error = done.stderr.strip().splitlines()[-1]
    assert done.exit_code == 2 and said in error, done.stderr
    assert str(bad) in error and str(good) not in error


def test_two_stations_with_one_address_are_refused(tmp_path):
    for k, address in enumerate(("1.2.0.1", "1.2.0.2", "1.2.0.1")):
        (tmp_path / f"{k}.toml").write_text(f'address = "{address}"\nmode = "4539-600S"\n')
    done = run(*(tmp_path / f"{k}.toml" for k in range(3)))
    error = done.stderr.strip().splitlines()[-1]
    assert done.exit_code == 2 and "1.2.0.1" in error
    assert "0.toml" in error and "2.toml" in error and "1.toml" not in error
    assert run(tmp_path / "0.toml", tmp_path / "1.toml").exit_code == 0


def test_the_folder_of_captures_is_made_and_foreign_files_stay(tmp_path):
    files = [tmp_path / f"{k}.toml" for k in (1, 2)]
    for k, file in enumerate(files, 1):
        file.write_text(GOOD.format(k))
    folder = tmp_path / "new" / "folder"
    for _ in range(2):  # its own captures are replaced
        assert run(*files, "--pcap", folder).exit_code == 0
        assert len(list(folder.iterdir())) == 4
    (folder / "1.2.0.1-sis.pcap").write_text("a letter")
    done = run(*files, "--pcap", folder)
    assert done.exit_code == 2 and "1.2.0.1-sis.pcap" in done.stderr
    assert (folder / "1.2.0.1-sis.pcap").read_text() == "a letter"
    done = run(*files, "--pcap", files[0] / "x")
    assert done.exit_code == 2 and "1.toml/x" in done.stderr


def test_the_bandwidth_says_among_which_modes_auto_chooses():
    auto = 'address = "1.2.0.1"\nmode = "auto{}"\n'
    assert station.parse(auto.format("")).bandwidth_khz == 3
    d = station.parse(auto.format("") + "bandwidth = 48\n")
    assert (d.mode, d.bandwidth_khz) == ("auto:48k", 48)
    d = station.parse(auto.format(":9600..64000") + "bandwidth = 24\n")
    assert d.mode == "auto:24k-9600..64000"
    assert station.parse(auto.format(":12k")).bandwidth_khz == 12
    for one in (":4539", ":5069", ":4539-600..4800"):
        d = station.parse(auto.format(one))
        assert (d.mode, d.bandwidth_khz) == (f"auto{one}", 3)
    assert station.parse(auto.format(":5069") + "bandwidth = 12\n").mode == "auto:12k"
    for text, said in ((auto.format("") + "bandwidth = 7\n", "auto:7k: allowed"),
                       (auto.format(":12k") + "bandwidth = 24\n", "bandwidth = 24"),
                       (auto.format(":4539") + "bandwidth = 24\n", "bandwidth = 24"),
                       (auto.format(":600..9600") + "bandwidth = 48\n", "auto:48k-600..9600")):
        with pytest.raises(station.StationError, match=said):
            station.parse(text)
    d.use_bandwidth(48)  # as hf run --bandwidth
    with pytest.raises(station.StationError, match="bandwidth = 48"):
        d.check()


def test_every_field_is_checked():
    """The check knows the type of every field, so that no field is passed on unchecked."""
    kinds = [station.Description]
    for kind in kinds:
        parts = station.PARTS.get(kind, {})
        kinds += [p[0] if isinstance(p, list) else p for p in parts.values()]
        hints = typing.get_type_hints(kind)
        for f in dataclasses.fields(kind):
            if f.init and f.name not in parts:
                with pytest.raises(tables.TableError, match=f.name):
                    tables.make(kind, {f.name: object()}, "here", station.PARTS)
                assert hints[f.name] is not object
    assert station.Ptt in kinds


def test_numbers_and_flags_of_settings():
    d = station.parse(GOOD.format(1) + "[data_link]\nextensions = true\nturnaround_s = 1\n")
    assert d.data_link == {"extensions": 1.0, "turnaround_s": 1.0} and d.where == "station"


def test_the_home_of_the_user_may_be_written_shortly(monkeypatch):
    monkeypatch.setenv("HOME", "/home/anna")
    d = station.parse(GOOD.format(1) + '[record]\nfolder = "~/hf"\n[web]\nfolder = "x"\n'
                      'node = "1.2.0.2"\n[capture]\nd_pdu = "~/a~b.pcap"\n[mail]\nspool = "~"\n'
                      'domains = ["a.example"]\n[sis_server]\n')
    assert (d.record.folder, d.web.folder, d.capture.d_pdu, d.mail.spool) == (
        "/home/anna/hf", "x", "/home/anna/a~b.pcap", "/home/anna")


def test_trouble_while_building_names_the_file():
    d = station.parse(GOOD.format(1), "a.toml")
    d.data_link["no_such_setting"] = 1.0
    with pytest.raises(station.StationError, match="a.toml: .*no_such_setting"):
        station.Station(gr.top_block(), d, blocks.null_source(8), blocks.null_sink(8))


def test_the_examples_are_station_files():
    files = sorted((Path(__file__).parents[2] / "examples").glob("*.toml"))
    assert len(files) >= 7
    assert all(station.load(str(f)).name for f in files)
    radios = [d for d in map(station.load, map(str, files)) if d.radio is not None]
    assert radios and all(d.record is not None for d in radios)
