#!/usr/bin/env bash
# Builds the image of the services that do not use lameduck into an archive.
#
#   test/suites/cluster/strangers/build-archive.sh ARCHIVE
set -euo pipefail

archive=$(realpath "${1:?where to write the image archive}")
folder=$(cd "$(dirname "$0")" && pwd)
bash "$folder/../../../../docker/build-archive.sh" "$archive" localhost/lameduck-strangers:dev "$folder"
