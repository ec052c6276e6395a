"""Downloading from a server of our own: resuming, hashes, archives that misbehave, no network."""

from __future__ import annotations

import hashlib
import io
import json
import threading
import zipfile
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from rankae.data import load_dataset
from rankae.data.fetch import fetch
from rankae.data.known import KNOWN
from rankae.errors import DataError


def archive(**members: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, content in members.items():
            opened.writestr(name, content)
    return packed.getvalue()


GOOD = archive(**{"Small/small_train.txt": "1 2 2\n0 1:1\n", "../../small_test.txt": "1 2 2\n1 0:1\n", "run.sh": "rm"})


@pytest.fixture
def serve(monkeypatch):
    """Serve bytes as the data set "small"; the answer lists the Range headers that were asked for."""
    servers = []

    def serve(content: bytes, checksum: str | None = None) -> list[str | None]:
        asked: list[str | None] = []

        class Answer(BaseHTTPRequestHandler):
            def do_GET(self):
                given = self.headers.get("Range")
                asked.append(given)
                start = int(given.removeprefix("bytes=").removesuffix("-")) if given else 0
                self.send_response(206 if given else 200)
                self.send_header("Content-Length", str(len(content) - start))
                self.end_headers()
                self.wfile.write(content[start:])

            def log_message(self, *args):
                pass

        server = HTTPServer(("127.0.0.1", 0), Answer)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/small.zip"
        monkeypatch.setitem(KNOWN, "small", replace(KNOWN["bibtex"], name="small", url=url, checksum=checksum))
        return asked

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


def test_fetch_unpacks_data_files_only_and_inside_the_folder(serve, tmp_path):
    serve(GOOD)
    fetched = fetch("small", tmp_path)
    assert sorted(p.name for p in fetched.folder.iterdir()) == ["SOURCE.json", "small_test.txt", "small_train.txt"]
    assert [p.name for p in tmp_path.iterdir()] == ["small"]
    assert len(load_dataset(fetched.folder, "test")) == 1
    assert not fetched.confirmed
    recorded = json.loads((fetched.folder / "SOURCE.json").read_text())
    assert recorded["sha256"] == fetched.sha256 == hashlib.sha256(GOOD).hexdigest()


@pytest.mark.parametrize("kind", ["md5", "sha256"])
def test_a_published_hash_confirms(serve, tmp_path, kind):
    serve(GOOD, f"{kind}:{hashlib.new(kind, GOOD).hexdigest()}")
    assert fetch("small", tmp_path).confirmed


def test_a_wrong_hash_deletes_the_download(serve, tmp_path):
    serve(GOOD, "md5:" + "0" * 32)
    with pytest.raises(DataError, match="does not have the published md5"):
        fetch("small", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_download_goes_on(serve, tmp_path):
    asked = serve(GOOD)
    (tmp_path / "small.zip.part").write_bytes(GOOD[:100])
    assert fetch("small", tmp_path).sha256 == hashlib.sha256(GOOD).hexdigest()
    assert asked == ["bytes=100-"]


def test_a_page_instead_of_the_archive_is_refused(serve, tmp_path):
    serve(b"<html>too many downloads</html>")
    with pytest.raises(DataError, match="something else than the archive"):
        fetch("small", tmp_path)


def test_a_zip_bomb_is_refused(serve, tmp_path):
    serve(archive(**{"train.txt": "0" * 10_000_000}))
    with pytest.raises(DataError, match="decompression bomb"):
        fetch("small", tmp_path)
    assert not (tmp_path / "small").exists()


def test_what_is_there_is_not_overwritten(serve, tmp_path):
    serve(GOOD)
    fetch("small", tmp_path)
    with pytest.raises(DataError, match="is there already"):
        fetch("small", tmp_path)


def test_without_a_network_it_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setitem(KNOWN, "small", replace(KNOWN["bibtex"], name="small", url="http://127.0.0.1:9/small.zip"))
    with pytest.raises(DataError, match="without a network, get it from http.* elsewhere and unpack it into"):
        fetch("small", tmp_path)


def test_unknown_and_unpublished_names():
    with pytest.raises(DataError, match="no such data set; known are delicious"):
        fetch("nothing")
    with pytest.raises(DataError, match="never published"):
        fetch("imdb")


def test_an_archive_of_documents_becomes_lines_of_its_splits(serve, tmp_path, monkeypatch):
    """As EURLEX57K is published: a JSON file a document, in the folders train, dev and test."""
    document = {"celex_id": "3x", "title": "A title", "header": "Head", "recitals": " ", "main_body": ["a", "b"]}
    members = {
        "dataset/train/2.json": json.dumps(document | {"concepts": ["7", "9"]}),
        "dataset/train/1.json": json.dumps(document | {"concepts": [], "celex_id": "1x"}),
        "dataset/test/3.json": json.dumps(document | {"concepts": ["9"]}),
        "__MACOSX/dataset/train/._1.json": "{",
        "../../train/out.txt": "no",
    }
    asked = serve(archive(**members))
    monkeypatch.setitem(KNOWN, "small", replace(KNOWN["small"], documents=True))
    fetched = fetch("small", tmp_path)
    assert asked == [None]
    train = load_dataset(fetched.folder)
    assert train.texts == ["A title\nHead\na\nb"] * 2
    assert (train.ids, train.label_names) == (["1x", "3x"], ["7", "9"])
    assert load_dataset(fetched.folder, "test").labels.nnz == 1
    monkeypatch.setitem(KNOWN, "other", replace(KNOWN["small"], name="other"))
    serve(archive(**{"d/train/1.json": json.dumps({"title": "no concepts"})}))
    monkeypatch.setitem(KNOWN, "small", replace(KNOWN["small"], name="worse", documents=True))
    with pytest.raises(DataError, match="d/train/1.json: this is no document with concepts"):
        fetch("small", tmp_path)
    assert not (tmp_path / "worse").exists()


@pytest.mark.parametrize("name", [name for name, known in KNOWN.items() if known.url is None])
def test_what_nobody_offers_for_download_says_how_to_build_it(name):
    with pytest.raises(DataError, match=f"{name} is not on this machine and cannot be downloaded: .*RANKAE_DATA"):
        fetch(name)
    assert KNOWN[name].build
