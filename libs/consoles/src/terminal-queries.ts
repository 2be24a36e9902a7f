/**
 * The control sequences that a terminal answers, as if its user typed the answer: status, position, attributes, modes,
 * colors, window size. Source: https://invisible-island.net/xterm/ctlseqs/ctlseqs.html
 */
const STRING_END = String.raw`(?:\x07|\x1b\\)`;
const QUERIES = [
  String.raw`\x05`,
  String.raw`\x1bZ`,
  // CSI: device status (n), attributes (c), request mode ($p), window reports (t), parameters (x), version (>q),
  // keyboard (?u).
  String.raw`\x1b\[[?>=]?[0-9;]*[nc]`,
  String.raw`\x1b\[\??[0-9;]*\$p`,
  String.raw`\x1b\[(?:1[13-9]|2[01])(?:;[0-9;]*)?t`,
  String.raw`\x1b\[[01]?x`,
  String.raw`\x1b\[>[0-9]*q`,
  String.raw`\x1b\[\?u`,
  // DCS: request status ($q) and terminfo (+q). OSC: the value of a color or of the clipboard.
  String.raw`\x1bP[$+]q[^\x07\x1b]*${STRING_END}`,
  String.raw`\x1b\][0-9]+;(?:[^\x07\x1b]*;)?\?${STRING_END}`,
].join('|');

const QUERY = new RegExp(QUERIES, 'g');

/**
 * The output without the sequences that a terminal answers: an earlier question of the guest must not be answered
 * again.
 */
export function withoutQueries(output: Buffer): Buffer {
  const text = output.toString('latin1');
  const shown = text.replace(QUERY, '');
  return shown.length === text.length ? output : Buffer.from(shown, 'latin1');
}
