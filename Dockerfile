# syntax=docker/dockerfile:1

# One base for both stages: the environment that the first makes is run by the interpreter of the second.
# Tag and digest are raised together.
ARG BASE=python:3.13-slim@sha256:7c61056e61ac89e852de05f3dc6fa51a6dd2181797bceed46aa725dd7cb2cd3b

FROM ${BASE} AS build
WORKDIR /src
# The environment has no pip of its own: nothing in the final image can install anything.
RUN python -m venv --without-pip /opt/gitsync
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY tools/project_urls.py ./tools/
COPY docs/man ./docs/man
COPY gitsync ./gitsync
# Both places of secrets that need a package more; `--build-arg EXTRAS=` leaves them out.
ARG EXTRAS=keyvault,kubernetes
RUN python -m pip --python /opt/gitsync/bin/python install --no-cache-dir --disable-pip-version-check ".${EXTRAS:+[$EXTRAS]}"

FROM ${BASE}
# git fetches the manifests and writes the status back; the ssh client is what git uses for ssh:// and git@ addresses.
# gpg and ssh-keygen check signatures for --trusted-keys.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates git gpg openssh-client \
    && rm -rf /var/lib/apt/lists/* \
    && python -m pip uninstall --yes --root-user-action=ignore pip \
    && useradd --create-home --uid 10001 gitsync
COPY --from=build /opt/gitsync /opt/gitsync
ENV PATH=/opt/gitsync/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
# A number, so that Kubernetes' runAsNonRoot can see that it is not root.
USER 10001:10001
WORKDIR /home/gitsync
ENTRYPOINT ["gitsync"]
CMD ["--help"]
