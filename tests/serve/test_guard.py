"""Nobody is let in who should not be, and no request is larger than it may be."""

from __future__ import annotations

import socket

import pytest

from rankae.cli.entry import run

SUGGEST = "/v1/models/shop/suggest"


def test_without_the_token_only_health_and_the_empty_page_answer(start):
    client = start(token="a-token-of-good-length").client
    assert client.get("/v1/models").status_code == 401
    assert client.post(SUGGEST, json={"texts": "x"}).status_code == 401
    assert client.get("/v1/models", headers={"Authorization": "Bearer a-token-of-good-lengtH"}).status_code == 401
    assert client.get("/metrics").status_code == 401
    assert client.get("/v2/health/ready").status_code == 200
    assert client.get("/").status_code == 200


def test_the_token_lets_in_as_bearer_and_as_password(start):
    client = start(token="a-token-of-good-length").client
    assert client.get("/v1/models", headers={"Authorization": "Bearer a-token-of-good-length"}).status_code == 200
    assert client.get("/v1/models", auth=("anybody", "a-token-of-good-length")).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [{"Origin": "http://elsewhere.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "null"}],
)
def test_pages_of_other_sites_cannot_write(service, headers):
    body = {"text": "apple", "accepted": ["fruit"]}
    assert service.client.post("/v1/models/shop/feedback", json=body, headers=headers).status_code == 403


def test_the_own_page_can_write(service):
    headers = {"Origin": service.address, "Sec-Fetch-Site": "same-origin"}
    assert service.client.post(SUGGEST, json={"texts": "x"}, headers=headers).status_code == 200


def test_other_names_of_this_machine_are_refused(start):
    client = start(hosts=("localhost", "127.0.0.1")).client
    assert client.get("/v1/models").status_code == 200
    assert client.get("/v1/models", headers={"Host": "rebound.example"}).status_code == 403


def test_every_answer_forbids_foreign_scripts(client):
    for path in ("/", "/v1/models", "/nothing/here"):
        headers = client.get(path).headers
        assert "script-src 'self'" in headers["content-security-policy"]
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"


def test_a_body_over_the_limit_is_413(start):
    running = start(most_body=10_000)
    assert running.client.post(SUGGEST, json={"texts": "x" * 20_000}).status_code == 413
    # Without a length it is counted as it comes.
    with socket.create_connection(("127.0.0.1", running.port)) as line:
        line.sendall(b"POST /v1/models/shop/suggest HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        line.sendall(b"4000\r\n" + b"x" * 0x4000 + b"\r\n")
        assert b"413" in line.recv(100)


def test_a_body_that_does_not_come_is_given_up(start):
    running = start(timeout=0.3)
    with socket.create_connection(("127.0.0.1", running.port)) as line:
        line.sendall(b"POST /v1/models/shop/suggest HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nabc")
        line.settimeout(10)
        assert b"408" in line.recv(100)


def test_beyond_loopback_a_token_is_needed(capsys, model_folder):
    assert run(["serve", str(model_folder), "--host", "0.0.0.0"]) == 2
    assert "--token-file" in capsys.readouterr().err


def test_a_short_token_is_a_mistake(capsys, model_folder, tmp_path):
    (tmp_path / "token").write_text("short")
    assert run(["serve", str(model_folder), "--token-file", str(tmp_path / "token")]) == 2
    assert "16" in capsys.readouterr().err


def test_a_port_that_is_taken_is_one_sentence(capsys, model_folder, service):
    assert run(["serve", str(model_folder), "--port", str(service.port)]) == 2
    assert "another --host or --port" in capsys.readouterr().err
