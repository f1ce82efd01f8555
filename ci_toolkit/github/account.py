"""Who a token speaks as. Only what that account wrote is ever edited."""

from dataclasses import dataclass

import msgspec

from ci_toolkit.github.rest import Rest


class Author(msgspec.Struct, frozen=True):
    """An account as answers name it; a deleted one is absent there."""

    id: int
    login: str


class _Viewer(msgspec.Struct):
    login: str
    databaseId: int  # noqa: N815 - GitHub's name


class _Data(msgspec.Struct):
    viewer: _Viewer


@dataclass(frozen=True)
class Account:
    """The account of a token."""

    id: int
    login: str

    def wrote(self, author: Author | None) -> bool:
        """Whether ``author`` is this account."""
        return author is not None and author.id == self.id


def own_account(rest: Rest) -> Account:
    """The token's account. REST's ``/user`` refuses the tokens of Actions and of apps; GraphQL tells all of them."""
    viewer = rest.ask("query { viewer { login databaseId } }", _Data).viewer
    return Account(viewer.databaseId, viewer.login)
