"""The model folder: written atomically, self-describing, and safe to open from untrusted sources.

    model.json          format and version, method, settings, facts (metrics, data fingerprint, choices), versions of
                        libraries, names, sizes and SHA-256 of the files, SHA-256 of its own content
    model.safetensors   all arrays
    labels.json, ...    tables of names, one JSON value a line

`write_model` writes beside, syncs and renames (see `replace`). `read_model` unpickles nothing, follows no path out of
the folder, and refuses in one sentence what is damaged, cut, longer than recorded, foreign, or of a newer format.
Sizes, the header of the arrays and the SHA-256 of every file are checked; `verify=False` leaves out the hashes, which
take about a second for two gigabytes. Hashes detect damage but not forgery, so each method also checks the contents of
the arrays that it reads.
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
