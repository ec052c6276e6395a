"""Writes the tiny models that later versions must still load. Run it only when the format version grows, and keep the
old folders: `python tests/saved/make.py`."""

import json
from pathlib import Path

from rankae import RankAE
from rankae.model_file import FORMAT_VERSION

HERE = Path(__file__).parent
TEXTS = [f"{a} {b}" for a in ("red", "green", "blue") for b in ("apple", "car", "wine")] * 12
LABELS = [text.split() for text in TEXTS]
MODELS = {
    "default": RankAE(network=1, word_size=8, epochs=2, ridge=1.0, ngrams=(1, 1)),
    "paper": RankAE("paper", word_size=8, code_size=8, epochs=2),
}

if __name__ == "__main__":
    for name, model in MODELS.items():
        folder = HERE / f"format-{FORMAT_VERSION}-{name}"
        model.fit(TEXTS, LABELS).save(folder / "model")
        names, scores = model.predict_top(TEXTS[:9], 3)
        (folder / "expected.json").write_text(json.dumps({"names": names.tolist(), "scores": scores.tolist()}))
