#!/usr/bin/env bash
# Builds docker/Dockerfile into one image archive, with buildah where it is installed and with docker elsewhere.
#
#   docker/build-archive.sh ARCHIVE
#
# The registry and the certificates that npm is configured with on this machine reach the build as secrets.
set -euo pipefail

archive=${1:?where to write the image archive}
image=localhost/lameduck-reference-service:dev
cd "$(dirname "$0")/.."

secrets=$(mktemp -d)
trap 'rm -r "$secrets"' EXIT
chmod 700 "$secrets"
npm_setting() { npm config get "$1" 2>/dev/null; }
authorities=$(npm_setting cafile)
printf 'registry=%s\n' "$(npm_setting registry)" >"$secrets/npmrc"
arguments=(--secret "id=npmrc,src=$secrets/npmrc" --tag "$image" --file docker/Dockerfile)
if [ -f "$authorities" ]; then
  printf 'cafile=/etc/ssl/certs/ca-certificates.crt\n' >>"$secrets/npmrc"
  arguments+=(--secret "id=ca,src=$authorities")
fi

rm -f "$archive"
if command -v buildah >/dev/null; then
  # Chroot isolation works where no container can be started; the fixed time stamp makes equal sources an equal image.
  buildah build --isolation chroot --layers --timestamp 1700000000 "${arguments[@]}" .
  buildah push --quiet "$image" "oci-archive:$archive:$image"
else
  docker build "${arguments[@]}" .
  docker save --output "$archive" "$image"
fi
