"""GloVe's files, and word vectors that start from them."""

import numpy as np
import pytest

from rankae.data.word_embeddings import find_glove, glove_embeddings, read_glove, starting_vectors
from rankae.errors import DataError


def test_glove(tmp_path):
    path = tmp_path / "glove.txt"
    path.write_text("the 1 2.5 -3e-1\n. . . 4 5 6\n")
    words, vectors = read_glove(path)
    assert words == ["the", ". . ."]
    np.testing.assert_array_equal(vectors, np.array([[1, 2.5, -0.3], [4, 5, 6]], np.float32))
    assert read_glove(path, limit=1)[0] == ["the"]


def test_the_header_of_word2vec_is_no_word(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("2 3\nthe 1 2 3\nred 4 5 6\n")
    words, vectors = read_glove(path)
    assert (words, vectors.tolist()) == (["the", "red"], [[1, 2, 3], [4, 5, 6]])
    assert read_glove(path, limit=1)[1].shape == (1, 3)
    path.write_text("2 4\nthe 1 2 3\n")
    with pytest.raises(DataError, match="line 2: 3 numbers where 4 were expected"):
        read_glove(path)


def test_only_the_words_that_are_asked_for_are_read(tmp_path):
    path = tmp_path / "glove.txt"
    path.write_text("the 1 2\n. . 3 4\nred 5 6\nbad not numbers\n. 7 8\n")
    words, vectors = read_glove(path, only={"red", "."})
    assert (words, vectors.tolist()) == (["red", "."], [[5, 6], [7, 8]])
    assert read_glove(path, only=set())[1].shape == (0, 2)


def test_vectors_are_found_beside_the_data_sets(tmp_path, monkeypatch):
    monkeypatch.setenv("RANKAE_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert find_glove() is None
    (tmp_path / "glove").mkdir()
    (tmp_path / "glove" / "README.md").write_text("not vectors")
    (tmp_path / "glove" / "small.txt.xz").touch()
    assert find_glove() == tmp_path / "glove" / "small.txt.xz"


@pytest.mark.parametrize(
    ("line", "complaint"),
    [("b 1", "line 2: 1 numbers where 2 were expected"), ("b 1 x", "not a word and 2 numbers"), ("b 1 nan", "NaN")],
)
def test_bad_glove_lines(tmp_path, line, complaint):
    path = tmp_path / "glove.txt"
    path.write_text(f"a 1 2\n{line}\n")
    with pytest.raises(DataError, match=complaint):
        read_glove(path)


def test_words_start_from_their_vectors_and_the_others_at_random_and_as_strong(tmp_path):
    path = tmp_path / "glove.txt"
    path.write_text("red 10 -10\nwine 20 -20\n")
    unknown = [f"w{i}" for i in range(1000)]
    vectors, known = starting_vectors(["wine", *unknown, "red"], path, 2, seed=0)
    assert (vectors.dtype, vectors.shape, known) == (np.float32, (1002, 2), 2)
    np.testing.assert_array_equal(vectors[[-1, 0]], [[10, -10], [20, -20]])
    assert vectors[1:-1].std() == pytest.approx(np.std([10, -10, 20, -20]), rel=0.1)
    again, other = (starting_vectors(unknown, path, 2, seed)[0] for seed in (0, 1))
    np.testing.assert_array_equal(again, starting_vectors(unknown, path, 2, 0)[0])
    assert (again != other).all()


def test_the_file_may_lie_in_the_data_folder(tmp_path, monkeypatch):
    (tmp_path / "glove").mkdir()
    (tmp_path / "glove" / "two.txt").write_text("red 1 2\n")
    monkeypatch.setenv("RANKAE_DATA", str(tmp_path))
    assert starting_vectors(["red"], "glove/two.txt", 2, seed=0)[0].tolist() == [[1, 2]]


def test_vectors_of_another_size_are_refused(tmp_path):
    (tmp_path / "glove.txt").write_text("red 1 2\n")
    with pytest.raises(DataError, match="vectors of 2 numbers: set the size of word vectors to that, not 3"):
        starting_vectors(["red"], tmp_path / "glove.txt", 3, seed=0)


def test_pairs_of_words_point_where_their_sum_does(tmp_path):
    (tmp_path / "glove.txt").write_text("red 3 0\nwine 0 4\n")
    found = glove_embeddings(["red", "red wine", "wine list"], tmp_path / "glove.txt")
    np.testing.assert_allclose(found.vectors, [[1, 0], [0.6, 0.8], [0, 0]])
    assert found.source == "glove.txt, which knows 2 of 3 features"
