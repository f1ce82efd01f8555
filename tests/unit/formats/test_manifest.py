"""Names that do not survive a trip through artifacts and other file systems, and manifests that can not be believed."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_toolkit.errors import EvidenceError, UsageError
from ci_toolkit.formats.documents import read_document, write_document
from ci_toolkit.formats.manifest import MANIFEST, Manifest, check_manifest, create_manifest, verify_manifest


def fill(folder: Path, *names: str) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name, encoding="utf-8")
    return folder


def test_files_are_sorted_and_the_bytes_do_not_depend_on_the_order(tmp_path: Path) -> None:
    names = ["b/z", "a", "b.x", "deep/er/file", "\u4e2d/\xe9", MANIFEST + "x", f"sub/{MANIFEST}"]
    one = create_manifest(fill(tmp_path / "one", *names))
    create_manifest(fill(tmp_path / "two", *reversed(names)))
    assert [file.path for file in one.files] == sorted(names)
    assert (tmp_path / "one" / MANIFEST).read_bytes() == (tmp_path / "two" / MANIFEST).read_bytes()
    assert check_manifest(tmp_path / "one") == []
    create_manifest(tmp_path / "one")
    assert (tmp_path / "one" / MANIFEST).read_bytes() == (tmp_path / "two" / MANIFEST).read_bytes()


@pytest.mark.parametrize(
    "names",
    [
        ("Kernels/a", "kernels/b"),
        ("kernels", "Kernels/b"),
        ("deep/Er/a", "deep/er/b"),
        ("stra\xdfe", "strasse"),
        ("\xe9/a", "e\u0301/b"),
        ("\u212b", "\xc5"),
        ("Report.xml", "report.xml", "REPORT.XML"),
    ],
)
def test_names_that_fall_together_elsewhere_are_refused(tmp_path: Path, names: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="is the same name as"):
        create_manifest(fill(tmp_path, *names))
    assert not (tmp_path / MANIFEST).exists()


@pytest.mark.parametrize("name", [*'":<>|*?\\', "\r", "\n", "\x1b", "\u202e"])
def test_each_unfit_character_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="must not hold") as caught:
        create_manifest(fill(tmp_path, f"a/x{name}y"))
    assert not {"\n", "\r", "\x1b", "\u202e"} & set(str(caught.value))


@pytest.mark.parametrize("name", ["CON", "aux.txt", "Com1.log.gz", "a/nul/b", "end.", "end ", "a./b", "lpt\xb9.x"])
def test_names_that_windows_can_not_hold_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="Windows"):
        create_manifest(fill(tmp_path, name))


@pytest.mark.parametrize("name", ["CONsole", "console.log", "com10", "a.b.c", ".hidden", "auxiliary/x", "nul-1"])
def test_names_that_only_look_like_them_are_accepted(tmp_path: Path, name: str) -> None:
    assert [file.path for file in create_manifest(fill(tmp_path, name)).files] == [name]


def test_a_name_that_is_no_text_is_refused(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff")).write_text("x")
    with pytest.raises(UsageError, match="must not hold"):
        create_manifest(tmp_path)


@given(st.lists(st.sampled_from(["a", "A", "b/a", "B/c", "b", "\xc9/x", "e\u0301/y"]), unique=True, max_size=5))
def test_what_is_accepted_can_be_unpacked_where_case_does_not_count(
    tmp_path_factory: pytest.TempPathFactory, names: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("names")
    try:
        fill(folder, *names)
    except OSError:
        return  # "b" can not be a file and a folder here either
    try:
        create_manifest(folder)
    except UsageError:
        return
    parts = {name.lower()[: len(name)] for name in names}
    folders = {name.rpartition("/")[0] for name in names if "/" in name}
    assert len(parts) == len(names)
    assert len({one.lower() for one in folders}) == len(folders)
    assert not {one.lower() for one in folders} & {name.lower() for name in names}


def edited(folder: Path, **changes: object) -> None:
    manifest = read_document(folder / MANIFEST, Manifest)
    fields = {name: getattr(manifest, name) for name in Manifest.__struct_fields__}
    write_document(folder / MANIFEST, Manifest(**{**fields, **changes}))


def test_a_manifest_that_lists_a_file_twice_is_not_believed(tmp_path: Path) -> None:
    manifest = create_manifest(fill(tmp_path, "a"))
    edited(tmp_path, files=manifest.files * 2)
    with pytest.raises(EvidenceError, match="lists a file twice"):
        check_manifest(tmp_path)


def test_a_manifest_elsewhere_is_not_believed(tmp_path: Path) -> None:
    here = fill(tmp_path / "here", "a")
    create_manifest(here)
    (here / MANIFEST).rename(tmp_path / "there.json")
    (here / MANIFEST).symlink_to(tmp_path / "there.json")
    with pytest.raises(EvidenceError, match="is a link"):
        check_manifest(here)


def test_paths_out_of_the_folder_are_never_opened(tmp_path: Path) -> None:
    outside = fill(tmp_path, "secret") / "secret"
    folder = fill(tmp_path / "in", "a")
    one = create_manifest(folder).files[0]
    fields = {"size": one.size, "sha256": one.sha256}
    edited(folder, files=(one, *(type(one)(path=path, **fields) for path in ("../secret", str(outside)))))
    assert check_manifest(folder) == sorted(f"{path}: is missing" for path in ("../secret", str(outside)))


def test_a_link_in_place_of_a_file_is_seen(tmp_path: Path) -> None:
    folder = fill(tmp_path / "in", "a", "dir/b")
    create_manifest(folder)
    for name in ("a", "dir"):
        (folder / name).rename(tmp_path / name)
        (folder / name).symlink_to(tmp_path / name)
    assert check_manifest(folder) == [
        "a: is not a regular file",
        "dir/b: is missing",
        "dir: is not in the manifest",
    ]


def test_a_folder_that_can_not_be_listed_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = fill(tmp_path, "a/b")
    create_manifest(folder)
    listed = os.scandir

    def refusing(path):
        if str(path).endswith("a"):
            raise PermissionError(13, "Permission denied", str(path))
        return listed(path)

    monkeypatch.setattr(os, "scandir", refusing)
    with pytest.raises(EvidenceError, match="Permission denied"):
        check_manifest(folder)
    with pytest.raises(UsageError, match="Permission denied"):
        create_manifest(folder)


def test_the_first_fault_is_named_and_the_rest_counted(tmp_path: Path) -> None:
    create_manifest(fill(tmp_path, "a", "b", "c"))
    for name in "abc":
        (tmp_path / name).write_text("other")
    with pytest.raises(EvidenceError, match=r"a: has 5 bytes, the manifest says 1 \(and 2 more\)"):
        verify_manifest(tmp_path)
