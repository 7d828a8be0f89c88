"""What is wrong with secrets and expressions, by the command: exit code, what, where, how to fix it, and no value.

Nothing is half exported: where one export of a resource cannot be made or written, none of them is.
"""

from __future__ import annotations

import json
import re

import pytest

from tests.support import private_ca
from tests.support.command_line import azure, in_background
from tests.support.fake_key_vault import FakeKeyVault, Fault
from tests.support.secret_estate import AT_ONCE, GROUP, Estate, account, account_id, secret, server, server_id

KEY_1 = "secrets: {key1: {name: lake, key: first}}"
FOLDER = ("--export-to", "status,folder", "--export-folder", "../out")
VALUE = "Marker-Pa55-word"


@pytest.fixture
def estate(tmp_path):
    with azure(operations=AT_ONCE) as served:
        yield Estate(tmp_path, served)


@pytest.fixture(scope="module")
def ca(tmp_path_factory):
    return private_ca.make(tmp_path_factory.mktemp("ca"))


def config_map(value, key="key: k, "):
    return f"configMapExpressions: [{{name: c, {key}value: '{value}'}}]"


def secret_expression(value, more="key: k, "):
    return f"secretExpressions: [{{name: s, {more}value: '{value}'}}]"


def with_own_objects(name, exports):
    """Two resources may not export to one object."""
    return exports.replace("{name: c,", f"{{name: c-{name},").replace("{name: s,", f"{{name: s-{name},")


UNFIT = {
    "syntax": (config_map("self.status.id +"), "<input>:1:17: Syntax error", "it does not compile"),
    "overload": (
        config_map("self.status.id + 10"),
        "found no matching overload for '_+_' applied to '(string, int)'",
        "its types do not fit",
    ),
    "field": (config_map("self.status.idd"), "Did you mean 'id'?", "there is no such field"),
    "variable": (config_map("slef.spec"), "Did you mean 'self'?", "there is no such variable"),
    "keyless": (config_map("self.status.id", ""), "must specify destination 'key'", "a text goes under a key"),
    "keyed": (secret_expression('{"a": secret.key1}'), "must not specify destination 'key'", "a map brings its keys"),
    "number": (config_map("1 + 1"), "must return one of [string,map(string, string)], but was int", "no text"),
    "unknown": (secret_expression("secret.unknown"), "uses secret.unknown, which StorageAccount", "no such secret"),
    "shown": (config_map("secret.key1"), "Move the expression to secretExpressions", "it would show a secret"),
    "label": (
        secret_expression('"x"', 'key: k, labels: {a: "1"}, '),
        "must return one of [string], but was int",
        "a label is text",
    ),
    "deep": (config_map("(" * 40 + "1" + ")" * 40), "nested deeper than 32 levels", "it would exhaust the reader"),
    "twice": (
        "secrets: {key1: {name: x, key: k}, key2: {name: x, key: k}}",
        'cannot write more than one secret to destination Name: "x", Key: "k".',
        "one of them would be lost",
    ),
    "name": ("secrets: {key1: {name: ../../etc/passwd, key: k}}", "key1.name '../../etc/passwd' is not", "leads away"),
    "key": ("secrets: {key1: {name: a, key: ../../etc/passwd}}", "key1.key '../../etc/passwd' is not", "leads away"),
}


@pytest.fixture(scope="module")
def unfit(tmp_path_factory):
    """What validate and sync report of all of them, one account each, and whether anything was exported."""
    with azure(operations=AT_ONCE) as served:
        estate = Estate(tmp_path_factory.mktemp("unfit"), served)
        accounts = {
            name: account(with_own_objects(name, exports)).replace("name: lake", f"name: {name}")
            for name, (exports, *_) in UNFIT.items()
        }
        estate.says(group=GROUP, fine=account(KEY_1), **accounts)
        yield (
            estate.run("validate", "--output", "json"),
            estate.run("sync", "--output", "json", *FOLDER),
            served.sent("PUT", "POST"),
            estate.files("out"),
        )


@pytest.mark.parametrize("name", UNFIT)
def test_what_cannot_be_exported_is_reported_with_its_location_before_the_first_request(unfit, name):
    _, words, why = UNFIT[name]
    for ended in unfit[:2]:
        assert ended.code == 1
        problems = json.loads(ended.out)["problems"]
        (problem,) = [problem for problem in problems if problem["path"] == f"{name}.yaml"]
        assert words in f"{problem['message']} {problem['hint']}", why
        assert (problem["severity"], problem["line"]) == ("error", 10)
        assert problem["field"].startswith("spec.operatorSpec.")


def test_what_is_unfit_is_not_made_and_all_else_is(unfit):
    validated, synced, sent, files = unfit
    assert {problem["path"] for problem in json.loads(validated.out)["problems"]} == {f"{name}.yaml" for name in UNFIT}
    verdicts = {resource["name"]: resource["verdict"] for resource in json.loads(synced.out)["resources"]}
    assert verdicts == {"core": "create", "lake": "create", **dict.fromkeys(UNFIT, "invalid")}
    assert [path for _, path, _ in sent] == [
        account_id().split("/providers")[0],
        account_id(),
        f"{account_id()}/listKeys",
    ]
    assert [name for name in files if not name.startswith(".")] == [
        "secrets/default/lake/.gitsync.json",
        "secrets/default/lake/first",
    ]


NINE = "[1,2,3,4,5,6,7,8,9].map({name}, {inner})"


def nested(names: str) -> str:
    """As many maps in one another as there are names."""
    inner = "1"
    for name in names:
        inner = NINE.format(name=name, inner=inner)
    return f"string({inner}.size())"


FAILS_LATE = [
    ('{"../../x": secret.key1}', "", "its key '../../x' is not made of letters", "a key that leads away"),
    ("self.spec.accessTier", "key: k, ", "gives an empty string", "nothing to write"),
    ('self.spec.tags["absent"]', "key: k, ", "no such key: absent", "it is not there"),
    (
        nested("abcdef"),
        "key: k, ",
        "takes too many steps",
        "half a million steps, which no engine of a batch job need take",
    ),
]


def test_what_fails_only_when_it_is_worked_out_exports_nothing_of_the_resource(estate):
    """One account for each row."""
    accounts = {}
    for number, (value, more, *_) in enumerate(FAILS_LATE):
        objects = f"secrets: {{key1: {{name: lake-{number}, key: first}}}}\n"
        objects += f"configMaps: {{blobEndpoint: {{name: where-{number}, key: blob}}}}\n"
        exports = objects + with_own_objects(str(number), secret_expression(value, more))
        accounts[f"lake{number}"] = account(exports).replace("{name: lake}", f"{{name: lake{number}}}")
    ended = estate.says(group=GROUP, **accounts).run("sync", *FOLDER)
    assert ended.code == 1
    for number, (_, _, words, why) in enumerate(FAILS_LATE):
        told = ended.out.partition(f"StorageAccount/lake{number} ")[2].partition("StorageAccount/")[0]
        assert words in told, why
    assert [name for name in estate.files("out") if not name.startswith(".")] == []
    assert not (estate.outside / "state/default/ConfigMap").exists()


def spoiled(estate, name):
    folder = estate.location("out")
    if name == "folder":
        folder.chmod(0o755)
    elif name == "inside":
        (folder / "secrets").mkdir(mode=0o750)
    elif name == "file":
        (estate.outside / ".env").touch(mode=0o644)
        (estate.outside / ".env").chmod(0o644)
    else:
        folder.rmdir()
        folder.symlink_to(estate.location("elsewhere"))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("folder", "out has the mode 0755: other users can read or write secrets.\nRun `chmod 700 "),
        ("inside", "out/secrets has the mode 0750"),
        ("file", ".env has the mode 0644: other users can read or write secrets.\nRun `chmod 600 "),
        ("link", "out is a symbolic link"),
    ],
)
def test_a_folder_that_others_may_enter_refuses_the_run(estate, name, words):
    spoiled(estate, name)
    sinks = ("--export-to", "folder,dotenv", "--export-folder", "../out", "--export-dotenv", "../.env")
    ended = estate.says(group=GROUP, account=account(KEY_1)).run("sync", *sinks)
    assert (ended.code, ended.out) == (2, "")
    assert words in ended.err
    assert estate.azure.sent("PUT", "POST") == []
    assert VALUE not in ended.err


def test_what_two_keys_of_one_resource_share_in_a_sink_is_written_to_none(estate):
    exports = "secrets: {key1: {name: a, key: b-c}, key2: {name: a-b, key: c}}"
    sinks = ("--export-to", "folder,dotenv", "--export-folder", "../out", "--export-dotenv", "../.env")
    ended = estate.says(group=GROUP, account=account(exports)).run("sync", *sinks)
    assert ended.code == 1
    assert (
        "c of Secret default/a-b would be DEFAULT_A_B_C in ../.env, which Secret default/a sets already." in ended.out
    )
    assert "Rename one of them, or export to a folder" in ended.out
    assert [name for name in estate.files("out") if not name.startswith(".")] == []
    assert not (estate.outside / ".env").exists()


def changed_by_hand(sealed: bytes) -> bytes:
    return sealed.replace(b"name: db", b"name: db\n  labels: {a: b}")


@pytest.mark.parametrize(
    ("change", "with_sops", "key", "words", "why"),
    [
        (bytes, True, "", "sealed.yaml cannot be decrypted: sops reported", "there is no key"),
        (bytes, True, "AGE-SECRET-KEY-1ABC", "Set the key, for example in SOPS_AGE_KEY", "another key"),
        (changed_by_hand, True, "AGE-SECRET-KEY-1XYZ", "MAC mismatch", "somebody changed it since"),
        (bytes, False, "AGE-SECRET-KEY-1XYZ", "but sops is not installed", "no program"),
    ],
)
def test_a_file_that_cannot_be_decrypted_stops_only_what_needs_it(estate, change, with_sops, key, words, why):
    sealed = change(estate.sops.encrypted(secret("db", VALUE)))
    estate.says(group=GROUP, sealed=sealed, server=server("one", "db"), account=account(KEY_1))
    assert estate.run("validate", with_sops=with_sops).code == 0, "which decrypts nothing"
    ended = estate.run("sync", *FOLDER, with_sops=with_sops, SOPS_AGE_KEY=key)
    assert ended.code == 1, why
    assert words in ended.out, why
    assert re.search(r"Waiting \(1\)\n +FlexibleServer/one ", ended.out)
    assert {path for _, path, _ in estate.azure.sent("PUT")} == {server_id("one").split("/providers")[0], account_id()}
    assert VALUE not in ended.out + ended.err
    assert key not in ended.out + ended.err or not key


def test_no_variable_but_those_for_secrets_can_be_had_by_a_manifest(estate):
    """Neither one of the run's own secrets, by whatever name, nor one that stands for another Secret."""
    servers = {
        "asks-a": server("asks-a", "git", "token"),
        "asks-b": server("asks-b", "client", "secret"),
        "asks-c": server("asks-c", "db"),
        "asks-d": server("asks-d", "gitsync-secret-default-db"),
    }
    variables = dict.fromkeys(
        (
            "GITSYNC_GIT_TOKEN",
            "GITSYNC_DIGEST_KEY",
            "AZURE_CLIENT_SECRET",
            "DEFAULT_DB_PASSWORD",
            "GITSYNC_DEFAULT_DB_PASSWORD",
            "GITSYNC_SECRET_OTHER_DB_PASSWORD",
            "GITSYNC_SECRET_DB_PASSWORD",
        ),
        VALUE * 3,
    )
    ended = estate.says(group=GROUP, **servers).run("sync", "--secret-sources", "environment", **variables)
    assert ended.code == 1
    assert ended.out.count("SecretNotFound") == len(servers)
    assert [path for _, path, _ in estate.azure.sent("PUT")] == [server_id("asks-a").split("/providers")[0]]
    assert VALUE not in ended.out + ended.err


@pytest.mark.parametrize(
    ("line", "code", "words", "why"),
    [
        (("GET", "/secrets"), 2, "refused to list its secrets (403 ForbiddenByRbac)", "told before the run"),
        (
            ("GET", "/secrets/default--db--password"),
            1,
            "Grant the identity the role `Key Vault Secrets User`",
            "a source",
        ),
        (("PUT", "/secrets/default--lake--first"), 1, "the role `Key Vault Secrets Officer`", "a sink"),
        (("PUT", "/secrets/default--pond--second"), 1, "the role `Key Vault Secrets Officer`", "when one is written"),
    ],
)
def test_a_key_vault_that_answers_403(estate, ca, line, code, words, why):
    exports = "secrets: {key1: {name: lake, key: first}, key2: {name: pond, key: second}}"
    consumer = server("two", "pond", "second")
    estate.says(group=GROUP, account=account(exports), one=server("one", "db"), two=consumer)
    with in_background(FakeKeyVault(ca.tls)) as vault:
        vault.make("default--db--password", VALUE)
        vault.fail(*line, *[Fault(403, "ForbiddenByRbac")] * 3)
        arguments = ("--secret-sources", "key-vault", "--export-to", "key-vault", "--key-vault", vault.url)
        ended = estate.run("sync", *arguments, "--ca-bundle", str(ca.bundle))
        assert ended.code == code, ended.out + ended.err
        assert words in ended.out + ended.err, why
        assert VALUE not in ended.out + ended.err
        if code == 2:
            assert estate.azure.sent("PUT", "POST") == []
        if line[0] == "PUT":
            assert re.search(r"FlexibleServer/two +blocked", ended.out), "who needs the export waits"
            assert "default--pond--second" not in vault.values
        vault.forgive()
        assert estate.run("sync", *arguments, "--ca-bundle", str(ca.bundle)).code == 0, "the next run makes it whole"
        assert set(vault.values) == {"default--db--password", "default--lake--first", "default--pond--second"}
