#!/usr/bin/env bash
# Copies this machine's Python into a folder that becomes the root of an image, and links it as /python3.
#
#   test/suites/cluster/clients/copy-python.sh FOLDER [LEFT_OUT]
#
# LEFT_OUT is an extended regular expression for the names of extension modules that are not copied.
#
# Needs Python, or apt-get to install it.
set -euo pipefail

folder=$(realpath "${1:?which folder to fill}")
left_out=${2:-tkinter}

[ -x "$(type -P python3)" ] || { apt-get -qq update && apt-get -qq install --no-install-recommends python3 >/dev/null; }
# Every file keeps its path, so that the interpreter finds its library without a setting.
python=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')
library=$(python3 -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')
mapfile -t modules < <(find "$library/lib-dynload" -name '*.so' |
  grep --extended-regexp --invert-match "/_?($left_out)[^/]*$")
mapfile -t libraries < <(ldd "$python" "${modules[@]}" | grep --only-matching '/[^ ]*\.so[^ ]*' | grep --invert-match ':$' | sort --unique)
cp --parents --dereference "$python" "${modules[@]}" "${libraries[@]}" "$folder"
(cd "$library" && find . -name '*.py' -not -path './*-packages/*' -not -path './test/*' -not -path './idlelib/*' -print0 |
  tar --create --null --files-from=-) | tar --extract --directory "$(mkdir -p "$folder$library" && echo "$folder$library")"
ln -s "$python" "$folder/python3"
