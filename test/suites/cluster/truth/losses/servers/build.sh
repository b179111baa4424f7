#!/usr/bin/env bash
# Fills a folder with the servers and their dependencies, for a rehearsal on this machine and for images.
#
#   test/suites/cluster/truth/losses/servers/build.sh FOLDER
#
# Needs Go and npm, and Python with pip or apt-get to install them.
set -euo pipefail

folder=$(realpath "${1:?which folder to fill}")
cd "$(dirname "$0")"

cp -r package.json server.js npm app.py "$folder"
npm install --prefix "$folder" --ignore-scripts --no-audit --no-fund --loglevel=error
(cd go && CGO_ENABLED=0 GOFLAGS=-buildvcs=false go build -trimpath -o "$folder/go-server" .)

python3 -m pip --version >/dev/null 2>&1 || { apt-get -qq update && apt-get -qq install --no-install-recommends python3 python3-pip >/dev/null; }
python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --target "$folder/python" uvicorn==0.38.0
chmod -R a+rX "$folder"
