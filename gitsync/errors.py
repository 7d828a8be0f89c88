"""The exceptions, and the exit codes of commands.

An expected "no" is a value; an exception means that the caller cannot go on.

GitsyncError                what, where, how to fix it
├── ConfigError             a setting is wrong; nothing was touched                      exit 2
├── SourceError             the source cannot be fetched or read; nothing was touched    exit 2
├── StateError              the state cannot be read, or not be written before the run   exit 2
├── UnsafePlanError         a limit was exceeded; nothing was touched                    exit 2
├── DeclinedError           a person answered no; nothing was touched                    exit 2
├── PublishError            the result of the run could not be written back              exit 1
├── CatalogError            the packed facts are damaged: an internal error              exit 70
├── GitError                git failed; becomes a SourceError, StateError or PublishError
├── ProviderError           the provider of a resource refused, or did not respond; becomes a condition
│   └── ArmError                Azure Resource Manager, or another service with the same HTTP conventions
│       ├── TransportError          no response arrived
│       │   └── AuthorityError          none from the token authority
│       ├── CredentialError         there is no token
│       ├── TokenRefusedError       the token is not accepted
│       ├── PolicyTokenMissingError Azure Policy refuses the write without a policy token
│       └── DeadlineError           the deadline of the resource has passed
├── ExpressionError         an expression of an export does not compile
├── EvaluationError         an expression of an export has no value
├── ExportError             an export cannot be written as its manifest declares it
├── MissingValueError       a value that a manifest refers to does not exist
├── ExtensionError          an extension of another package failed; becomes a condition
│   PermanentError          raised by such an extension; `gitsync.extensions.api` has it for them
└── SecretStoreError        a source or sink of Secrets cannot be read or written
    ├── NotOwnedError           an object there belongs to another owner
    ├── StoreForbiddenError     a 403 without a reason
    ├── StoreNotFoundError      there is no such object
    ├── SecretNameTakenError    a secret of this name exists, or did exist
    ├── DryRunUnsupportedError  a write that the server cannot dry-run
    └── TransientStoreError     a temporary refusal
        └── SecretInTransitionError  the secret is being deleted or recovered

RejectedInputError          one input is not used: it becomes a problem, and the run goes on
├── InvalidExpansionError   a text with ${...} that Flux would not expand
├── TooLargeExpansionError  variables that expand to too many characters
├── TemplateError           a template of an ApplicationSet that cannot be rendered
├── UnusableReferenceError  a reference of a manifest that has no valid form
├── UnexpectedShapeError    an Azure document whose shape does not fit its kind
├── UnfitValueError         a live value that a manifest must not have
├── RefusedListError        a list that Azure refuses to an import
├── UnsafePathError         a path that is not safe to write to, or not safe for Secrets
└── UnknownSizeError        a body that does not specify how much quota it needs

An error that ends with 2 ends with 75 if an outage caused it (`is_outage`): then the same command may succeed later.

The tree omits the control flow of single modules, and `UnbuildableError` and `InvalidFieldError` in
`gitsync.repository.units`, which carry the problem that they become.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Any


class ExitCode(IntEnum):
    """How a command ends (docs/exit-codes.md)."""

    FINE = 0
    FAILED = 1  # something failed, is invalid, or is not Ready by the deadline
    REFUSED = 2  # before any change
    PENDING = 3  # there are changes to make; only with `plan --detailed-exitcode`
    DRIFT = 4  # likewise, and `compare` if it finds a difference
    FAULT = 70  # an internal error
    UNREACHABLE = 75  # as REFUSED, but because a server did not answer: EX_TEMPFAIL of sysexits.h
    HUNG_UP = 129  # stopped by SIGHUP: 128 and the number of the signal, as shells have it
    INTERRUPTED = 130  # by Ctrl-C
    # As shells have it for a program that SIGPIPE ended: the reader of the output, such as `head`, is gone.
    STDOUT_CLOSED = 141
    TERMINATED = 143  # by SIGTERM


SUCCESS = frozenset({ExitCode.FINE, ExitCode.PENDING, ExitCode.DRIFT})
"""Exit codes of runs in which nothing failed."""


class GitsyncError(Exception):
    """A failure that a person can act on: one sentence on what is wrong and where, and one on how to fix it.

    `is_outage`: a server is unreachable or out of order, so the same may succeed later. An error raised from such an
    error has the same cause.
    """

    own_exit_code = ExitCode.FAILED
    is_outage = False

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()

    @property
    def exit_code(self) -> ExitCode:
        """The exit code of a command that this error ends."""
        is_refusal = self.own_exit_code is ExitCode.REFUSED
        return ExitCode.UNREACHABLE if is_refusal and self._comes_from_outage() else self.own_exit_code

    def _comes_from_outage(self) -> bool:
        error: BaseException | None = self
        # An error of a library does not show what it means, so the search ends there.
        while isinstance(error, GitsyncError) and not error.is_outage:
            error = error.__cause__
        return error is not None and isinstance(error, GitsyncError)


class ConfigError(GitsyncError):
    own_exit_code = ExitCode.REFUSED


class SourceError(GitsyncError):
    own_exit_code = ExitCode.REFUSED


class StateError(GitsyncError):
    own_exit_code = ExitCode.REFUSED


class UnsafePlanError(GitsyncError):
    own_exit_code = ExitCode.REFUSED


class DeclinedError(GitsyncError):
    own_exit_code = ExitCode.REFUSED


class PublishError(GitsyncError):
    own_exit_code = ExitCode.FAILED


class CatalogError(GitsyncError):
    own_exit_code = ExitCode.FAULT


class GitError(GitsyncError):
    """git refused or took too long. It does not leave `repository/git/`: callers raise one with its meaning for them.

    `timed_out`: git was killed at its time limit, and another try would take as long.
    """

    def __init__(self, message: str, *, hint: str = "", timed_out: bool = False, is_outage: bool = False) -> None:
        super().__init__(message, hint=hint)
        self.timed_out = timed_out
        self.is_outage = is_outage


class ProviderError(GitsyncError):
    """The provider of a resource refused a request, or never responded.

    `status` is the HTTP status, 0 without a response. `code` is the provider's ("UnknownError" if it gives none;
    docs/reference/arm.md#error-bodies). `outcome_unknown` means that a write may or may not have happened: read before
    writing again. `retry_after` is in seconds. `correlation_id` identifies the operation in Azure's logs.
    """

    def __init__(  # noqa: PLR0913 - a person needs all of it to contact support
        self,
        message: str,
        *,
        status: int = 0,
        code: str = "UnknownError",
        details: tuple[Mapping[str, Any], ...] = (),
        request_id: str = "",
        correlation_id: str = "",
        resource_id: str = "",
        method: str = "",
        at: str = "",
        retry_after: float | None = None,
        outcome_unknown: bool = False,
        hint: str = "",
    ) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.code = code
        self.details = details
        self.request_id = request_id
        self.correlation_id = correlation_id
        self.resource_id = resource_id
        self.method = method
        self.at = at
        self.retry_after = retry_after
        self.outcome_unknown = outcome_unknown
        # A timeout (408) and a throttle (429) pass by themselves, like an error of the server.
        self.is_outage = status in {408, 429} or status >= 500


class ArmError(ProviderError):
    """Azure Resource Manager refused a request, or never responded."""


class TransportError(ArmError):
    """No response arrived.

    `was_sent` is False if the request was certainly not sent. `is_wrong_host` is True if the host's name cannot be
    resolved or its certificate is not trusted: a retry makes sense only if that host has responded before. `is_trusted`
    is False for an untrusted certificate, which no later run changes.
    """

    def __init__(
        self, message: str, *, was_sent: bool, is_wrong_host: bool = False, is_trusted: bool = True, **fields: Any
    ) -> None:
        super().__init__(message, **fields)
        self.was_sent = was_sent
        self.is_wrong_host = is_wrong_host
        self.is_outage = is_trusted


class AuthorityError(TransportError):
    """The authority, or another source of tokens, has no token at the moment; nothing was sent to ARM.

    `has_answered`: it is reachable, so a retry makes sense.
    """

    def __init__(self, message: str, *, has_answered: bool = False, **fields: Any) -> None:
        super().__init__(message, **fields)
        self.has_answered = has_answered


class DeadlineError(ArmError):
    """The session's deadline passed before the request was answered; the request changed nothing."""

    def __init__(self, message: str, **fields: Any) -> None:
        super().__init__(message, **fields)
        # Set again: without a response the status is 0, which does not count as an outage.
        self.is_outage = True


class CredentialError(ArmError):
    """There is no token; nothing was sent to Azure Resource Manager."""


class TokenRefusedError(ArmError):
    """Azure did not accept the token. The next request is sent with a new one."""


class PolicyTokenMissingError(ArmError):
    """Azure Policy refused the write, which has no policy token or one that is not valid; nothing was done.
    `needs_change_reference`: a token is issued only with the reference of the change.
    """

    def __init__(self, message: str, *, needs_change_reference: bool, **fields: Any) -> None:
        super().__init__(message, **fields)
        self.needs_change_reference = needs_change_reference


class ExpressionError(GitsyncError):
    """An expression is not valid, or does not fit the types that it uses; the message has line and column."""


class EvaluationError(GitsyncError):
    """An expression has no value. The message names functions, types and literals of the expression, never a value."""


class ExportError(GitsyncError):
    """An export cannot be written as declared. `is_fatal`: only a change of a manifest, or of the object at the
    destination, can fix it.
    """

    def __init__(self, message: str, *, is_fatal: bool, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.is_fatal = is_fatal


class MissingValueError(GitsyncError):
    """A value that a manifest refers to does not exist or cannot be read. `reason` is that of the condition:
    "SecretNotFound", "ConfigMapNotFound", "ReferenceNotFound" or "Failed"
    (docs/reference/reconciliation.md#missing-values), or "WaitingForValue" (docs/values.md).
    """

    def __init__(self, reason: str, message: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.reason = reason


class ExtensionError(GitsyncError):
    """An extension of another package could not answer."""


class SecretStoreError(GitsyncError):
    """A source or sink could not be read or written: its content is unknown, not absent."""


class NotOwnedError(SecretStoreError):
    """An object has another owner, so it is not written."""


class StoreForbiddenError(SecretStoreError):
    """A 403 whose code does not distinguish a missing right from a disabled secret: some servers do not."""


class StoreNotFoundError(SecretStoreError):
    """The object does not exist; or, when creating one, the namespace."""


class SecretNameTakenError(SecretStoreError):
    """The name is taken (409), possibly by a deleted secret: some servers have no code for that."""


class DryRunUnsupportedError(SecretStoreError):
    """The server cannot dry-run this write: a webhook has side effects."""


class TransientStoreError(SecretStoreError):
    """A temporary refusal: try at most `attempts` times in all, `retry_after` seconds apart, if they are set.
    `is_of_all`: the service is down or overloaded, so it would refuse any other request too.
    """

    def __init__(
        self,
        message: str,
        *,
        attempts: int | None = None,
        retry_after: float | None = None,
        is_of_all: bool = False,
        hint: str = "",
    ) -> None:
        super().__init__(message, hint=hint)
        self.attempts = attempts
        self.retry_after = retry_after
        self.is_of_all = self.is_outage = is_of_all


class SecretInTransitionError(TransientStoreError):
    """A secret of this name is being deleted or recovered."""


class RejectedInputError(Exception):
    """One input is not used. The caller reports why and continues: this ends no run, so it is not a GitsyncError."""


class InvalidExpansionError(RejectedInputError):
    """A text begins an expansion that is not valid. `hint` shows the valid form."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message, self.hint = message, hint


class TooLargeExpansionError(RejectedInputError):
    """Variables expand to more than `MAX_CHARACTERS`."""


class TemplateError(RejectedInputError):
    """A template cannot be rendered. The message begins with the template and gives the reason."""


class UnusableReferenceError(RejectedInputError):
    """An owner, reference, secret or config map has an invalid form: no body can be made."""


class UnexpectedShapeError(RejectedInputError):
    """A document has an unexpected shape. Contains the path and the problem, never the value."""

    def __init__(self, problem: str, path: str = "") -> None:
        super().__init__(f"{path or 'it'} {problem}")
        self.problem = problem
        self.path = path


class UnfitValueError(RejectedInputError):
    """The field does not allow the value."""


class RefusedListError(RejectedInputError):
    """Azure does not offer the list, or not to this identity; see `error`."""

    def __init__(self, path: str, error: ArmError) -> None:
        super().__init__(path)
        self.path = path
        self.error = error


class UnsafePathError(RejectedInputError):
    """A path is not safe to write to, or not safe for secrets: the reason, and a hint."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UnknownSizeError(RejectedInputError):
    """A body does not specify how much of a quota it needs. The text is the field whose value is missing or unknown."""
