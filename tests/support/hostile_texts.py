"""Texts that Azure, or who can name something there, may put into a report."""

HOSTILE = {
    "markup": "<script>alert(1)</script><b>rob</b>",
    "a line": "rob\n::error::stop\r\n##vso[task.complete]x",
    "a terminal": "rob\x1b[2J\x1b]0;title\x07\x9b31m",
    "a link": "[rob](https://evil.example/x) <https://evil.example> https://evil.example",
    "a mention": "@contoso/everyone #1 !2",
    "a command": "::error file=a::b ##vso[task.setvariable variable=a]b ##[error]c",
    "direction": "rob\u202emoc.osotnoc\u2066",
    "a table": "rob | x | <!-- | `code` ``` --> </details>",
    "a formula": "=cmd|' /C calc'!A0 {{ 7 * 7 }} {% raw %} ${rob}",
    "a surrogate": "rob\ud800",
    "long": "r" * 10_000,
    "blanks": "   \t ",
}
