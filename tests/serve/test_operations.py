"""What engineers need: health, metadata, figures, Label Studio, and a description that is valid."""

from __future__ import annotations

LABEL_CONFIG = '<View><Text name="doc" value="$body"/><Choices name="topic" toName="doc" choice="multiple"/></View>'


def test_health_and_metadata(client):
    assert client.get("/v2/health/live").json() == {"live": True}
    assert client.get("/v2/health/ready").json() == {"ready": True}
    model = client.get("/v2/models/shop").json()
    assert model["name"] == "shop"
    assert model["versions"] == [client.get("/v1/models").json()["models"][0]["fingerprint"]]
    assert client.get("/v2/models/none").status_code == 404


def test_head_is_answered_as_get_without_a_body(client):
    for path in ("/", "/health", "/v1/models", "/openapi.json"):
        answer = client.head(path)
        assert (answer.status_code, answer.content) == (200, b"")
    assert client.head("/v1/models/none/card").status_code == 404


def test_figures_count_requests_but_name_no_text(client):
    client.post("/v1/models/shop/suggest", json={"texts": ["secretword apple", "two"]})
    text = client.get("/metrics").text
    assert 'rankae_requests_total{route="/v1/models/{model}/suggest",status="200"}' in text
    assert 'rankae_texts_total{model="shop"}' in text
    assert "secretword" not in text


def test_label_studio_gets_choices_for_its_own_tags(client):
    assert client.get("/health").json()["status"] == "UP"
    assert client.post("/setup", json={"project": "1", "schema": LABEL_CONFIG}).status_code == 200
    tasks = [{"id": 1, "data": {"body": "apple and plum", "text": "not this"}}]
    answer = client.post("/label-studio/shop/predict", json={"tasks": tasks, "label_config": LABEL_CONFIG}).json()
    region = answer["results"][0]["result"][0]
    assert (region["from_name"], region["to_name"], region["type"]) == ("topic", "doc", "choices")
    assert region["value"]["choices"][0] == "fruit"


def test_the_description_names_every_route_of_the_api(client):
    paths = client.get("/openapi.json").json()["paths"]
    assert {"/v1/models/{model}/suggest", "/v1/models/{model}/batch", "/v1/projects/{project_id}/suggest"} <= set(paths)
