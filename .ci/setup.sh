# Sourced by ./run and ./test: says what is missing, installs it by package name, and brings a Node new enough for the page's tools.
# Debian 12 and Ubuntu 24.04; elsewhere it names what to install and stops.

say() { printf '\n== %s\n' "$*"; }
fail() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

packages_toolchain="g++ cmake ninja-build git ca-certificates libhwy-dev"
packages_library="libtbb-dev libcli11-dev nlohmann-json3-dev googletest gnuplot-nox libsqlite3-dev"
packages_wasm="emscripten nodejs"
packages_browser="chromium firefox-esr webkit2gtk-driver xvfb fonts-noto-cjk"

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif command -v sudo >/dev/null; then sudo "$@"
  else fail "root rights are needed to install packages: run as root, or install sudo"
  fi
}

installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# ensure_packages NAME... : installs those that are missing.
ensure_packages() {
  local missing="" name
  command -v dpkg-query >/dev/null || fail "this system has no dpkg; install by hand what these Debian packages hold: $*"
  for name in "$@"; do installed "$name" || missing="$missing $name"; done
  [ -z "$missing" ] && return
  say "Installing with apt-get:$missing"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq || fail "apt-get update failed; see above"
  # shellcheck disable=SC2086
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null ||
    fail "apt-get could not install:$missing"
}

node_is_new_enough() {
  "$1" -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' 2>/dev/null
}

# The page's tools need Node 20.19; a distribution's may be older. The npm package node-linux-* carries the program.
node_for_page=20.20.2
ensure_page_node() {
  if command -v node >/dev/null && node_is_new_enough node && command -v npm >/dev/null; then return; fi
  command -v npm >/dev/null || ensure_packages npm
  local machine tools="$PWD/build/node"
  case "$(uname -m)" in
    x86_64) machine=x64 ;;
    aarch64) machine=arm64 ;;
    *) fail "the page's tools need Node 20.19 or later, and no npm package carries it for $(uname -m): install it by hand" ;;
  esac
  local program="$tools/node_modules/node-linux-$machine/bin"
  if [ ! -x "$program/node" ]; then
    say "Installing with npm into build/node: node-linux-$machine@$node_for_page (the system's Node is $(node --version 2>/dev/null || echo missing), 20.19 is needed)"
    mkdir -p "$tools"
    npm install --silent --no-fund --no-audit --prefix "$tools" "node-linux-$machine@$node_for_page" || fail "npm could not install node-linux-$machine@$node_for_page"
  fi
  node_is_new_enough "$program/node" || fail "build/node holds no working Node; remove the folder and try again"
  PATH="$program:$PATH"
}

ensure_page_modules() {
  [ web/node_modules/.package-lock.json -nt web/package-lock.json ] && return
  say "Installing the page's tools with npm ci into web/node_modules"
  (cd web && npm ci --silent --no-fund --no-audit) || fail "npm ci failed in web; see above"
}

# build_preset PRESET [TARGET], with the tests when build_testing is ON
build_testing=OFF
build_preset() {
  say "Building: cmake --preset $1"
  cmake --preset "$1" -DBUILD_TESTING=$build_testing -Wno-dev --log-level=WARNING >/dev/null || fail "cmake --preset $1 failed; see above"
  cmake --build --preset "$1" --target "${2:-all}" || fail "cmake --build --preset $1 failed; see above"
}

# The modules that the page is made of: whole, in parts, and whole without SIMD.
build_page_modules() { build_preset wasm linearmem_page_modules; }
