"""Addresses are shown without what is secret in them, however odd they are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_toolkit.doctor.addresses import conflicting, host_and_port, indexes, place, proxies, without_user


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("http://proxy:3128", "http://proxy:3128"),
        ("http://me:word@proxy:3128", "http://***@proxy:3128"),
        ("me:word@proxy:3128", "***@proxy:3128"),
        ("socks5h://me:p/w@x@proxy:1080", "socks5h://***@proxy:1080"),
    ],
)
def test_a_proxy_has_no_credentials(address: str, shown: str) -> None:
    assert without_user(address) == shown


@given(st.text(st.characters(codec="ascii", exclude_characters="\n"), min_size=6))
def test_no_password_is_ever_shown(password: str) -> None:
    secret = f"~{password}~"
    assert secret not in without_user(f"http://me:{secret}@proxy:3128")
    assert secret not in without_user(f"me:{secret}@proxy:3128")


def test_a_path_may_hold_a_token_and_is_not_shown() -> None:
    assert place("https://dl.example.com/tok3n/simple") == "https://dl.example.com"
    assert place("https://tok3n@host.example.com:8443/x") == "https://host.example.com:8443"
    assert place("file:///opt/wheels") == "file:///opt/wheels"
    assert place("https://host:port/") == "an address that can not be read"


def test_variables_of_both_spellings() -> None:
    environ = {"http_proxy": "a:1", "HTTP_PROXY": "b:1", "no_proxy": "x,y@z", "HTTPS_PROXY": " ", "PATH": "/bin"}
    assert proxies(environ) == {"HTTP_PROXY": "b:1", "http_proxy": "a:1", "no_proxy": "x,y@z"}
    assert conflicting(environ) == ["http_proxy"]
    assert conflicting({"http_proxy": "a:1", "HTTP_PROXY": "a:1"}) == []


def test_where_an_address_leads() -> None:
    assert host_and_port("http://u:p@proxy:3128/") == ("proxy", 3128)
    assert host_and_port("proxy") == ("proxy", 80)
    assert host_and_port("socks5://[::1]") == ("::1", 1080)
    for bad in ("", "http://", "http://x:port"):
        with pytest.raises(ValueError):  # noqa: PT011 - each has words of its own
            host_and_port(bad)


def test_the_indexes_of_pip() -> None:
    assert indexes("") == ()
    told = """
        :env:.index-url='https://env.example.com/simple'
        global.index-url='https://global.example.com/simple'
        global.extra-index-url='file:///a file:///b'
        install.extra-index-url='\\nfile:///c\\nfile:///a'
        list.index-url='https://never.example.com'
    """
    assert indexes(told) == ("https://env.example.com/simple", "file:///c", "file:///a")
    assert indexes("global.no-index='true'\nglobal.index-url='https://x'") == ()
