"""Annif's documented requests work by changing the address."""

from __future__ import annotations

import pytest


def test_projects_have_annifs_fields(client):
    project = client.get("/v1/projects").json()["projects"][0]
    assert project == client.get("/v1/projects/shop").json()
    assert {"project_id", "name", "language", "backend", "is_trained", "modification_time"} <= set(project)
    assert client.get("/v1/").json().keys() == {"title", "version"}
    assert client.get("/v1/projects/none").status_code == 404


def test_suggest_takes_a_form(client):
    answer = client.post("/v1/projects/shop/suggest", data={"text": "apple & plum", "limit": 2, "threshold": 0.01})
    found = answer.json()["results"]
    assert found[0]["label"] == "fruit"
    assert len(found) <= 2
    assert all(0.01 <= one["score"] <= 1 and {"uri", "label", "score", "notation"} <= set(one) for one in found)


def test_suggest_without_text_is_a_mistake(client):
    assert client.post("/v1/projects/shop/suggest", data={"limit": 2}).status_code == 422
    assert client.post("/v1/projects/shop/suggest", json={"text": "x"}).status_code == 415


def test_suggest_batch_keeps_document_ids(client):
    documents = [{"text": "apple", "document_id": "a"}, {"text": "hammer"}]
    found = client.post("/v1/projects/shop/suggest-batch?limit=1", json={"documents": documents}).json()
    assert [one["document_id"] for one in found] == ["a", None]
    assert [one["results"][0]["label"] for one in found] == ["fruit", "tool"]


def test_learn_keeps_the_documents_as_decisions(client):
    document = {
        "text": "a text to learn",
        "subjects": [{"uri": "u", "label": "fruit"}, {"uri": "u2", "label": "new one"}],
    }
    assert client.post("/v1/projects/shop/learn", json=[document]).status_code == 204
    kept = client.post("/v1/desk/decisions", json={"text": "a text to learn"}).json()["decisions"]
    assert kept[-1]["accepted"] == ["fruit"]
    assert kept[-1]["added"] == ["new one"]


def test_learning_is_not_allowed_without_a_desk(start):
    answer = start().client.post("/v1/projects/shop/learn", json=[])
    assert answer.status_code == 403


def test_annifs_client_library_works_by_changing_the_address(service):
    library = pytest.importorskip("annif_client", reason="annif-client is not installed")
    client = library.AnnifClient(api_base=f"{service.address}/v1/")
    assert [project["project_id"] for project in client.projects] == ["shop"]
    assert client.get_project("shop")["is_trained"]
    assert client.suggest("shop", "apple & plum", limit=2, threshold=0.01)[0]["label"] == "fruit"
    found = client.suggest_batch("shop", [{"text": "hammer", "document_id": "a"}], limit=1)
    assert [one["label"] for one in found[0]["results"]] == ["tool"]
    document = {"text": "taught by the library", "subjects": [{"uri": "http://x", "label": "fruit"}]}
    assert client.learn("shop", [document]).status_code == 204
    with pytest.raises(ValueError, match="no such model"):
        client.suggest("none", "apple")
    with pytest.raises(ValueError, match="Not Found"):  # languages are not told apart here
        client.detect_language("apple", ["en"])
