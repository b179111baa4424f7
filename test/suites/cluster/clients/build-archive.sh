#!/usr/bin/env bash
# Builds the image with the clients in Go and in Python into an archive. The image has no base: it contains a static
# binary, this machine's Python and the files that Python loads.
#
#   test/suites/cluster/clients/build-archive.sh ARCHIVE
#
# Needs Go, and Python or apt-get to install it.
set -euo pipefail

archive=$(realpath "${1:?where to write the image archive}")
cd "$(dirname "$0")"

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT

CGO_ENABLED=0 GOFLAGS=-buildvcs=false go build -trimpath -o "$folder/client" .
# Leave out the extension modules that no client uses, because they need shared libraries.
bash copy-python.sh "$folder" 'ssl|hashlib|sqlite3|tkinter|curses|readline|dbm|gdbm|ctypes|lzma|bz2|nis|crypt|uuid|test|xx'
cp client.py "$folder/"
cp Dockerfile "$folder/"
chmod -R a+rX "$folder"

bash ../../../../docker/build-archive.sh "$archive" localhost/lameduck-clients:dev "$folder"
