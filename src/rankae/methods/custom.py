"""Custom methods: `my_module:MyMethod` in place of a method's name."""

from __future__ import annotations

import os
import re
import sys
from importlib import import_module
from typing import TYPE_CHECKING

from rankae.errors import RankaeError

if TYPE_CHECKING:
    from rankae.base.ranker import LabelRanker

_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")


def is_custom(name: str) -> bool:
    """Whether a method's name is `module:Class`. Names in model files must never be imported: they would run code."""
    return _NAME.fullmatch(name) is not None


def custom_class(name: str) -> type[LabelRanker]:
    """The class `module:Class`, which must be a `LabelRanker`; modules in the current folder are found too."""
    from rankae.base.ranker import LabelRanker

    module, _, attribute = name.partition(":")
    here = os.getcwd()
    if here not in sys.path:
        sys.path.append(here)
    try:
        ranker = getattr(import_module(module), attribute)
    except ModuleNotFoundError as error:
        raise RankaeError(f"{name}: there is no module {error.name!r} in {here} or among installed packages") from None
    except AttributeError:
        raise RankaeError(f"{name}: the module {module} has no {attribute}") from None
    except Exception as error:
        raise RankaeError(f"{name}: {module} cannot be imported ({type(error).__name__}: {error})") from error
    if not (isinstance(ranker, type) and issubclass(ranker, LabelRanker)):
        raise RankaeError(f"{name}: a method is a class that inherits from rankae.base.ranker.LabelRanker")
    if "method" not in vars(ranker):
        ranker.method = name
    return ranker
