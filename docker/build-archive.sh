#!/usr/bin/env bash
# Builds docker/Dockerfile into one image archive, or another image out of a folder with a Dockerfile of its own. Options go
# to the builder; an empty FOLDER is that of docker/Dockerfile.
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
