#!/usr/bin/env bash
# Builds one of the two images of the servers into an archive, from the folder that build.sh has filled.
#
#   test/suites/cluster/truth/losses/servers/build-archive.sh ARCHIVE SERVERS node|python
set -euo pipefail

archive=$(realpath "${1:?where to write the image archive}") servers=${2:?the folder of the servers} kind=${3:?node or python}
cd "$(dirname "$0")"

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT

case $kind in
  node)
    cp -r "$servers/." Dockerfile "$folder"
    rm -r "$folder/python"
    ;;
  python)
    bash ../../../clients/copy-python.sh "$folder"
    mkdir "$folder/servers"
    cp -r "$servers/app.py" "$servers/python" "$folder/servers"
    cp python.Dockerfile "$folder/Dockerfile"
    ;;
esac
chmod -R a+rX "$folder"
bash ../../../../../../docker/build-archive.sh "$archive" "localhost/lameduck-servers-$kind:dev" "$folder"
