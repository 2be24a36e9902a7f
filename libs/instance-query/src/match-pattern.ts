/**
 * A test for a pattern in which `*` is any text. Takes each part at its first place, so that the effort grows with the
 * length of the text and not with the number of wildcards, as a regular expression's would.
 * @param pattern in lower case, as the texts
 */
export function matchPattern(pattern: string): (text: string) => boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return (text) => text === pattern;
  const parts = rest.filter((part) => part !== '');
  const fewest = first.length + last.length;
  return (text) => {
    if (text.length < fewest || !text.startsWith(first) || !text.endsWith(last)) return false;
    let from = first.length;
    for (const part of parts) {
      const found = text.indexOf(part, from);
      if (found < 0) return false;
      from = found + part.length;
    }
    return from <= text.length - last.length;
  };
}
