"""Who answered is proven, and each way in which it can't be trusted is a fault of its own kind."""

import hashlib
import json
import shutil
import subprocess
import sys

import pytest

COMPILER = shutil.which("cc")


def sha(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def only(ran, kind):
    """The one fault of a run, which must be of this kind."""
    assert ran.faults == [kind], ran.providers["faults"]
    return ran.providers["faults"][0]


def test_every_module_is_named_with_its_file_and_hash(site):
    site.write("cand/loose.py")
    site.write("cand/__init__.py", "WHO = 'cand'\nimport array_of_mine\n")
    site.write("array_of_mine.py")
    site.test("import up.a, up\ndef test_it(): pass\n")
    ran = site.passes()
    assert ran.providers["modules"] == [
        {"name": name, "provider": provider, "kind": kind, "file": str(path), "sha256": sha(path)}
        for name, provider, kind, path in [
            ("up", "cand", "candidate", site.folder / "cand/__init__.py"),
            ("up.a", "cand.a", "candidate", site.folder / "cand/a.py"),
            ("up.tests", "up.tests", "pin", site.folder / "up/tests/__init__.py"),
            ("up.tests.test_it", "up.tests.test_it", "pin", site.folder / "up/tests/test_it.py"),
        ]
    ]
    told = [{key: event[key] for key in ("name", "provider", "kind", "file", "sha256")} for event in ran.of("provider")]
    told = [row for row in told if not row["name"].endswith(".__init__")]
    assert sorted(told, key=lambda row: row["name"]) == ran.providers["modules"]
    assert ran.providers["engine"] == "candidate"
    assert ran.providers["versions"]["pytest"] == ran.of("end")[0]["pytest"]
    assert set(ran.providers["versions"]) == {"pytest", "numpy", "torch", "hypothesis"}


def test_the_test_files_that_ran_are_the_upstreams_byte_for_byte(site):
    site.test("import up\ndef test_it(): pass\n", "up/tests/test_other.py")
    site.test("# un\u00e9dit\u00e9\r\nimport up\ndef test_it():\n\tassert 1\n")
    files = ["up/tests/test_it.py", "up/tests/test_other.py"]
    before = {str(site.folder / name): sha(site.folder / name) for name in files}
    ran = site.passes(*files)
    assert ran.providers["tests"] == ran.providers["tests_end"] == before


def test_a_module_of_neither_side(site):
    site.write("stray.py", "import sys, types\nsys.modules['up.stray'] = types.ModuleType('up.stray')\n")
    site.test("import up, stray\nimport up.stray\ndef test_it(): pass\n")
    fault = only(site.run(), "foreign_provider")
    assert fault["module"] == "up.stray"


def test_in_a_control_a_module_from_elsewhere(site, tmp_path):
    (tmp_path / "b.py").write_text("")
    site.test(f"""
        import importlib.util, sys, up
        spec = importlib.util.spec_from_file_location("up.b", {str(tmp_path / "b.py")!r})
        sys.modules["up.b"] = importlib.util.module_from_spec(spec)
        def test_it(): pass
    """)
    assert only(site.run(engine="control"), "foreign_provider")["file"] == str(tmp_path / "b.py")


LOAD = """
    import importlib.util, sys, up, up.a
    def load(name, file):
        spec = importlib.util.spec_from_file_location(name, file)
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
"""


@pytest.mark.parametrize(
    "second",
    [
        'load("copy", up.a.__file__)',
        "sys.path.insert(0, up.__path__[0]); import a",
        'del sys.modules["cand.a"], sys.modules["up.a"]; import up.a',
        'load("up.a", up.a.__file__)',
    ],
)
def test_a_second_copy_of_a_module(site, second):
    site.test(LOAD + f"    {second}\n    def test_it(): pass\n")
    ran = site.run()
    assert set(ran.faults) == {"duplicate_provider"}, ran.output
    assert all(fault["file"] == str(site.folder / "cand/a.py") for fault in ran.providers["faults"])


def test_a_module_that_is_removed_and_loaded_once_is_no_second_copy(site):
    text = "import os\nif os.environ.setdefault('TRIES', 'one') == 'one':\n    os.environ['TRIES'] = 'two'\n"
    site.write("cand/flaky.py", text + "    raise ImportError('once')\n")
    site.test("""
        import sys, up, up.a, pytest
        with pytest.raises(ImportError, match="once"):
            import up.flaky
        import up.flaky
        del sys.modules["up.a"]
        import up.a
        def test_it():
            assert up.a is sys.modules["cand.a"] and up.flaky is sys.modules["cand.flaky"]
    """)
    site.passes()


def test_an_upstream_file_that_fills_a_gap(site):
    file = site.folder / "up/only.py"
    site.test(
        LOAD
        + f"    load('up.only', {str(file)!r})\n    from up.only import WHO\n    def test_it(): assert WHO == 'up'\n"
    )
    ran = site.run()
    assert ran.counts == {"passed": 1}
    assert only(ran, "gap_filled")["file"] == str(file)
    assert ran.modules("upstream") == {"up.only": "up.only"}


def test_a_candidate_that_hands_out_the_upstreams_module(site):
    site.write("cand/__init__.py", "import sys\nimport up.only\nsys.modules[__name__ + '.only'] = up.only\n")
    site.test("import up.only\ndef test_it(): assert up.only.WHO == 'up'\n")
    assert only(site.run(private_upstream=True), "gap_filled")["module"] == "up.only"


@pytest.mark.parametrize(
    "test",
    ["def test_it(): pass", "import up.tests._helpers as h\ndef test_it(): pass", "import cand\ndef test_it(): pass"],
)
def test_tests_that_never_imported_the_candidate(site, test):
    site.write("up/tests/_helpers.py")
    site.test(test.replace("import up.tests._helpers as h", "from up.tests import _helpers"))
    ran = site.run()
    assert (ran.status, ran.counts) == (0, {"passed": 1})
    assert "no test imported 'up' from the candidate 'cand'" in only(ran, "candidate_not_imported")["message"]


@pytest.mark.parametrize("how", ["import cand.a", "import importlib; importlib.import_module('cand')", "import third"])
def test_a_control_that_imports_the_candidate(site, how):
    site.write("third.py", "try:\n    import cand, sys\n    del sys.modules['cand']\nexcept ImportError: pass\n")
    site.test(f"{how}\nimport up\ndef test_it(): pass\n")
    ran = site.run(engine="control")
    assert only(ran, "candidate_in_control")["module"].startswith("cand")
    assert "cand" in ran.modules("candidate")
    assert site.run(engine="control", candidate={"name": ""}).faults == []


def test_a_candidate_of_the_standard_library_is_no_contamination(site):
    site.test("import json, up\ndef test_it(): pass\n")
    site.passes(engine="control", candidate={"name": "json"})


@pytest.mark.parametrize("victim", ["cand/a.py", "up/tests/_helpers.py"])
def test_a_module_that_changes_during_the_run(site, victim):
    site.write("up/tests/_helpers.py")
    site.test(f"""
        import pathlib, up.a
        from . import _helpers
        def test_it():
            pathlib.Path({str(site.folder / victim)!r}).open("a").write("# edited")
    """)
    before = sha(site.folder / victim)
    ran = site.run()
    fault = only(ran, "changed_during_run")
    assert fault["file"] == str(site.folder / victim)
    assert next(row for row in ran.providers["modules"] if row["file"] == fault["file"])["sha256"] == before


def test_a_test_file_that_changes_during_the_run(site):
    site.test("import pathlib, up\ndef test_it():\n    pathlib.Path(__file__).open('a').write('# edited')\n")
    file, before = site.folder / "up/tests/test_it.py", sha(site.folder / "up/tests/test_it.py")
    ran = site.run()
    assert set(ran.faults) == {"changed_during_run"}
    assert ran.providers["tests"] == {str(file): before}
    assert ran.providers["tests_end"] == {str(file): sha(file)} != {str(file): before}


@pytest.fixture
def library(site):
    """Compiles a library whose function ``answer`` returns a number, and lets the candidate load one."""
    if COMPILER is None or sys.platform != "linux":
        pytest.skip("no compiler, or no /proc/self/maps")

    def build(name, answer):
        source = site.write(f"{name}.c", f"int answer(void) {{ return {answer}; }}\n")
        path = site.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([COMPILER, "-shared", "-fPIC", str(source), "-o", str(path)], check=True)
        return path

    site.write(
        "cand/__init__.py", "import ctypes, os\nLIBRARIES = [ctypes.CDLL(p) for p in os.environ['LIB'].split()]\n"
    )
    site.test("import os, up\ndef test_it():\n    exec(os.environ.get('DO', ''))\n")
    return build


def test_the_very_library_is_proven(site, library):
    path = library("build/libk.so", 1)
    declared = [{"path": str(path), "sha256": sha(path)}]
    site.env["LIB"] = str(path)
    site.passes(candidate={"libraries": declared})
    link = site.folder / "libk.so"
    link.symlink_to(path)
    site.env["LIB"] = str(link)
    site.passes(candidate={"libraries": declared})


def test_another_library_than_the_declared_one(site, library):
    path, stale = library("build/libk.so", 1), library("old/libk.so", 2)
    declared = {"libraries": [{"path": str(path), "sha256": sha(path)}]}

    def messages(**env):
        site.env.update(env)
        ran = site.run(candidate=declared)
        assert set(ran.faults) == {"wrong_library"}, ran.output
        return " / ".join(fault["message"] for fault in ran.providers["faults"])

    assert "was not loaded" in messages(LIB="")
    assert f"{stale} was loaded as well as, or instead of, {path}" in messages(LIB=str(stale))
    assert f"{stale} was loaded as well as" in messages(LIB=f"{path} {stale}")
    swap = f"os.remove({str(path)!r}); os.link({str(stale)!r}, {str(path)!r})"
    assert "was replaced after it was loaded" in messages(LIB=str(path), DO=swap)
    assert "is declared" in messages(LIB=str(path), DO="")


def test_the_evidence_is_told_when_the_session_raises_and_what_was_loaded_when_it_crashes(site):
    site.test("import up.a\ndef test_it():\n    pass\n")
    site.test("import up.a, sys\ndef test_it():\n    raise KeyboardInterrupt\n", "up/tests/test_stop.py")
    assert set(site.run("up/tests/test_stop.py").modules("candidate")) == {"up", "up.a"}
    site.write("conftest.py", "def pytest_runtest_logfinish():\n    raise SystemExit(0)\n")
    args = ["-c", "/dev/null", "--import-mode=importlib"]
    ran = site.run(args=args)
    assert ran.status == 3
    assert set(ran.modules("candidate")) == {"up", "up.a"}
    site.test("import up.a, os\ndef test_it():\n    os._exit(9)\n")
    ran = site.run()
    assert ran.status == 9
    assert ran.of("providers") == []
    assert [row["provider"] for row in ran.of("provider") if row["kind"] == "candidate"] == ["cand", "cand.a"]


def test_each_test_draws_the_same_numbers_whatever_ran_before(site):
    numpy = pytest.importorskip("numpy")
    assert numpy.__version__
    site.test("""
        import json, os, random, sys, pytest, numpy, up
        @pytest.fixture
        def drawn(): return random.random()
        def draw(*more):
            with open("drawn", "a") as file:
                file.write(json.dumps([random.random(), numpy.random.rand(), *more]) + "\\n")
        def test_one(drawn): draw(drawn)
        def test_fails(): random.random(); numpy.random.rand(3); assert 0
        def test_skips(): pytest.skip("early")
        def test_two(drawn): draw(drawn)
    """)
    ran = site.run(seed=7)
    first, second = map(json.loads, (site.folder / "drawn").read_text().splitlines())
    assert first == second
    assert len(ran.of("seeded")) == 1
    assert ran.of("seeded")[0]["seed"] == 7
    (site.folder / "drawn").unlink()
    ran = site.run()
    first, second = (site.folder / "drawn").read_text().splitlines()
    assert first != second
    assert ran.of("seeded") == []


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"upstream": {"name": "re"}}, "is loaded already, by the interpreter, pytest or a preload"),
        ({"upstream": {"name": "json"}}, "json, json.decoder, json.encoder is loaded already"),
        ({"upstream": {"name": "pluggy"}}, "pluggy, pluggy._"),
        ({"upstream": {"name": "iniconfig"}}, "iniconfig"),
        ({"upstream": {"name": "xml.dom"}}, "no top-level name"),
        ({"upstream": {"name": "cand"}}, "lies in the upstream's own package"),
        ({"candidate": {"folder": "/nowhere/at/all"}}, "/nowhere/at/all is missing"),
        ({"candidate": {"name": "pluggy"}}, "the candidate is loaded already (pluggy"),
        ({"candidate": {"name": "pluggy"}, "engine": "control"}, "the candidate is loaded already (pluggy"),
    ],
)
def test_what_can_not_be_aliased_is_refused_before_anything_runs(site, options, reason):
    site.test("import up\ndef test_it(): open('ran', 'w')\n")
    ran = site.run(**options)
    assert (ran.status, [event["e"] for event in ran.events]) == (97, ["refused"])
    assert reason in ran.refused
    assert not (site.folder / "ran").exists()


def test_a_module_of_the_standard_library_may_be_the_candidate(site):
    site.test("""
        import json, up, up.decoder
        def test_it():
            assert up is json and up.decoder is json.decoder and json.decoder.__spec__.name == "json.decoder"
    """)
    ran = site.passes(candidate={"name": "json"})
    assert {"up": "json", "up.decoder": "json.decoder"}.items() <= ran.modules("candidate").items()
