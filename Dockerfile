# syntax=docker/dockerfile:1

# One base for all stages: the environment that the first makes is run by the interpreter of the last.
# Tag and digest are raised together.
ARG BASE=python:3.13-slim@sha256:7c61056e61ac89e852de05f3dc6fa51a6dd2181797bceed46aa725dd7cb2cd3b

FROM ${BASE} AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY tools/project_urls.py ./tools/
COPY docs/man ./docs/man
COPY deploy/install.sh ./deploy/
COPY deploy/constraints ./deploy/constraints
COPY gitsync ./gitsync
# Both places of secrets that need a package more, and users of databases; `--build-arg EXTRAS=` leaves them out.
ARG EXTRAS=databases,keyvault,kubernetes
# The environment has no pip of its own: nothing in the final image can install anything.
RUN PYTHON=python deploy/install.sh /opt/gitsync "$EXTRAS"

FROM ${BASE} AS programs
WORKDIR /src
COPY deploy/image ./image
# What renders kustomizations and charts, and decrypts manifests; `--build-arg PROGRAMS=` leaves them out.
ARG PROGRAMS="kustomize helm sops"
ARG TARGETARCH
# hadolint ignore=SC2086
RUN python image/fetch_programs.py image/programs.toml "$TARGETARCH" /programs $PROGRAMS

FROM ${BASE}
# git fetches the manifests and writes the status back; the ssh client is what git uses for ssh:// and git@ addresses.
# gpg and ssh-keygen check signatures for --trusted-keys. PACKAGES are more of Debian's, such as glab, with which
# `gitsync comment` writes to GitLab.
ARG PACKAGES=
# hadolint ignore=SC2086,DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates git gpg openssh-client $PACKAGES \
    && rm -rf /var/lib/apt/lists/* \
    && python -m pip uninstall --yes --root-user-action=ignore pip \
    && useradd --create-home --uid 10001 gitsync
COPY --from=programs /programs /usr/local/bin/
COPY --from=build /opt/gitsync /opt/gitsync
ENV PATH=/opt/gitsync/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
# A number, so that Kubernetes' runAsNonRoot can see that it is not root.
USER 10001:10001
WORKDIR /home/gitsync
ENTRYPOINT ["gitsync"]
CMD ["--help"]
