"""Words that are broken at the end of a line are read as one, unless the hyphen is theirs."""

from __future__ import annotations

import pytest

from rankae import RankAE
from rankae.data import TextFeatures
from rankae.data.hyphens import join_broken_words, words_are_broken

PAGES = ["Antwort der Bundes-\nregierung", "die Bundesregierung antwortet", "Anfrage der SPD-\nFraktion"] * 4


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("Umwelt-  \r\n  schutz", "Umweltschutz"),
        ("Umwelt\u00ad\nschutz", "Umweltschutz"),
        ("SPD-\nFraktion, 19-\nteilig", "SPD-\nFraktion, 19-\nteilig"),
        ("eins -\nzwei\n-\ndrei", "eins -\nzwei\n-\ndrei"),
    ],
)
def test_what_is_joined(page, text):
    assert join_broken_words(page) == text


def test_words_are_joined_where_they_stand_unbroken_elsewhere():
    assert words_are_broken(PAGES)
    assert not words_are_broken(["a client-\nserver program", "client-server", "an object-\nlike thing"] * 4)
    assert not words_are_broken(["no line ends here", ""])


@pytest.mark.parametrize("analyzer", ["word", "word+char", "char"])
def test_a_model_reads_them_as_it_has_learnt_them(analyzer):
    text = TextFeatures(min_df=1, analyzer=analyzer).fit(PAGES)
    assert text.hyphens == "join"
    broken, whole = text.transform(["der Bundes-\nregierung", "der Bundesregierung"])
    assert (broken != whole).nnz == 0
    again = TextFeatures.from_state(*text.state())
    assert (again.transform(PAGES) != text.transform(PAGES)).nnz == 0


def test_the_choice_is_told_and_can_be_made_by_hand():
    texts, labels = PAGES * 10, [["antwort"], ["antwort"], ["anfrage"]] * 40
    model = RankAE("fast").fit(texts, labels)
    assert model.choices_["hyphens"]["value"] == "join"
    assert "bundesregierung" in model.text_.words
    assert "bundes" not in model.text_.words
    assert "bundes" in RankAE("fast", hyphens="keep").fit(texts, labels).text_.words
