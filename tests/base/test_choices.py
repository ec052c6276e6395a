"""Choices are data: what is printed and what programs read come from the same fields."""

import json

from rankae.base.choices import choice, describe, value_of


def test_a_choice_is_the_same_after_json():
    one = choice("ngrams", (1, 2), "leave-one-out precision", {(1, 1): 61.26, (1, 2): 62.0})
    assert json.loads(json.dumps(one)) == one
    assert describe(one) == "(1, 2) (leave-one-out precision; (1, 1): 61.3, (1, 2): 62.0)"


def test_reason_and_evidence_may_be_missing():
    assert describe(choice("data", "3 rows")) == "3 rows"
    assert describe(choice("network", 0, "as set")) == "0 (as set)"


def test_lines_of_older_models_are_read():
    old = {"network": "0 (7e+12 multiplications each)"}
    assert describe(old["network"]) == old["network"]
    assert value_of(old, "network") == "0"
    assert value_of(old, "rankers") is None
    assert value_of({"network": choice("network", 0)}, "network") == 0
