"""Decisions and uploads over HTTP."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest


def test_a_decision_that_is_sent_twice_is_kept_once(client):
    decision = {"text": "sent twice", "accepted": ["fruit"], "uid": "0123456789abcdef"}
    first, second = (client.post("/v1/models/shop/feedback", json=decision) for _ in range(2))
    assert (first.status_code, second.status_code) == (201, 201)
    assert (first.json()["decision"] > 0, second.json()["decision"]) == (True, 0)
    kept = client.post("/v1/desk/decisions", json={"text": "sent twice"}).json()["decisions"]
    assert len(kept) == 1


def test_a_label_cannot_be_both_accepted_and_rejected(client):
    answer = client.post("/v1/models/shop/feedback", json={"text": "x", "accepted": ["a"], "rejected": ["a"]})
    assert answer.status_code == 422
    assert "both accepted and rejected" in answer.json()["detail"]


def test_the_texts_of_a_table_may_stand_in_any_column(client):
    table = "name,words,labels\nfirst,apple pear,[broken\nsecond,a hammer,\n"
    asked = {"content": table, "headers": {"Content-Type": "text/csv"}}
    refused = client.post("/v1/desk/uploads?name=t.csv", **asked)
    assert refused.status_code == 422
    assert "no column 'text'" in refused.json()["detail"]
    assert "--" not in refused.json()["detail"]  # no word of the command line
    made = client.post("/v1/desk/uploads?name=t.csv&text_column=name,words", **asked).json()
    row = client.get(f"/v1/desk/uploads/{made['number']}/rows/0").json()
    assert row["text"] == "first\napple pear"


def test_halves_of_characters_in_a_file_are_no_server_error(client):
    lines = '{"text": "half \\ud800 of one", "id": "\\udfff"}\n'
    made = client.post("/v1/desk/uploads?name=t.jsonl", content=lines)
    assert made.status_code == 201
    row = client.get(f"/v1/desk/uploads/{made.json()['number']}/rows/0").json()
    assert (row["text"], row["about"]) == ("half ? of one", {"id": "?"})


def test_a_finished_text_is_done_in_every_file_that_holds_it(client):
    numbers = [client.post("/v1/desk/uploads?name=t.txt", content="one text\nanother\n").json()["number"] for _ in "ab"]
    client.post("/v1/models/shop/feedback", json={"text": "one text", "accepted": ["fruit"]})
    found = {one["number"]: one["done"] for one in client.get("/v1/desk/uploads").json()["uploads"]}
    assert [found[number] for number in numbers] == [1, 1]
    assert client.get(f"/v1/desk/uploads/{numbers[0]}/next?after=1").json() == {"place": 1}


def test_an_upload_that_does_not_exist_has_no_next_text(client):
    assert client.get("/v1/desk/uploads/999/next").status_code == 404


def test_a_workbook_is_worked_through(client, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for line in (["id", "text"], [7, "apple"], [8, "wine"]):
        book.active.append(line)
    book.save(tmp_path / "book.xlsx")
    content = (tmp_path / "book.xlsx").read_bytes()
    sent = client.post("/v1/desk/uploads", params={"name": "book.xlsx"}, content=content).json()
    assert (sent["kind"], sent["rows"]) == ("texts", 2)
    row = client.get(f"/v1/desk/uploads/{sent['number']}/rows/1").json()
    assert (row["text"], row["about"]) == ("wine", {"id": "8"})


def test_beyond_the_files_that_a_worker_holds_is_503(start):
    running = start(most_files=0)
    answer = running.client.post("/v1/models/shop/batch", content="apple\n", headers={"Content-Type": "text/plain"})
    assert answer.status_code == 503
    assert answer.headers["Retry-After"] == "1"


def test_files_make_room_when_they_are_answered(start):
    running = start(most_files=4)

    def send(_):
        asked = {"content": "apple\nhammer\n", "headers": {"Content-Type": "text/plain"}}
        return running.client.post("/v1/models/shop/batch", **asked).status_code

    assert [send(0) for _ in range(6)] == [200] * 6
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(send, range(16))) == {200}
