#!/usr/bin/env bash
# Builds an image, with buildah if it is installed, and otherwise with docker.
#
#   docker/build.sh IMAGE DOCKERFILE CONTEXT [OPTION...]
#
# Each OPTION is passed to the builder. If npm or Node is configured with a registry or certificates on this machine, the build
# gets them as the secrets `npmrc` and `ca`.
#
# All files and the image get one timestamp, so that equal sources make an equal image. The timestamp is
# SOURCE_DATE_EPOCH if it is set, and otherwise the time of the last commit.
set -euo pipefail

image=${1:?the name of the image} dockerfile=${2:?the Dockerfile} context=${3:?the folder that is built from}
shift 3

repository() { git -C "$context" "$@" 2>/dev/null; }
epoch=${SOURCE_DATE_EPOCH:-$(repository log -1 --pretty=%ct || echo 1700000000)}
revision=$(repository rev-parse HEAD || true)
# If the tree has uncommitted changes, the image gets no label with a revision.
[ -z "$(repository status --porcelain -- . || true)" ] || revision=''
label() { arguments+=(--label "org.opencontainers.image.$1=$2"); }

secrets=$(mktemp -d)
trap 'rm -r "$secrets"' EXIT
chmod 700 "$secrets"
# If npm is not installed on this machine, the build uses npm's default registry.
npm_setting() { npm config get "$1" 2>/dev/null || true; }
authorities=$(npm_setting cafile)
[ -f "$authorities" ] || authorities=${NODE_EXTRA_CA_CERTS:-}
registry=$(npm_setting registry)
printf '%s' "${registry:+registry=$registry$'\n'}" >"$secrets/npmrc"
arguments=(--secret "id=npmrc,src=$secrets/npmrc" --tag "$image" --file "$dockerfile")
if [ -f "$authorities" ]; then
  printf 'cafile=/etc/ssl/certs/ca-certificates.crt\n' >>"$secrets/npmrc"
  arguments+=(--secret "id=ca,src=$authorities")
fi
label created "$(date --utc --date="@$epoch" +%Y-%m-%dT%H:%M:%SZ)"
version=$(node --print "JSON.parse(fs.readFileSync(process.argv[1])).version ?? ''" "$context/package.json" 2>/dev/null || true)
[ -z "$version" ] || label version "$version"
[ -z "$revision" ] || label revision "$revision"

if command -v buildah >/dev/null; then
  # Use chroot isolation, which also works on a machine that cannot start containers. Use the Docker image format,
  # because the OCI format has no health check.
  buildah build --isolation chroot --layers --format docker --timestamp "$epoch" "${arguments[@]}" "$@" "$context"
else
  docker build --build-arg "SOURCE_DATE_EPOCH=$epoch" "${arguments[@]}" "$@" "$context"
fi
