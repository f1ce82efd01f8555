"""The upstream's names are the candidate's very modules, however they are imported."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

SUBJECT = os.environ.get("SUBJECT_PYTHON", sys.executable)
COMPILER = shutil.which("cc")
HEADERS = Path(sysconfig.get_paths()["include"], "Python.h")


def test_every_form_of_import_gives_the_same_object(site):
    site.write("cand/sub/__init__.py", "from . import deep\n")
    site.write("cand/sub/deep.py")
    site.test("""
        import importlib, importlib.util, sys
        import up
        import up.a
        import up.sub.deep as deep
        from up import a
        from up.a import Thing
        from up import *
        import cand, cand.a, cand.sub.deep

        def test_it():
            assert up is cand and sys.modules["up"] is sys.modules["cand"] and WHO == "cand"
            assert up.a is a is cand.a is sys.modules["up.a"] is importlib.import_module("up.a")
            assert deep is cand.sub.deep is sys.modules["up.sub.deep"] is importlib.import_module(".sub.deep", "up")
            assert Thing is cand.a.Thing
            assert __import__("up.a") is cand and __import__("up.a", fromlist=["Thing"]) is cand.a
            assert __import__("up", globals(), locals(), ["a"], 0) is cand
            assert importlib.util.find_spec("up.a") is cand.a.__spec__
            assert importlib.__import__("up.a") is cand
    """)
    ran = site.passes()
    assert ran.modules("candidate") == {
        name.replace("cand", "up"): name for name in ("cand", "cand.a", "cand.sub", "cand.sub.deep")
    }
    assert ran.modules("upstream") == ran.modules("private") == {}


def test_a_module_that_is_not_loaded_yet_can_be_asked_for(site):
    site.test("""
        import importlib.util, sys
        def test_it():
            spec = importlib.util.find_spec("up.a")
            assert spec.name == "up.a" and spec.origin is None and "cand.a" not in sys.modules
            import up.a, cand.a
            assert up.a is cand.a and up.a.__spec__.name == "cand.a"
    """)
    site.passes()


def test_no_upstream_file_fills_a_gap(site):
    site.test("""
        import importlib, importlib.util, pytest
        @pytest.mark.parametrize("get", [importlib.import_module, importlib.util.find_spec, __import__])
        @pytest.mark.parametrize("name", ["up.only", "up.nowhere"])
        def test_it(get, name):
            text = r"No module named 'up\\.\\w+': .*'up', has no 'cand\\.\\w+'"
            with pytest.raises(ModuleNotFoundError, match=text) as told:
                get(name)
            assert told.value.name == name
        def test_from():
            with pytest.raises(ImportError):
                from up import only
    """)
    assert site.passes().counts == {"passed": 7}


def test_a_dependency_that_the_candidate_lacks_is_not_taken_for_a_gap(site):
    site.write("cand/b.py", "import no_such_dependency\n")
    site.test("""
        import pytest
        def test_it():
            with pytest.raises(ModuleNotFoundError) as told:
                import up.b
            assert told.value.name == "no_such_dependency"
            import up.a
    """)
    site.passes()


def test_test_code_inside_the_upstream_comes_from_the_pin(site):
    site.write("up/tests/_helpers.py", "from .. import WHO as who\nfrom up.a import WHO\nHELPER = 'pin'\n")
    site.write("up/tests/sub/__init__.py")
    site.write("up/tests/sub/more.py", "from .._helpers import HELPER\nfrom ...a import WHO\n")
    for name in ("__init__", "_helpers", "test_it"):
        site.write(f"cand/tests/{name}.py", "raise RuntimeError('the candidate has tests of its own')\n")
    site.test("""
        import sys
        from . import _helpers
        from up.tests import _helpers as again
        from up.tests.sub import more
        import up.tests._helpers
        def test_it():
            assert again is _helpers is sys.modules["up.tests._helpers"]
            assert (_helpers.HELPER, _helpers.WHO, _helpers.who) == ("pin", "cand", "cand")
            assert (more.HELPER, more.WHO) == ("pin", "cand")
            assert not [name for name in sys.modules if name.startswith("cand.tests")]
    """)
    ran = site.passes()
    expected = ["up.tests", "up.tests._helpers", "up.tests.sub", "up.tests.sub.more", "up.tests.test_it"]
    assert sorted(ran.modules("pin")) == expected


@pytest.mark.parametrize("mode", ["importlib", "prepend"])
def test_assertions_of_the_pin_are_explained_in_each_import_mode(site, mode):
    site.test("import up\ndef test_it():\n    assert up.WHO == 'other'\n")
    args = ["-c", "/dev/null", "--noconftest", f"--import-mode={mode}", "-q"]
    ran = site.run(args=args)
    assert (ran.status, ran.faults, ran.modules("upstream")) == (1, [], {})
    assert "assert 'cand' == 'other'" in ran.failures[0]


def test_test_files_that_are_listed_one_by_one(site):
    site.write("up/tests/helper.py", "MINE = 1\n")
    site.test(
        "import up.tests\nfrom up.tests.helper import MINE\nimport up\ndef test_it():\n    assert up.WHO == 'cand'\n"
    )
    listed = [str(site.folder / "up/tests" / name) for name in ("test_it.py", "helper.py")]
    ran = site.passes(upstream={"tests": listed})
    assert sorted(ran.modules("pin")) == ["up.tests", "up.tests.helper", "up.tests.test_it"]


def test_tests_without_a_package_and_a_namespace_of_tests(site):
    site.write("up/tests/__init__.py").unlink()
    site.write("up/tests/sub/helper.py", "MINE = 1\n")
    site.test("""
        import importlib, up.tests.sub.helper
        def test_it():
            importlib.invalidate_caches()
            assert up.tests.sub.helper.MINE == 1 and up.WHO == "cand"
    """)
    site.write("cand/tests/__init__.py")
    ran = site.passes()
    assert set(ran.modules("pin")) >= {"up.tests.sub.helper"}


def test_reload_relative_imports_and_specs_are_the_candidates(site):
    site.write("cand/sub/__init__.py")
    site.write("cand/sub/x.py", "from ..a import WHO\nfrom . import y\nRUNS = globals().get('RUNS', 0) + 1\n")
    site.write("cand/sub/y.py")
    site.test("""
        import importlib, inspect, up.sub.x, cand.sub.x
        def test_it():
            x = up.sub.x
            assert (x.__name__, x.__spec__.name, x.__package__) == ("cand.sub.x", "cand.sub.x", "cand.sub")
            assert type(x.__loader__).__name__ == type(x.__spec__.loader).__name__ == "SourceFileLoader"
            assert importlib.reload(up.sub.x) is x is cand.sub.x and x.RUNS == 2
            assert importlib.import_module("up.sub.x") is x
            assert "RUNS" in inspect.getsource(x)
            assert type(up.__spec__.loader).__name__ == "SourceFileLoader"
    """)
    site.passes()


def test_lazy_submodules_and_a_function_that_is_named_like_its_module(site):
    site.write(
        "cand/__init__.py",
        """
        WHO = "cand"
        from .same import same
        def __getattr__(name):
            if name in ("lazy", "made"):
                import importlib
                return importlib.import_module("." + name, __name__)
            raise AttributeError(name)
    """,
    )
    site.write("cand/same.py", "def same(): return 'function'\n")
    site.write("cand/lazy.py", "WHO = 'lazy'\n")
    site.write("cand/made.py", "WHO = 'made'\n")
    site.test("""
        import sys, up, up.same
        from up import lazy
        def test_it():
            assert up.same() == "function" and sys.modules["up.same"].same is up.same
            assert lazy.WHO == "lazy" and sys.modules["up.lazy"] is lazy
            assert "up.made" not in sys.modules
            assert up.made is sys.modules["up.made"] is sys.modules["cand.made"]
    """)
    site.passes()


RUN = "import builtins\nbuiltins.__dict__.setdefault('RUNS', []).append(__name__)\n"
CYCLE = {
    "cand/__init__.py": "import cand.one\nWHO = 'cand'\n",
    "cand/one.py": RUN + "import bridge, cand.two\nfrom cand.two import B\nA = 1\n",
    "cand/two.py": RUN + "import cand, cand.one, cand.three\nB = 2\n",
    "cand/three.py": RUN + "from cand import one, two\nC = 3\n",
    # Somebody else imports the upstream while the candidate is in the midst of its cycle.
    "bridge.py": "import up.one, up.three\n",
}


@pytest.mark.parametrize("first", ["up", "up.one", "up.two", "up.three", "cand.three", "bridge"])
def test_cycles_with_absolute_imports_execute_each_module_once(site, first):
    for name, text in CYCLE.items():
        site.write(name, text)
    site.test(
        f"""
        import builtins
        import {first}
        import up.one, up.two, up.three, cand, sys
        def test_it():
            assert sorted(builtins.RUNS) == ["cand.one", "cand.three", "cand.two"]
            assert all(sys.modules["up." + n] is sys.modules["cand." + n] for n in ("one", "two", "three"))
            assert (up.one.A, up.two.B, up.three.C) == (1, 2, 3)
            assert up.one.__spec__.name == "cand.one"
    """,
        "checks/test_it.py",
    )
    site.passes("checks/test_it.py", upstream={"tests": [str(site.folder / "checks")]})


def test_namespace_packages_and_resources(site):
    site.write("cand/space/inner.py", "WHO = 'inner'\n")
    site.write("cand/data/__init__.py")
    site.write("cand/data/table.txt", "the candidate's\n")
    site.write("up/data/__init__.py")
    site.write("up/data/table.txt", "the upstream's\n")
    site.test("""
        import importlib.resources, pkgutil, sys
        import up.space.inner, up.space, up.data
        def test_it():
            assert sys.modules["up.space"] is sys.modules["cand.space"] and up.space.inner.WHO == "inner"
            assert up.space.__spec__.name == "cand.space"
            if hasattr(importlib.resources, "files"):  # Python 3.9 and later
                assert importlib.resources.files("up.data").joinpath("table.txt").read_text() == "the candidate's\\n"
            else:
                assert importlib.resources.read_text("up.data", "table.txt") == "the candidate's\\n"
            assert pkgutil.get_data("up.data", "table.txt") == b"the candidate's\\n"
            assert "a" in [module.name for module in pkgutil.iter_modules(up.__path__)]
    """)
    site.passes()


def test_classes_are_pickled_by_the_candidates_name_and_come_back(site):
    site.write("cand/posing.py", "class Posing: pass\nPosing.__module__ = 'up.posing'\n")
    site.test("""
        import pickle, pickletools, up.a, up.posing, cand.a
        def test_it():
            text = pickle.dumps(up.a.Thing())
            assert b"cand.a" in text and type(pickle.loads(text)) is up.a.Thing is cand.a.Thing
            assert type(pickle.loads(b"cup.a\\nThing\\n(tR.")) is up.a.Thing
            assert pickle.loads(pickle.dumps(up.posing.Posing)) is up.posing.Posing
    """)
    site.passes()


def test_runpy_and_what_a_module_puts_in_its_own_place(site):
    site.write("cand/__main__.py", "WHO = 'main'\n")
    site.write("cand/odd.py", "import sys\nclass Odd:\n    WHO = 'odd'\nsys.modules[__name__] = Odd()\n")
    site.test("""
        import runpy, sys, up.odd
        from up import odd
        def test_it():
            assert runpy.run_module("up.__main__")["WHO"] == "main"
            assert odd.WHO == "odd" and odd is sys.modules["cand.odd"] is sys.modules["up.odd"]
    """)
    site.passes()


def test_a_candidate_is_loaded_from_its_folder_and_its_neighbours_are_not(site, tmp_path):
    other = tmp_path / "elsewhere"
    shutil.move(str(site.folder / "cand"), str(other / "lib"))
    (other / "extra.py").write_text("WHO = 'shadow'\n")
    site.test("""
        import pytest, up, up.a, cand, sys
        def test_it():
            assert up is cand and up.a is sys.modules["cand.a"] and up.__file__.endswith("lib/__init__.py")
            with pytest.raises(ModuleNotFoundError):
                import extra
            assert not [place for place in sys.path if place.endswith("elsewhere")]
    """)
    site.passes(candidate={"folder": str(other / "lib")})


def test_a_dotted_candidate(site):
    site.write("cand/array/__init__.py", "WHO = 'array'\nfrom . import linalg\nfrom .. import a\n")
    site.write("cand/array/linalg.py")
    site.test("""
        import sys, up, up.linalg
        def test_it():
            assert up.WHO == "array" and up is sys.modules["cand.array"]
            assert up.linalg is sys.modules["cand.array.linalg"]
            assert "up.a" not in sys.modules and "cand.a" in sys.modules
    """)
    ran = site.passes(candidate={"name": "cand.array"})
    assert ran.modules("candidate") == {
        "cand": "cand", "cand.a": "cand.a", "up": "cand.array", "up.linalg": "cand.array.linalg",
    }  # fmt: skip


def test_the_folder_of_tests_is_first_on_the_path_in_both_engines(site):
    site.write("elsewhere/helpers.py", "WHO = 'the pin'\n")
    site.write("helpers.py", "WHO = 'a neighbour'\n")
    site.test("""
        import sys, up, helpers
        def test_it():
            assert sys.path[0].endswith("elsewhere") and helpers.WHO == "the pin"
    """)
    for engine in ("candidate", "control"):
        site.passes(engine=engine, tests_folder=str(site.folder / "elsewhere"))


EXTENSION = """
#include <Python.h>
static int fill(PyObject *module) {
    PyObject *other = PyImport_ImportModuleLevel("IMPORTED", NULL, NULL, NULL, 0);
    if (other == NULL) return -1;
    PyObject *who = PyObject_GetAttrString(other, "WHO");
    Py_DECREF(other);
    return who == NULL ? -1 : PyModule_AddObject(module, "SAW", who);
}
static PyModuleDef_Slot slots[] = {{Py_mod_exec, fill}, {0, NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "native", NULL, 0, NULL, slots};
PyMODINIT_FUNC PyInit_native(void) { return PyModuleDef_Init(&definition); }
"""


@pytest.fixture
def native(site):
    """Compiles ``cand.native``, which imports a module without going through ``__import__``, as Cython does."""
    if COMPILER is None or not HEADERS.exists() or sys.executable != SUBJECT:
        pytest.skip("no compiler for extension modules")

    def build(imported):
        source = site.write("native.c", EXTENSION.replace("IMPORTED", imported))
        library = site.folder / "cand" / ("native" + sysconfig.get_config_var("EXT_SUFFIX"))
        flags = ["-undefined", "dynamic_lookup"] if sys.platform == "darwin" else []
        command = [COMPILER, "-shared", "-fPIC", *flags, f"-I{HEADERS.parent}", str(source), "-o", str(library)]
        subprocess.run(command, check=True)
        return library

    return build


def test_a_native_module_that_imports_the_upstream_gets_its_private_copy(site, native):
    library = native("up")
    site.test("""
        import sys, up, up.native
        def test_it():
            assert up.WHO == "cand" and up.native.SAW == "up" and up.native is sys.modules["cand.native"]
            assert sys.modules["up"] is up
    """)
    ran = site.passes(private_upstream=True)
    row = next(row for row in ran.providers["modules"] if row["provider"] == "cand.native")
    assert row["file"] == str(library)
    assert len(row["sha256"]) == 64
    assert ran.modules("private") == {"up": "up"}
    refused = site.run()
    assert refused.status == 97
    assert "the candidate cand imports the upstream (up)" in refused.refused


names = st.sampled_from(["up", "up.a", "up.p", "up.p.b", "up.p.q", "up.p.q.c", "cand.p.q.c", "cand.a", "cand.p"])
bodies = st.lists(
    st.sampled_from(["cand", "cand.a", "cand.p", "cand.p.b", "cand.p.q", "cand.p.q.c", "third"]), max_size=3
)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(order=st.lists(names, min_size=1, max_size=5), graph=st.lists(bodies, min_size=6, max_size=6), third=names)
def test_any_graph_of_imports_in_any_order_executes_each_file_once(site, order, graph, third):
    files = ["__init__", "a", "p/__init__", "p/b", "p/q/__init__", "p/q/c"]
    for name, imports in zip(files, graph, strict=True):
        site.write(f"cand/{name}.py", RUN + "".join(f"import {name}\n" for name in imports))
    site.write("third.py", f"import {third}\n")
    imports = "\n".join(f"import {name}" for name in order)
    site.test(
        "import builtins, sys\n" + imports + "\nimport up\n"
        "def test_it():\n"
        "    assert sorted(builtins.RUNS) == sorted(set(builtins.RUNS))\n"
        "    ups = [n for n in sys.modules if n.split('.')[0] == 'up' and '.tests' not in n]\n"
        "    assert ups and all(sys.modules[n] is sys.modules['cand' + n[2:]] for n in ups)\n"
        "    assert all(sys.modules[n].__spec__.name == 'cand' + n[2:] for n in ups)\n"
        "    for name in ups:\n"
        "        at = up\n"
        "        for part in name.split('.')[1:]: at = getattr(at, part)\n"
        "        assert at is sys.modules[name]\n",
        "checks/test_it.py",
    )  # fmt: skip
    site.passes("checks/test_it.py", upstream={"tests": [str(site.folder / "checks")]})
