"""`python -m gitsync`: the command line."""


def main() -> None:
    from gitsync.cli.main import run

    raise SystemExit(run())


if __name__ == "__main__":
    main()
