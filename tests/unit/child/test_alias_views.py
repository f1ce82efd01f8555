"""Who imports decides what the upstream's names mean: a private copy for the candidate, or only the tests' own view."""

import pytest


def needy(site):
    """A candidate that imports the upstream while it is imported, later, and by name."""
    site.write("up/__init__.py", "WHO = 'up'\nfrom up.a import Thing\n")
    site.write("up/deep/__init__.py", "from up import WHO\n")
    site.write(
        "cand/__init__.py",
        """
        import up.a
        from up.deep import WHO as deep
        from . import a
        WHO, SAW = "cand", up.WHO
        Private = up.a.Thing
        def later():
            import up
            from up.only import WHO
            return up.WHO, WHO
        def by_name():
            import importlib, importlib.util
            return importlib.import_module("up.a").WHO, importlib.util.find_spec("up.a").origin
    """,
    )


def test_a_private_copy_for_the_candidate_only(site):
    needy(site)
    site.write("third.py", "import up\nWHO = up.WHO\n")
    site.test("""
        import sys, up, up.a, third, pytest
        def test_it():
            assert up.WHO == "cand" == third.WHO and up.SAW == up.deep == "up" and up.a.WHO == "cand"
            assert up.Private is not up.a.Thing and up.Private.__module__ == "up.a"
            for _ in range(3):
                assert up.later() == ("up", "up")
                assert up.by_name()[0] == "up" and up.by_name()[1].endswith("up/a.py")
                assert sys.modules["up"] is up and sys.modules["up.a"] is up.a
                with pytest.raises(ModuleNotFoundError):
                    from up.only import WHO
    """)
    ran = site.passes(private_upstream=True)
    assert ran.modules("private") == {name: name for name in ("up", "up.a", "up.deep", "up.only")}
    assert ran.modules("candidate") == {"up": "cand", "up.a": "cand.a"}


@pytest.mark.parametrize(
    "body",
    [
        "import up",
        "from up.a import Thing",
        "import importlib; importlib.import_module('up.a')",
        "try:\n    import up\nexcept ImportError:\n    up = None",
        "try:\n    import up\nexcept Exception:\n    up = None",
        "def use():\n    import up.a",
        "def use():\n    import importlib; importlib.import_module('up')",
        "import pkgutil, importlib as i; getattr(pkgutil, 'resolve_name', i.import_module)('up.a')",
    ],
)
def test_a_candidate_that_needs_the_upstream_and_may_not_stops_the_run(site, body):
    site.write("cand/needy.py", body + "\n")
    site.test("""
        import up
        def test_it():
            import up.needy
            up.needy.use()
        def test_after(): pass
    """)
    ran = site.run()
    assert ran.status == 97
    assert ran.refused.startswith("the candidate cand imports the upstream (up")
    assert len(ran.of("refused")) == 1
    assert "test_after" not in ran.outcomes
    assert ran.modules("private") == ran.modules("upstream") == {}
    assert ran.faults == []


def test_a_refusal_that_the_candidate_swallows_is_a_refusal_all_the_same(site):
    site.write("cand/__init__.py", "try:\n    import up\nexcept BaseException:\n    pass\nWHO = 'cand'\n")
    site.test("import up\ndef test_it():\n    assert up.WHO == 'cand'\n")
    ran = site.run()
    assert (ran.status, ran.counts) == (97, {"passed": 1})


def test_only_the_tests_are_redirected(site):
    site.write("third.py", "import up, up.only\nWHO = up.WHO\ndef later():\n    import up.a\n    return up.a.WHO\n")
    site.write("cand/__init__.py", "import up, up.only, third\nWHO, SAW = 'cand', up.WHO\n")
    site.write("up/tests/_helpers.py", "from .. import WHO\nfrom ..a import Thing\n")
    site.test("""
        import importlib, importlib.util, sys
        from unittest import mock
        import pytest, third, cand, cand.a
        import up, up.a
        from .. import WHO
        from ..a import Thing
        from . import _helpers
        import up.tests._helpers as again

        def test_it():
            assert up is cand and up.a is cand.a and WHO == "cand" and Thing is cand.a.Thing is _helpers.Thing
            assert _helpers.WHO == "cand" and again is _helpers
            assert third.WHO == cand.SAW == "up" == third.later()
            assert sys.modules["up"] is not cand and sys.modules["up"].WHO == "up"
            assert importlib.import_module("up.a") is cand.a
            assert importlib.util.find_spec("up.a") is cand.a.__spec__
            assert pytest.importorskip("up.a") is cand.a
            with pytest.raises(ImportError):
                from up import only
        def test_patches(monkeypatch):
            monkeypatch.setattr("up.a.WHO", "patched")
            assert cand.a.WHO == "patched" and third.later() == "up"
        @mock.patch("up.a.WHO", "mocked")
        def test_decorated():
            assert cand.a.WHO == "mocked" and third.later() == "up"
        def test_a_gap():
            with pytest.raises(ModuleNotFoundError, match="cand.only"):
                import up.only
        def test_code_without_a_name():
            scope = {}
            exec("import up", scope)
            assert scope["up"] is cand
    """)
    ran = site.passes(alias="tests")
    assert ran.modules("candidate") == {"up": "cand", "up.a": "cand.a"}
    assert set(ran.modules("upstream")) == {"up", "up.a", "up.only"}
    assert set(ran.modules("pin")) == {"up.tests", "up.tests._helpers", "up.tests.test_it"}
    assert ran.modules("private") == {}


def test_an_upstream_that_is_loaded_already_does_not_hinder_the_tests_own_view(site):
    site.write("sitecustomize.py", "import up.a\n")
    site.env["PYTHONPATH"] = str(site.folder)
    site.test("import up, up.a\ndef test_it():\n    assert up.WHO == up.a.WHO == 'cand'\n")
    site.passes(alias="tests")
    assert "up, up.a is loaded already" in site.run(alias="all").refused
    site.write("sitecustomize.py", "import up.tests.test_it\n")
    assert "the upstream's test code is loaded already" in site.run(alias="tests").refused


def test_threads_see_what_they_may(site):
    needy(site)
    site.test("""
        import threading, up
        def test_it():
            wrong = []
            def use():
                for _ in range(200):
                    import up
                    from up.a import WHO
                    if up.WHO != "cand" or WHO != "cand" or up.later() != ("up", "up"):
                        wrong.append(up)
            threads = [threading.Thread(target=use) for _ in range(4)]
            [thread.start() for thread in threads]
            [thread.join() for thread in threads]
            assert not wrong
    """)
    site.passes(private_upstream=True)


def test_the_control_is_the_upstream_itself(site):
    site.write("up/tests/_helpers.py", "from ..only import WHO\n")
    site.test("""
        import up, up.a, up.only, sys
        from ._helpers import WHO
        def test_it():
            assert up.WHO == up.a.WHO == up.only.WHO == WHO == "up" and "cand" not in sys.modules
    """)
    ran = site.passes(engine="control")
    assert ran.modules("upstream") == {name: name for name in ("up", "up.a", "up.only")}
    assert set(ran.modules("pin")) == {"up.tests", "up.tests._helpers", "up.tests.test_it"}
    assert ran.modules("candidate") == {}
