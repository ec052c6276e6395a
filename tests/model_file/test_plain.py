"""Names as JSON values."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from rankae.model_file.plain import names_from_json, names_to_json

plain_names = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda parts: st.lists(parts, max_size=3).map(tuple),
    max_leaves=5,
)


@settings(max_examples=50)
@given(st.lists(plain_names, max_size=5))
def test_every_plain_label_comes_back_with_its_type(names):
    text = json.dumps(names_to_json(names, "labels"), allow_nan=False)
    found = names_from_json(json.loads(text))
    assert found == names
    assert repr(found) == repr(names)  # equality alone would let 1, 1.0 and True pass for each other
