# Converts the YAML of cloud-config into lines `path<TAB>value`: users.0.name, chpasswd.list.1 …
# Supports block maps and lists, block scalars (one numbered line each, with `path.#` to distinguish them from lists), quotes,
# comments, and single-line flow maps and lists. Does not support anchors, tags and multiple documents.

function trim(text) { sub(/^[ \t]+/, "", text); sub(/[ \t\r]+$/, "", text); return text }

function join(prefix, key) { return prefix == "" ? key : prefix "." key }

function unquote(text,    quote) {
  quote = substr(text, 1, 1)
  if (quote == "'") {
    text = substr(text, 2, length(text) - 2)
    gsub(/''/, "'", text)
  } else if (quote == "\"") {
    text = substr(text, 2, length(text) - 2)
    gsub(/\\"/, "\"", text)
    gsub(/\\\\/, "\\", text)
  }
  return text
}

# Removes a comment that is not inside quotes.
function uncomment(text,    i, c, quote) {
  for (i = 1; i <= length(text); i++) {
    c = substr(text, i, 1)
    if (quote != "") { if (c == quote) quote = "" }
    else if ((c == "'" || c == "\"") && (i == 1 || substr(text, i - 1, 1) ~ /[ [{,:]/)) quote = c
    else if (c == "#" && i > 1 && substr(text, i - 1, 1) ~ /[ \t]/) return trim(substr(text, 1, i - 1))
  }
  return text
}

# The end of the part of `text` that begins at `i`: the next comma, or the closing bracket, of this depth.
function part_end(text, i,    c, quote, depth) {
  for (; i <= length(text); i++) {
    c = substr(text, i, 1)
    if (quote != "") { if (c == quote) quote = "" }
    else if (c == "'" || c == "\"") quote = c
    else if (c == "[" || c == "{") depth++
    else if (c == "]" || c == "}") { if (depth == 0) return i; depth-- }
    else if (c == "," && depth == 0) return i
  }
  return length(text) + 1
}

function emit_flow(path, text,    i, end, count, part, list, colon) {
  list = substr(text, 1, 1) == "["
  for (i = 2; i <= length(text); i = end + 1) {
    end = part_end(text, i)
    part = trim(substr(text, i, end - i))
    if (part == "") continue
    if (list) emit(join(path, count++ + 0), part)
    else if (colon = index(part, ":")) emit(join(path, unquote(trim(substr(part, 1, colon - 1)))), trim(substr(part, colon + 1)))
  }
}

function emit(path, text) {
  text = trim(uncomment(text))
  if (text ~ /^[[{]/) { emit_flow(path, text); return }
  if (text == "~" || text == "null") text = ""
  print path "\t" unquote(text)
}

function push(indent, list) {
  depth++
  indents[depth] = indent
  lists[depth] = list
  prefixes[depth] = pending
  counts[depth] = 0
}

function take(indent, text,    item, rest, column, key, path) {
  item = text == "-" || text ~ /^- /
  # A list may have the indentation of its key; then the next key ends it.
  while (depth > 0 && (indents[depth] > indent || (indents[depth] == indent && lists[depth] && !item))) depth--
  if (item) {
    if (!(depth > 0 && indents[depth] == indent && lists[depth])) push(indent, 1)
    path = join(prefixes[depth], counts[depth]++)
    pending = path
    rest = substr(text, 2)
    match(rest, /^ */)
    if (trim(rest) == "") return
    column = indent + 1 + RLENGTH
    rest = trim(rest)
    if (rest ~ /^- / || rest ~ /^("[^"]*"|'[^']*'|[A-Za-z0-9_.-]+):( |$)/) { take(column, rest); return }
    scalar(path, indent, rest)
    return
  }
  if (!match(text, /^("[^"]*"|'[^']*'|[A-Za-z0-9_.-]+) *:( |$)/)) return
  if (!(depth > 0 && indents[depth] == indent && !lists[depth])) push(indent, 0)
  # RLENGTH covers the key, its colon and the blank behind it.
  key = substr(text, 1, RLENGTH)
  rest = trim(uncomment(" " trim(substr(text, RLENGTH + 1))))
  sub(/ *: ?$/, "", key)
  key = unquote(key)
  path = join(prefixes[depth], key)
  if (rest == "") { pending = path; return }
  scalar(path, indent, rest)
}

function scalar(path, indent, text) {
  if (text ~ /^[|>][-+0-9]*( #.*)?$/) { block = path; block_indent = indent; block_at = -1; block_count = 0; print path ".#\tblock" }
  else emit(path, text)
}

{
  sub(/\r$/, "")
  match($0, /^ */)
  indent = RLENGTH
  text = trim($0)
  if (block != "") {
    if (text == "") next
    if (indent > block_indent) {
      if (block_at < 0) block_at = indent
      print block "." block_count++ "\t" substr($0, block_at + 1)
      next
    }
    block = ""
  }
  if (text == "" || text ~ /^#/ || text == "---") next
  take(indent, text)
}
