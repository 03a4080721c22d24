# Sourced by ./isleway and ./test: finds what is missing, installs it after saying so, and
# builds. All messages go to stderr, so that the programs' own output stays clean.

say() { printf 'isleway: %s\n' "$*" >&2; }

missing_packages() {
  local package file
  while read -r package file; do
    case $package in '' | '#'*) continue ;; esac
    [ -e "$file" ] || printf '%s ' "$package"
  done < "$root/tools/packages.txt"
}

install_missing() {
  local missing sudo=()
  missing=$(missing_packages)
  [ -n "$missing" ] || return 0
  if ! command -v apt-get > /dev/null; then
    say "needs the equivalents of these Debian packages: $missing"
    say "install them with your system's package manager, then run this again."
    return 1
  fi
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo > /dev/null; then
      say "needs packages, and neither root nor sudo is there to install them. As root, run:"
      say "  apt-get update && apt-get install -y $missing"
      return 1
    fi
    sudo=(sudo)
  fi
  say "installing from your distribution: $missing"
  # A container's package lists are usually empty, and old ones name versions that are gone.
  # shellcheck disable=SC2086
  if ! { "${sudo[@]}" apt-get update -qq &&
         "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
           apt-get install -y -qq --no-install-recommends $missing; } > /dev/null; then
    say "apt-get failed; see its messages above."
    return 1
  fi
}

# The commit that is checked out, read without starting a process; empty outside of git.
checked_out_commit() {
  local head=
  [ -r "$root/.git/HEAD" ] && read -r head < "$root/.git/HEAD"
  case $head in
    'ref: '*)
      local ref=${head#ref: }
      head=
      [ -r "$root/.git/$ref" ] && read -r head < "$root/.git/$ref"
      ;;
  esac
  printf '%s' "$head"
}

# build PRESET TARGET...: configures when needed and builds; prints the log only when it fails.
build() {
  local preset=$1 log=$root/build/build.log
  shift
  mkdir -p "$root/build"
  (
    # Two first runs at once build once.
    command -v flock > /dev/null && flock 9
    cd "$root" && { [ -f "build/$preset/build.ninja" ] || cmake --preset "$preset"; } &&
      ninja -C "build/$preset" "$@"
  ) > "$log" 2>&1 9> "$root/build/lock" || {
    tail -n 40 "$log" >&2
    say "the build failed; the whole log is in $log"
    return 1
  }
}
