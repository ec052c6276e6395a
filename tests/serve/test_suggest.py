"""Suggestions over HTTP say what the model says in Python."""

from __future__ import annotations

import pytest

from rankae.base.choose_cuts import Aim, choose_cuts
from rankae.methods import load

TEXT = "an apple and a plum from the orchard, and a bottle of wine"
PATH = "/v1/models/shop/suggest"


def test_the_service_says_what_the_model_says(client, model_folder):
    answer = client.post(PATH, json={"texts": [TEXT, "hammer and nail"], "k": 3}).json()
    names, scores, probabilities = load(model_folder).predict_top([TEXT, "hammer and nail"], 3, proba=True)
    for row, own in enumerate(answer["results"]):
        assert [one["label"] for one in own] == names[row].tolist()
        assert [one["score"] for one in own] == pytest.approx(scores[row].tolist(), rel=1e-4)
        assert [one["probability"] for one in own] == pytest.approx(probabilities[row].tolist(), abs=1e-5)


def test_one_text_need_not_be_a_list(client):
    one, many = (client.post(PATH, json={"texts": texts}).json()["results"] for texts in (TEXT, [TEXT]))
    assert one == many


def test_excluded_labels_make_room_for_others(client):
    everything = client.post(PATH, json={"texts": TEXT, "k": 2}).json()["results"][0]
    others = client.post(PATH, json={"texts": TEXT, "k": 2, "exclude": [everything[0]["label"]]}).json()["results"][0]
    assert len(others) == 2
    assert others[0] == everything[1]


def test_a_threshold_is_a_least_probability(client):
    found = client.post(PATH, json={"texts": TEXT, "k": 4}).json()["results"][0]
    middle = (found[1]["probability"] + found[2]["probability"]) / 2
    kept = client.post(PATH, json={"texts": TEXT, "k": 4, "threshold": middle}).json()["results"][0]
    assert kept == found[:2]


def test_the_cut_keeps_what_passes(client):
    found = client.post(PATH, json={"texts": TEXT, "k": 4}).json()["results"][0]
    kept = client.post(PATH, json={"texts": TEXT, "k": 4, "cut": True}).json()["results"][0]
    assert kept == [one for one in found if one["passes"]]
    assert 0 < len(kept) < len(found)


def test_reasons_name_words_and_where_they_stand(client):
    answer = client.post(PATH, json={"texts": [TEXT], "k": 2, "explain": True}).json()
    reasons, view = answer["results"][0], answer["explanations"][0]
    assert "".join(piece for piece, _ in view["pieces"]) == TEXT
    fruit = next(one for one in reasons if one["label"] == "fruit")
    assert {word for word, weight in fruit["words"] if weight > 0} & {"apple", "plum", "orchard"}
    assert len(view["weights"]) == len(reasons)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"texts": 3}, 422),
        ({"texts": ["x"], "k": 0}, 422),
        ({"texts": ["x"], "k": True}, 422),
        ({"texts": ["x"], "threshold": 2}, 422),
        ({"texts": ["x"] * 1001}, 422),
        ({"texts": ["x"], "unheard_of": 1}, 422),
        ([], 422),
    ],
)
def test_what_is_out_of_place_is_one_sentence(client, body, status):
    answer = client.post(PATH, json=body)
    assert answer.status_code == status
    assert isinstance(answer.json()["detail"], str)


@pytest.mark.parametrize(
    "body", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"texts": "\\ud800"}', b"nul", b'{"texts": ["']
)
def test_bodies_that_are_no_json_are_the_clients_mistake(client, body):
    answer = client.post(PATH, content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 422)
    assert isinstance(answer.json()["detail"], str)


def test_texts_without_a_known_word_get_an_answer(client):
    for text in ("", "   ", "\x00", "zzzz", "é" * 1000):
        assert client.post(PATH, json={"texts": text}).status_code == 200


def test_an_unknown_model_is_not_found(client):
    assert client.post("/v1/models/other/suggest", json={"texts": "x"}).status_code == 404


def test_type_ahead_finds_labels_whatever_the_case(client):
    found = client.get("/v1/models/shop/labels", params={"q": "DRI"}).json()["labels"]
    assert [one["label"] for one in found] == ["drink"]
    assert found[0]["rows"] > 0


def test_a_file_up_gives_a_line_for_each_row(client, model_folder):
    lines = "id,text\n7,apple plum\n8,hammer saw\n"
    answer = client.post("/v1/models/shop/batch?k=2", content=lines, headers={"Content-Type": "text/csv"})
    import json

    found = [json.loads(line) for line in answer.text.splitlines()]
    names, _ = load(model_folder).predict_top(["apple plum", "hammer saw"], 2)
    assert [one["labels"] for one in found] == names.tolist()
    assert [one["id"] for one in found] == ["7", "8"]


def test_a_mistake_in_a_file_is_found_before_anything_is_answered(client):
    lines = '{"text": "apple"}\n{"text": 3}\n'
    answer = client.post("/v1/models/shop/batch", content=lines, headers={"Content-Type": "application/x-ndjson"})
    assert answer.status_code == 422
    assert "line 2" in answer.json()["detail"]
    assert "/tmp" not in answer.json()["detail"]


def test_an_aim_chooses_the_cut(client, model_folder):
    model = load(model_folder)
    for aim in ("f1", "count"):
        likely = model.probabilities(model.held_out_.columns, model.held_out_.scores)
        least = choose_cuts(model.held_out_, likely, Aim.parse(aim)).overall
        found = client.post(PATH, json={"texts": TEXT, "k": 4}).json()["results"][0]
        kept = client.post(PATH, json={"texts": TEXT, "k": 4, "aim": aim}).json()["results"][0]
        assert [one["label"] for one in kept] == [one["label"] for one in found if one["probability"] >= least - 1e-6]
    assert client.post(PATH, json={"texts": TEXT, "aim": "luck"}).status_code == 422
    refused = client.post(PATH, json={"texts": TEXT, "aim": "precision=0.6"})  # the few rows are all alike
    assert (refused.status_code, "alike rows counted once" in refused.json()["detail"]) == (422, True)


def test_half_a_character_in_a_message_is_no_server_error(client):
    line = b'{"texts": ["apple"], "k\\ud800": 3}\n'
    for path in ("/v1/models/shop/batch", "/v1/desk/uploads?name=a.jsonl"):
        answer = client.post(path, content=line, headers={"Content-Type": "application/x-ndjson"})
        assert answer.status_code == 422
        assert "detail" in answer.json()


def test_what_is_wrong_is_said_in_the_words_of_the_request(client):
    form = client.post(PATH, data={"texts": "apple"})  # as curl sends it without the header
    assert (form.status_code, "application/json" in form.json()["detail"]) == (415, True)
    long = client.post(PATH, json={"texts": ["x" * 1_000_001]})
    assert (long.status_code, long.json()["detail"].startswith("texts.0: ")) == (422, True)
    nothing = client.get("/nothing")
    assert (nothing.status_code, "/docs" in nothing.json()["detail"]) == (404, True)


def test_a_text_whose_explanation_would_take_minutes_is_refused(client):
    words = " ".join(f"word{i}" for i in range(4000))
    answer = client.post(PATH, json={"texts": words, "explain": True})
    assert (answer.status_code, "too long" in answer.json()["detail"]) == (422, True)
    assert client.post(PATH, json={"texts": words}).status_code == 200


def test_the_texts_of_a_batch_may_stand_in_a_column_of_another_name(client):
    table, headers = "id,words\n1,apple plum\n", {"content-type": "text/csv"}
    assert "text_column" in client.post("/v1/models/shop/batch", content=table, headers=headers).json()["detail"]
    found = client.post("/v1/models/shop/batch?text_column=words&k=1", content=table, headers=headers)
    assert found.json()["labels"] == ["fruit"]
