#!/usr/bin/env bash
# Builds an image into an archive: docker/Dockerfile by default, or the Dockerfile in FOLDER. Each OPTION is passed to the builder.
# An empty FOLDER means docker/Dockerfile.
#
#   docker/build-archive.sh ARCHIVE [IMAGE FOLDER [OPTION...]]
set -euo pipefail

archive=${1:?where to write the image archive}
image=${2:-localhost/lameduck-reference-service:dev}
here=$(dirname "$0")
context=${3:-$here/..}

bash "$here/build.sh" "$image" "${3:-$here}/Dockerfile" "$context" "${@:4}"
rm -f "$archive"
if command -v buildah >/dev/null; then
  buildah push --quiet "$image" "oci-archive:$archive:$image"
else
  docker save --output "$archive" "$image"
fi
