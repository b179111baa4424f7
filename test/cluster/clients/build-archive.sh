#!/usr/bin/env bash
# Builds the image with the clients on Go and on Python into an archive: a static binary, and this machine's Python with
# what it loads, on nothing.
#
#   test/cluster/clients/build-archive.sh ARCHIVE
#
# Needs Go, and Python or apt-get to install it.
set -euo pipefail

archive=$(realpath "${1:?where to write the image archive}")
cd "$(dirname "$0")"

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT

CGO_ENABLED=0 GOFLAGS=-buildvcs=false go build -trimpath -o "$folder/client" .

[ -x "$(type -P python3)" ] || { apt-get -qq update && apt-get -qq install --no-install-recommends python3 >/dev/null; }
# With everything at the path where it is here, the interpreter finds its library without being told.
python=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')
library=$(python3 -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')
# Without what needs libraries that no client does.
mapfile -t modules < <(find "$library/lib-dynload" -name '*.so' |
  grep --extended-regexp --invert-match '/_?(ssl|hashlib|sqlite3|tkinter|curses|readline|dbm|gdbm|ctypes|lzma|bz2|nis|crypt|uuid|test|xx)[^/]*$')
mapfile -t libraries < <(ldd "$python" "${modules[@]}" | grep --only-matching '/[^ ]*\.so[^ ]*' | grep --invert-match ':$' | sort --unique)
cp --parents --dereference "$python" "${modules[@]}" "${libraries[@]}" "$folder"
(cd "$library" && find . -name '*.py' -not -path './*-packages/*' -not -path './test/*' -not -path './idlelib/*' -print0 |
  tar --create --null --files-from=-) | tar --extract --directory "$(mkdir -p "$folder$library" && echo "$folder$library")"
ln -s "$python" "$folder/python3"
cp client.py "$folder/"
cp Dockerfile "$folder/"
chmod -R a+rX "$folder"

bash ../../../docker/build-archive.sh "$archive" localhost/lameduck-clients:dev "$folder"
