"""Extensions of other packages: how they are loaded, and how their failures are handled.

Separate from the registry, since third-party code is less trusted: an exception or an unexpected result of an extension
means that its call has no result. Its authors must fix that; it is not an internal error of gitsync. An internal error
that passes through `next` stays one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import EntryPoint, distribution, distributions
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
from gitsync.planning.status.error_classes import Classification

ENTRY_POINTS = "gitsync.extensions"

Check = PreReconciliationChecker
"""Any of the three checks: they are called alike."""

_Answer = TypeVar("_Answer")
_Value = TypeVar("_Value")


def load_installed() -> Extensions:
    """Return the extensions of other packages: each entry point names a tuple of `Extension`.

    Raises ConfigError if one cannot be loaded.
    """
    extensions: list[Extension] = []
    # The first extension of a kind decides, so a package chooses its turn by the name of its entry point.
    for point in sorted(_list_entry_points(), key=lambda point: point.name):
        extensions.extend(guard_extension(extension, point.name) for extension in _load(point))
    return tuple(extensions)


def _list_entry_points() -> Iterator[EntryPoint]:
    """Yield the entry points of extensions."""
    # `importlib.metadata.entry_points` would parse those of all packages, which takes longer than most commands take to
    # read the manifests.
    packages = {
        package.name for package in distributions() if ENTRY_POINTS in (package.read_text("entry_points.txt") or "")
    }
    for name in sorted(packages):
        # Of a package that is installed twice, the first on the path counts.
        yield from distribution(name).entry_points.select(group=ENTRY_POINTS)


def _load(point: EntryPoint) -> Extensions:
    try:
        extensions = tuple(point.load())
    except Exception as error:  # the module of another package may raise anything
        raise _make_load_error(point, f"cannot be loaded: {error}") from error
    for extension in extensions:
        if not isinstance(extension, Extension):
            raise _make_load_error(point, f"contains a {type(extension).__name__} instead of an Extension")
    return extensions


def _make_load_error(point: EntryPoint, problem: str) -> ConfigError:
    return ConfigError(
        f"The extension {point.name!r} ({point.value}) {problem}.",
        hint="Fix or uninstall its package.",
    )


def guard_extension(extension: Extension, name: str) -> Extension:
    """The same extension, which only raises GitsyncError. Messages contain `name`."""
    return replace(
        extension,
        owner_check=extension.owner_check and _guard_check(extension.owner_check, name),
        pre_check=extension.pre_check and _guard_check(extension.pre_check, name),
        post_check=extension.post_check and _guard_check(extension.post_check, name),
        classify=extension.classify and _guard_classifier(extension.classify, name),
        modify=extension.modify and _guard_modify(extension.modify, name),
        delete=extension.delete and _guard_deleter(extension.delete, name),
        importer=extension.importer and _guard_importer(extension.importer, name),
        export_secrets=extension.export_secrets and _guard_secret_exporter(extension.export_secrets, name),
        export_config_maps=extension.export_config_maps
        and _guard_config_map_exporter(extension.export_config_maps, name),
        succeeded=extension.succeeded and _guard_success_handler(extension.succeeded, name),
        foreseen=extension.foreseen
        and _guard_pure(extension.foreseen, name, lambda answer: _check_values(str, answer)),
    )


def _guard_check(check: Check, name: str) -> Check:
    async def guarded(subject: Subject, azure: ReadsAzure, next: NextCheck) -> CheckResult:  # noqa: A002 - ASO's word
        own_errors: list[Exception] = []

        async def rest(subject: Subject, azure: ReadsAzure) -> CheckResult:
            with _collect_errors(own_errors):
                return await next(subject, azure)

        with _blame(name, own_errors):
            return _check_type(await check(subject, azure, rest), CheckResult)

    return guarded


def _guard_classifier(classify: ErrorClassifier, name: str) -> ErrorClassifier:
    def guarded(error: ArmError, next: Callable[[ArmError], Classification]) -> Classification:  # noqa: A002 - ASO's word
        own_errors: list[Exception] = []

        def rest(error: ArmError) -> Classification:
            with _collect_errors(own_errors):
                return next(error)

        with _blame(name, own_errors):
            return _check_type(classify(error, rest), Classification)

    return guarded


def _guard_modify(modify: BodyModifier | Modifier, name: str) -> BodyModifier | Modifier:
    if not isinstance(modify, Modifier):
        return _guard_body_modifier(modify, name)
    return Modifier(
        asks=modify.asks
        and _guard_pure(
            modify.asks,
            name,
            lambda lookups: tuple(_check_type(lookup, LookupRequest) for lookup in _check_type(lookups, tuple)),
        ),
        compared=modify.compared and _guard_body_modifier(modify.compared, name),
        sent=modify.sent and _guard_body_modifier(modify.sent, name),
        first=modify.first
        and _guard_pure(modify.first, name, lambda call: call if call is None else _check_type(call, ActionCall)),
        foretells=modify.foretells and _guard_pure(modify.foretells, name, lambda value: _check_type(value, str)),
        restores=modify.restores and _guard_pure(modify.restores, name, lambda value: _check_type(value, bool)),
    )


def _guard_pure(
    call: Callable[[Subject], _Value], name: str, check: Callable[[_Value], _Value]
) -> Callable[[Subject], _Value]:
    """Guard a function of a subject alone, and check its answer."""

    def guarded(subject: Subject) -> _Value:
        with _blame(name):
            return check(call(subject))

    return guarded


def _guard_body_modifier(modify: BodyModifier, name: str) -> BodyModifier:
    def guarded(body: Mapping[str, Any], subject: Subject) -> Mapping[str, Any]:
        with _blame(name):
            return _check_type(modify(body, subject), Mapping)

    return guarded


def _guard_deleter(delete: Deleter, name: str) -> Deleter:
    async def guarded(subject: Subject, azure: ActsOnAzure, next: NextDelete) -> None:  # noqa: A002 - ASO's word
        own_errors: list[Exception] = []

        async def rest(subject: Subject, azure: ActsOnAzure) -> None:
            with _collect_errors(own_errors):
                await next(subject, azure)

        # A deleter may call actions, whose responses can have secrets.
        with _blame(name, own_errors, is_silent=True):
            await delete(subject, azure, rest)

    return guarded


def _guard_importer(importer: Importer, name: str) -> Importer:
    async def guarded(subject: Subject, next: NextImport) -> tuple[Subject, Imported]:  # noqa: A002 - ASO's word
        own_errors: list[Exception] = []

        async def rest(subject: Subject) -> tuple[Subject, Imported]:
            with _collect_errors(own_errors):
                return await next(subject)

        with _blame(name, own_errors):
            read_subject, answer = _check_type(await importer(subject, rest), tuple)
            return _check_type(read_subject, Subject), _check_type(answer, Imported)

    return guarded


def _guard_secret_exporter(export: SecretExporter, name: str) -> SecretExporter:
    async def guarded(subject: Subject, azure: ActsOnAzure, wanted: frozenset[str]) -> Mapping[str, Secret]:
        with _blame(name, is_silent=True):
            return _check_values(Secret, await export(subject, azure, wanted))

    return guarded


def _guard_config_map_exporter(export: ConfigMapExporter, name: str) -> ConfigMapExporter:
    async def guarded(subject: Subject, azure: ReadsAzure, wanted: frozenset[str]) -> Mapping[str, str]:
        with _blame(name):
            return _check_values(str, await export(subject, azure, wanted))

    return guarded


def _guard_success_handler(succeeded: SuccessHandler, name: str) -> SuccessHandler:
    async def guarded(subject: Subject, azure: ActsOnAzure) -> Mapping[str, str]:
        with _blame(name, is_silent=True):
            return _check_values(str, await succeeded(subject, azure))

    return guarded


def _check_values(wanted: type[_Value], answer: Mapping[str, _Value]) -> Mapping[str, _Value]:
    """The answer, if it is a mapping of texts to what is wanted. Other values are not shown: only their type."""
    for field, value in _check_type(answer, Mapping).items():
        _check_type(field, str)
        _check_type(value, wanted)
    return answer


def _check_type(answer: _Answer, wanted: type) -> _Answer:
    """The answer, if it has the right type: third-party code may not be type-checked."""
    if not isinstance(answer, wanted):
        raise TypeError(f"it returned a {type(answer).__name__}, not a {wanted.__name__}")
    return answer


@contextmanager
def _collect_errors(own_errors: list[Exception]) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # passed on as it is
        own_errors.append(error)
        raise


@contextmanager
def _blame(name: str, own_errors: Collection[Exception] = (), *, is_silent: bool = False) -> Iterator[None]:
    """Attribute exceptions to an extension, except those in `own_errors`."""
    try:
        yield
    # An extension raises these on purpose, with a message for the user.
    except GitsyncError:
        raise
    except Exception as error:  # third-party code may raise anything
        if error in own_errors:
            raise
        # If silent, the error has no text of the exception, which may quote a key of a response.
        how = type(error).__name__ if is_silent else f"{type(error).__name__}: {error}"
        # A cause would be logged, and its text with it.
        raise ExtensionError(
            f"The extension {name!r} failed: {how}.",
            hint="Fix or uninstall its package.",
        ) from (None if is_silent else error)
