"""Extensions of other packages: how they are loaded, and how their failures are handled.

Separate from the registry, since third-party code is less trusted: an exception or an unexpected result of an extension
means that its question has no answer. Its authors must fix that; it is not an internal error of gitsync. An internal
error that passes through `next` stays one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar

from gitsync.errors import ArmError, ConfigError, ExtensionError, GitsyncError
from gitsync.extensions.api import (
    ActionCall,
    ActsOnAzure,
    BodyModifier,
    CheckResult,
    ConfigMapExporter,
    Deleter,
    ErrorClassifier,
    Extension,
    Extensions,
    Imported,
    Importer,
    LookupRequest,
    Modifier,
    NextCheck,
    NextDelete,
    NextImport,
    PreReconciliationChecker,
    ReadsAzure,
    SecretExporter,
    Subject,
    SuccessHandler,
)
from gitsync.model.secret import Secret
from gitsync.status.error_classes import Classification

ENTRY_POINTS = "gitsync.extensions"

Check = PreReconciliationChecker
"""Any of the three checks: they are called alike."""

_Answer = TypeVar("_Answer")
_Value = TypeVar("_Value")


def load_installed() -> Extensions:
    """Return the extensions of other packages: each entry point names a tuple of `Extension`.

    Raises ConfigError where one cannot be loaded.
    """
    found: list[Extension] = []
    for point in sorted(entry_points(group=ENTRY_POINTS), key=lambda point: point.name):
        found.extend(guard_extension(extension, point.name) for extension in _load(point))
    return tuple(found)


def _load(point: EntryPoint) -> Extensions:
    try:
        loaded = tuple(point.load())
    except Exception as error:  # the module of another package may raise anything
        raise _unusable(point, f"cannot be loaded: {error}") from error
    for one in loaded:
        if not isinstance(one, Extension):
            raise _unusable(point, f"contains a {type(one).__name__} instead of an Extension")
    return loaded


def _unusable(point: EntryPoint, what: str) -> ConfigError:
    return ConfigError(
        f"The extension {point.name!r} ({point.value}) {what}.",
        hint="Fix or uninstall its package.",
    )


def guard_extension(extension: Extension, name: str) -> Extension:
    """The same extension, which only raises GitsyncError. Messages contain `name`."""
    return replace(
        extension,
        owner_check=extension.owner_check and _check(extension.owner_check, name),
        pre_check=extension.pre_check and _check(extension.pre_check, name),
        post_check=extension.post_check and _check(extension.post_check, name),
        classify=extension.classify and _classifier(extension.classify, name),
        modify=extension.modify and _modify(extension.modify, name),
        delete=extension.delete and _deleter(extension.delete, name),
        importer=extension.importer and _importer(extension.importer, name),
        export_secrets=extension.export_secrets and _secrets(extension.export_secrets, name),
        export_config_maps=extension.export_config_maps and _config_maps(extension.export_config_maps, name),
        succeeded=extension.succeeded and _handler(extension.succeeded, name),
        foreseen=extension.foreseen and _foreseen(extension.foreseen, name),
    )


def _check(check: Check, name: str) -> Check:
    async def asked(subject: Subject, azure: ReadsAzure, next: NextCheck) -> CheckResult:  # noqa: A002 - ASO's word
        ours: list[Exception] = []

        async def rest(subject: Subject, azure: ReadsAzure) -> CheckResult:
            with _noted_in(ours):
                return await next(subject, azure)

        with _blamed_on(name, ours):
            return _answer(await check(subject, azure, rest), CheckResult)

    return asked


def _classifier(classify: ErrorClassifier, name: str) -> ErrorClassifier:
    def asked(error: ArmError, next: Callable[[ArmError], Classification]) -> Classification:  # noqa: A002 - ASO's word
        ours: list[Exception] = []

        def rest(error: ArmError) -> Classification:
            with _noted_in(ours):
                return next(error)

        with _blamed_on(name, ours):
            return _answer(classify(error, rest), Classification)

    return asked


def _modify(modify: BodyModifier | Modifier, name: str) -> BodyModifier | Modifier:
    if not isinstance(modify, Modifier):
        return _modifier(modify, name)
    return Modifier(
        asks=modify.asks and _pure(modify.asks, name, _questions),
        compared=modify.compared and _modifier(modify.compared, name),
        sent=modify.sent and _modifier(modify.sent, name),
        first=modify.first
        and _pure(modify.first, name, lambda call: call if call is None else _answer(call, ActionCall)),
        foretells=modify.foretells and _pure(modify.foretells, name, lambda said: _answer(said, str)),
        restores=modify.restores and _pure(modify.restores, name, lambda said: _answer(said, bool)),
    )


def _questions(asked: tuple[LookupRequest, ...]) -> tuple[LookupRequest, ...]:
    return tuple(_answer(question, LookupRequest) for question in _answer(asked, tuple))


def _pure(
    ask: Callable[[Subject], _Value], name: str, check: Callable[[_Value], _Value]
) -> Callable[[Subject], _Value]:
    """A function of what was read alone, whose answer is checked."""

    def asked(subject: Subject) -> _Value:
        with _blamed_on(name):
            return check(ask(subject))

    return asked


def _foreseen(foreseen: Callable[[Subject], Mapping[str, str]], name: str) -> Callable[[Subject], Mapping[str, str]]:
    return _pure(foreseen, name, lambda answer: _texts_to(str, answer))


def _modifier(modify: BodyModifier, name: str) -> BodyModifier:
    def asked(body: Mapping[str, Any], subject: Subject) -> Mapping[str, Any]:
        with _blamed_on(name):
            return _answer(modify(body, subject), Mapping)

    return asked


def _deleter(delete: Deleter, name: str) -> Deleter:
    async def asked(subject: Subject, azure: ActsOnAzure, next: NextDelete) -> None:  # noqa: A002 - ASO's word
        ours: list[Exception] = []

        async def rest(subject: Subject, azure: ActsOnAzure) -> None:
            with _noted_in(ours):
                await next(subject, azure)

        with _blamed_on(name, ours, in_silence=True):
            await delete(subject, azure, rest)

    return asked


def _importer(importer: Importer, name: str) -> Importer:
    async def asked(subject: Subject, next: NextImport) -> tuple[Subject, Imported]:  # noqa: A002 - ASO's word
        ours: list[Exception] = []

        async def rest(subject: Subject) -> tuple[Subject, Imported]:
            with _noted_in(ours):
                return await next(subject)

        with _blamed_on(name, ours):
            read, answer = _answer(await importer(subject, rest), tuple)
            return _answer(read, Subject), _answer(answer, Imported)

    return asked


def _secrets(export: SecretExporter, name: str) -> SecretExporter:
    async def asked(subject: Subject, azure: ActsOnAzure, wanted: frozenset[str]) -> Mapping[str, Secret]:
        with _blamed_on(name, in_silence=True):
            return _texts_to(Secret, await export(subject, azure, wanted))

    return asked


def _config_maps(export: ConfigMapExporter, name: str) -> ConfigMapExporter:
    async def asked(subject: Subject, azure: ReadsAzure, wanted: frozenset[str]) -> Mapping[str, str]:
        with _blamed_on(name):
            return _texts_to(str, await export(subject, azure, wanted))

    return asked


def _handler(succeeded: SuccessHandler, name: str) -> SuccessHandler:
    async def asked(subject: Subject, azure: ActsOnAzure) -> Mapping[str, str]:
        with _blamed_on(name, in_silence=True):
            return _texts_to(str, await succeeded(subject, azure))

    return asked


def _texts_to(wanted: type[_Value], answer: Mapping[str, _Value]) -> Mapping[str, _Value]:
    """The answer, if it is a mapping of texts to what is wanted. What it holds instead is not shown: only its type."""
    for field, value in _answer(answer, Mapping).items():
        _answer(field, str)
        _answer(value, wanted)
    return answer


def _answer(answer: _Answer, wanted: type) -> _Answer:
    """The answer, if it is what it should be: strangers' code need not have been type-checked."""
    if not isinstance(answer, wanted):
        raise TypeError(f"it returned a {type(answer).__name__}, not a {wanted.__name__}")
    return answer


@contextmanager
def _noted_in(ours: list[Exception]) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # passed on as it is
        ours.append(error)
        raise


@contextmanager
def _blamed_on(name: str, ours: Collection[Exception] = (), *, in_silence: bool = False) -> Iterator[None]:
    """Attribute exceptions to an extension, except those in `ours`.

    If silent, the error does not contain the text of the exception, which may quote a key of a response.
    """
    try:
        yield
    except GitsyncError:
        raise
    except Exception as error:  # a stranger's code may raise anything
        if error in ours:
            raise
        how = type(error).__name__ if in_silence else f"{type(error).__name__}: {error}"
        raise ExtensionError(
            f"The extension {name!r} failed: {how}.",
            hint="Fix or uninstall its package.",
        ) from (None if in_silence else error)
