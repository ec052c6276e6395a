"""Reading settings: which columns of a table (or fields of JSON lines) hold the text, the labels and the id.

Settings that the user does not give are inferred from the usual column names. They are saved with the model, so that
new files are read like the training data, or refused if they do not fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from rankae.errors import DataError

TEXT_COLUMNS = ("text", "document", "description", "content", "body", "abstract", "summary")
TITLE_COLUMNS = ("title", "headline", "subject")
LABEL_COLUMNS = ("labels", "label", "tags", "classes", "categories", "topics", "genres", "keywords")
ID_COLUMNS = ("id", "_id", "uid", "doc_id", "document_id", "row_id")
LISTS = "list"  # the label separator of cells that hold a list, ["a", "b"]

_OPTIONS = ("text_column", "label_column", "label_separator", "delimiter", "id_column", "keep", "encoding")
_SEVERAL = ", or several of 0 and 1 with commas between"
_MOST_SHOWN = 12  # columns in a message
_DELIMITER_WORDS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}


@dataclass(frozen=True)
class ReadingSettings:
    """How the rows of a file are read; None and empty mean "infer from the usual names".

    Attributes
    ----------
    format : of the file, where its name does not tell.
    text_columns : the text's columns; several are joined line by line, so that a title comes first.
    label_column, id_column : of the labels, and of what a row is called; "a,b,c" are columns of 0 and 1, each a label.
    label_separator : what stands between labels in a cell, or "list" for cells such as ["a", "b"].
    delimiter : what stands between the cells of a CSV line.
    keep : further columns to carry along.
    encoding : of the file's characters, where it is neither UTF-8 nor marked as UTF-16; no matter of a model's.
    of_model : the settings come from a model: columns that a file lacks are told as the model's.
    ignore_labels : labels are not looked at, as for prediction.
    """

    format: str | None = None
    text_columns: tuple[str, ...] = ()
    label_column: str | None = None
    label_separator: str | None = None
    delimiter: str | None = None
    id_column: str | None = None
    keep: tuple[str, ...] = ()
    encoding: str | None = None
    of_model: bool = False
    ignore_labels: bool = False

    @staticmethod
    def is_option(name: str) -> bool:
        """Whether `with_options` takes an option of this name."""
        return name in _OPTIONS

    def with_options(self, **options: Any) -> Self:
        """These settings with a user's options over them; columns may be given as "title,body" or as a list."""
        changes: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
        if "text_column" in changes:
            changes["text_columns"] = _names(changes.pop("text_column"))
        if "keep" in changes:
            changes["keep"] = _names(changes["keep"])
        if "delimiter" in changes:
            given = changes["delimiter"]
            changes["delimiter"] = _DELIMITER_WORDS.get(given, given)
            if len(changes["delimiter"]) != 1:
                raise DataError(f"the delimiter must be one character, or the word tab, not {given!r}")
        if "encoding" in changes:
            _check_encoding(changes["encoding"])
        if self.of_model and ("text_columns" in changes or "label_column" in changes):
            # The columns are no longer the model's, and its delimiter need not be this file's.
            changes = {"of_model": False, "delimiter": None} | changes
        return replace(self, **changes)

    def label_columns(self, columns: Sequence[str]) -> tuple[str, ...]:
        """The columns of the labels: one of label cells, or several of 0 and 1."""
        if self.label_column is None or self.label_column in columns:
            return () if self.label_column is None else (self.label_column,)
        return _names(self.label_column)

    def found_in(self, columns: Sequence[str], where: object, labels_needed: bool, table: bool = False) -> Self:
        """The columns that these settings mean in a file that has `columns`; one sentence if they are not there.

        labels_needed : a file without the labels' column is refused, as for training; otherwise labels may be absent.
        table : of cells under a header, where several columns of 0 and 1 may tell the labels.
        """
        text_columns = self.text_columns or _usual_text(columns)
        label_column = None if self.ignore_labels else self.label_column or _usual(columns, LABEL_COLUMNS)
        if not text_columns:
            raise DataError(
                f"{where}: there is no column 'text' or 'document' among {_listed(columns)}; "
                "choose one with --text-column (text_column in Python)"
                f"{'; the first line must name the columns' if table else ''}"
            )
        if lacking := [name for name in text_columns if name not in columns]:
            raise DataError(self._lacks(lacking, text_columns, columns, where, "text"))
        wanted = replace(self, label_column=label_column or "labels").label_columns(columns)
        if len(wanted) == 1 or not table:
            wanted = (label_column or "labels",)
        if lacking := [name for name in wanted if name not in columns]:
            if labels_needed:
                complaint = self._lacks(lacking, wanted, columns, where, "label")
                raise DataError(complaint + (_SEVERAL if table and not self.of_model else ""))
            label_column = None
        id_column = self.id_column if self.id_column in columns else None
        if self.id_column is not None and id_column is None and not self.of_model:
            raise DataError(self._lacks([self.id_column], (self.id_column,), columns, where, "id"))
        for name in self.keep:
            if name not in columns:
                raise DataError(f"{where}: there is no column {name!r} to keep among {_listed(columns)}")
        chosen = {*text_columns, *(() if label_column is None else wanted), id_column, *self.keep} - {None}
        if twice := [name for name in chosen if list(columns).count(str(name)) > 1]:
            raise DataError(f"{where}: two columns are called {twice[0]!r}; rename one of them")
        return replace(
            self,
            text_columns=tuple(text_columns),
            label_column=label_column,
            id_column=id_column or _usual(columns, ID_COLUMNS),
        )

    def for_other_files(self) -> Self:
        """The settings with which one file was read, to read others by, which must have the same columns."""
        return replace(self, of_model=True, keep=(), encoding=None)

    @property
    def carried(self) -> tuple[str, ...]:
        """Columns whose cells go along with the rows: the id first, then what is kept."""
        first = () if self.id_column is None else (self.id_column,)
        return tuple(dict.fromkeys((*first, *self.keep)))

    def describe(self) -> str:
        """One line for a user: "text from title, body; labels from tags, separated by ';'; id from id"."""
        if not self.text_columns:
            return f"format {self.format}" if self.format else "as it stands"
        parts = [f"text from {', '.join(self.text_columns)}"]
        if self.label_column is None:
            parts.append("no labels")
        elif self.label_separator == LISTS:
            parts.append(f"labels from lists in {self.label_column}")
        elif "," in self.label_column and self.label_separator == ",":
            parts.append(f"a label each from {self.label_column} (1 or 0)")
        else:
            between = f", separated by {self.label_separator!r}" if self.label_separator else ""
            parts.append(f"labels from {self.label_column}{between}")
        parts.append("no id column" if self.id_column is None else f"id from {self.id_column}")
        if self.delimiter not in (None, ",", "\t"):
            parts.append(f"cells separated by {self.delimiter!r}")
        return "; ".join(parts)

    def to_json(self) -> dict[str, Any]:
        """The settings to save with a model, without the columns that were only carried along."""
        return {
            "format": self.format,
            "text_columns": list(self.text_columns),
            "label_column": self.label_column,
            "label_separator": self.label_separator,
            "delimiter": self.delimiter,
            "id_column": self.id_column,
        }

    @classmethod
    def from_json(cls, kept: Any) -> Self | None:
        """The settings saved with a model, or None if they are missing or not valid (older models, forged files)."""
        if not isinstance(kept, dict):
            return None
        words: dict[str, Any] = {
            name: kept.get(name) for name in ("format", "label_column", "label_separator", "delimiter", "id_column")
        }
        texts = kept.get("text_columns") or []
        sound = all(value is None or isinstance(value, str) for value in words.values())
        if not sound or not isinstance(texts, list) or not all(isinstance(name, str) for name in texts):
            return None
        return cls(text_columns=tuple(texts), of_model=True, **words)

    def _lacks(
        self, lacking: list[str], wanted: Sequence[str], columns: Sequence[str], where: object, what: str
    ) -> str:
        option = f"--{what}-column ({what}_column in Python)"
        if self.of_model:
            return (
                f"{where}: the model reads its {what} from {_listed(wanted)}, but the columns here are "
                f"{_listed(columns)}; name the {what} column with {option}, or give a file with the model's columns"
            )
        return f"{where}: there is no column {lacking[0]!r} among {_listed(columns)}; choose one with {option}"


def _names(given: str | Sequence[str]) -> tuple[str, ...]:
    names = given.split(",") if isinstance(given, str) else given
    return tuple(name.strip() for name in names if name.strip())


def _check_encoding(name: Any) -> None:
    try:
        "".encode(name)
    except (LookupError, TypeError, ValueError):
        raise DataError(f"there is no encoding {name!r}; examples are windows-1252, latin-1, utf-16") from None


def _usual(columns: Sequence[str], names: Sequence[str]) -> str | None:
    by_name = {column.strip().lower(): column for column in reversed(columns)}
    return next((by_name[name] for name in names if name in by_name), None)


def _usual_text(columns: Sequence[str]) -> tuple[str, ...]:
    """The usual title and text columns, as far as they exist."""
    names_found = (_usual(columns, TITLE_COLUMNS), _usual(columns, TEXT_COLUMNS))
    return tuple(name for name in names_found if name is not None)


def _listed(columns: Sequence[str]) -> str:
    shown = ", ".join(str(column)[:60] for column in columns[:_MOST_SHOWN])
    return f"{shown} and {len(columns) - _MOST_SHOWN} more" if len(columns) > _MOST_SHOWN else shown or "none"
