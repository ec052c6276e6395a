"""The model on disk: a folder that lasts, that says what it is, and that can be opened without trusting it.

    model.json          format and version, method, settings, facts (metrics, data fingerprint, choices made), versions
                        of libraries, which file holds what, size and SHA-256 of each, SHA-256 of its own content
    model.safetensors   all arrays
    labels.json, ...    tables of names, one JSON value a line

`write_model` writes beside, syncs and renames (see `replace`). `read_model` unpickles nothing, follows no path out of
the folder, and refuses in one sentence what is damaged, cut, longer than recorded, foreign, or of a newer format.
Sizes, the header of the arrays and the SHA-256 of every file are checked; `verify=False` leaves out the hashes, which
take about a second for two gigabytes. A hash tells damage, not a forger, who can make it right again: what the arrays
hold is checked by the method that reads them.
"""

from __future__ import annotations

from rankae.model_file.folder import FORMAT_VERSION, ModelFile, check_place, read_manifest, read_model, write_model
from rankae.model_file.tensors import pack_csr, unpack_csr

__all__ = [
    "FORMAT_VERSION",
    "ModelFile",
    "check_place",
    "pack_csr",
    "read_manifest",
    "read_model",
    "unpack_csr",
    "write_model",
]
