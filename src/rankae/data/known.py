"""Data sets known by name: the paper's six with the counts of its Table 1, and those of the shared data folder."""

from __future__ import annotations

from dataclasses import dataclass

REPOSITORY = "http://manikvarma.org/downloads/XC/XMLRepository.html"
# "confirm=t" answers the page that Google Drive shows instead of any file that it cannot scan for viruses.
_DRIVE = "https://drive.usercontent.google.com/download?export=download&confirm=t&id="


@dataclass(frozen=True)
class Known:
    """A data set and what was published about it; None where nothing was.

    Attributes
    ----------
    name, title : on the command line, and in tables.
    home : the page that describes it.
    url, checksum : of the archive that `data fetch` downloads; the checksum reads "md5:..." or "sha256:...".
    cardinality, instances_per_label : the last two columns of Table 1.
    documents : the archive holds a JSON file for each document (see `rankae.data.document_archive`).
    build : how to build the data, where there is nothing to download.
    note : what a user should know before reporting figures.
    """

    name: str
    title: str
    home: str
    url: str | None = None
    checksum: str | None = None
    train: int | None = None
    test: int | None = None
    dev: int | None = None
    labels: int | None = None
    features: int | None = None
    cardinality: float | None = None
    instances_per_label: float | None = None
    in_paper: bool = False
    documents: bool = False
    build: str = ""
    note: str = ""

    def how_to_get(self) -> str:
        """One sentence for a user who asked for data that is not on this machine."""
        if self.url is None:
            build = self.build or "nobody publishes it"
            note = f" ({self.note})" if self.note else ""
            return (
                f"{self.name} is not on this machine and cannot be downloaded: {build}; put train.* and test.* into a "
                f"folder {self.name} in RANKAE_DATA{note}"
            )
        return f"{self.name} is not on this machine; run `rankae data fetch {self.name}` or see {self.home}"


_EU = "https://archive.org/details/EURLEX57K"
_DEBIAN = "https://packages.debian.org"
_PACKAGES = (
    "build it from the Packages and Translation-en indices of a Debian release (deb.debian.org), a JSON line for each "
    "package with its description as text, splitting by source package, and with "
)

_SETS = [
    Known(
        name="delicious",
        title="Delicious",
        home=REPOSITORY,
        url=f"{_DRIVE}0B3lPMIHmG6vGdG1jZ19VS2NWRVU",
        checksum="md5:e73730438e67ad179d724503e6770b1a",
        train=12_920,
        test=3_185,
        labels=983,
        features=500,
        cardinality=19.03,
        instances_per_label=312,
        in_paper=True,
        note="the repository has ten random splits; scores differ by the split",
    ),
    Known(
        name="mediamill",
        title="Mediamill",
        home=REPOSITORY,
        url=f"{_DRIVE}0B3lPMIHmG6vGY3B4TXRmZnZBTkk",
        checksum="md5:11cfdb9269ae5a301bb0c6f333cc6999",
        train=30_993,
        test=12_914,
        labels=101,
        features=120,
        cardinality=4.38,
        instances_per_label=1_902,
        in_paper=True,
    ),
    Known(
        name="rcv1-2k",
        title="RCV1-2K",
        home=REPOSITORY,
        url=f"{_DRIVE}0B3lPMIHmG6vGdnEzRWZWQWJMRnc",
        train=623_847,
        test=155_962,
        labels=2_456,
        features=47_236,
        cardinality=4.79,
        instances_per_label=1_219,
        in_paper=True,
    ),
    Known(
        name="imdb",
        title="IMDb",
        home="https://www.imdb.com",
        train=27_417,
        test=6_740,
        labels=28,
        features=115_554,
        cardinality=2.4,
        instances_per_label=2_937,
        in_paper=True,
        build="the paper's crawl was never published",
        note="tmdb-plots stands in for it",
    ),
    Known(
        name="eurlex-4k",
        title="EURLex-4K",
        home=REPOSITORY,
        url=f"{_DRIVE}0B3lPMIHmG6vGU0VTR1pCejFpWjg",
        checksum="md5:ec8feb2a9a0bd0f32d8f4c2b00725524",
        train=15_539,
        test=3_809,
        labels=3_993,
        features=5_000,
        cardinality=5.31,
        instances_per_label=26,
        in_paper=True,
        note="the paper's Table 1 prints 3,909 test rows; the repository's file has 3,809",
    ),
    Known(
        name="wiki10-31k",
        title="Wiki10-31K",
        home=REPOSITORY,
        url=f"{_DRIVE}0B3lPMIHmG6vGaDdOeGliWF9EOTA",
        train=14_146,
        test=6_616,
        labels=30_938,
        features=101_938,
        cardinality=18.64,
        instances_per_label=9,
        in_paper=True,
    ),
    Known(
        name="delicious-xmc",
        title="Delicious (split 1)",
        home=REPOSITORY,
        train=12_920,
        test=3_185,
        labels=983,
        features=500,
        build="fetch delicious and take the rows of the repository's first split",
        note="most of its test rows are training rows of other splits",
    ),
    Known(
        name="bibtex",
        title="Bibtex",
        home=REPOSITORY,
        url=f"{_DRIVE}0B3lPMIHmG6vGcy1xM2pJZ09MMGM",
        checksum="md5:78db23bd26486d4188502abf6a39b856",
        train=4_880,
        test=2_515,
        labels=159,
        features=1_836,
    ),
    Known(
        name="eurlex57k",
        title="EURLEX57K",
        home=_EU,
        url="https://archive.org/download/EURLEX57K/dataset.zip",
        train=45_000,
        dev=6_000,
        test=6_000,
        labels=4_271,
        documents=True,
    ),
    Known(
        name="eurlex57k-bow",
        title="EURLEX57K (bag of words)",
        home=_EU,
        train=15_539,
        test=3_809,
        labels=3_240,
        features=5_000,
        build="fetch eurlex57k, draw 19,348 documents and count the 5,000 stems of EURLex-4K's vocabulary",
        note="a stand-in of EURLex-4K's size, never to be reported as EURLex-4K",
    ),
    Known(
        name="mediamill-disc3",
        title="Mediamill (3 levels)",
        home=REPOSITORY,
        train=30_970,
        test=12_881,
        labels=101,
        features=120,
        build="fetch mediamill and bin its features to 3 levels",
        note="features binned to 3 levels, never to be reported as Mediamill",
    ),
    Known(
        name="mediamill-real2k",
        title="Mediamill (2,000 rows)",
        home=REPOSITORY,
        train=1_500,
        test=500,
        labels=101,
        features=120,
        build="fetch mediamill and draw 2,000 rows",
        note="a sample, never to be reported as Mediamill",
    ),
    Known(
        name="debtags",
        title="Debtags",
        home=_DEBIAN,
        train=23_507,
        test=6_011,
        labels=598,
        build=f"{_PACKAGES}its Tag field as labels",
    ),
    Known(
        name="debdeps",
        title="Debdeps",
        home=_DEBIAN,
        train=44_258,
        test=10_476,
        labels=36_468,
        build=f"{_PACKAGES}the names in its Depends field as labels",
    ),
    Known(
        name="tmdb-plots",
        title="TMDb plots",
        home="https://www.themoviedb.org",
        train=11_011,
        test=2_760,
        labels=20,
        build="ask TMDb's API (themoviedb.org) for films, with the overview as text and the genres as labels",
        note="it stands in for the paper's IMDb",
    ),
]
KNOWN: dict[str, Known] = {known.name: known for known in _SETS}
_ALIASES = {"rcv": "rcv1-2k", "rcv1": "rcv1-2k", "eurlex": "eurlex-4k", "wiki10": "wiki10-31k"}


def find_known(name: str) -> Known | None:
    """The data set called `name`, in any case and under the paper's short names too."""
    name = name.lower()
    return KNOWN.get(_ALIASES.get(name, name))
