"""Every figure says which code measured it, and a table says which of its rows are old."""

from __future__ import annotations

import subprocess

import rankae
from rankae.experiments import provenance as module
from rankae.experiments.provenance import is_older, provenance


def test_a_cell_records_code_data_and_machine():
    found = provenance("abc")
    assert found["version"] == rankae.__version__
    assert found["data"] == "abc"
    assert "cores" in found["machine"]


def test_figures_without_a_commit_or_of_another_version_are_older():
    assert is_older(None, None)
    assert is_older(rankae.__version__, None)
    assert is_older("0.0.1", "0123456789")


def test_figures_are_older_once_the_package_has_changed(tmp_path, monkeypatch):
    def git(*arguments):
        options = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *options, *arguments], cwd=tmp_path, check=True, capture_output=True)

    def committed(name):
        (tmp_path / name).write_text(name)
        git("add", name)
        git("commit", "-m", name)
        module.commit.cache_clear()
        module.is_older.cache_clear()
        return module.commit()

    git("init")
    monkeypatch.setattr(module, "_PACKAGE", tmp_path)
    first = committed("__init__.py")
    assert first is not None
    assert not is_older(rankae.__version__, first)
    committed("new.py")
    assert is_older(rankae.__version__, first)
    module.commit.cache_clear()
    module.is_older.cache_clear()
