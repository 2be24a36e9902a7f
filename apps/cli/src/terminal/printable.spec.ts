import { parse } from 'yaml';
import { toYaml } from './output.js';
import { escapeInJson, printable, printableLines } from './printable.js';
import { formatTable } from './table.js';

/** Each of these changes what a terminal shows, or what it does. */
const ATTACKS = [
  ['an escape that clears the screen', 'a\x1b[2Jb', 'a\\x1b[2Jb'],
  ['an escape that sets the title', '\x1b]0;evil\x07', '\\x1b]0;evil\\x07'],
  ['a control sequence with one character', 'a\x9b31mb', 'a\\x9b31mb'],
  ['a carriage return over the line', 'safe\revil', 'safe\\x0devil'],
  ['a line that looks like another row', 'a\nvm-2  Running', 'a\\x0avm-2  Running'],
  ['backspaces', 'abc\b\b', 'abc\\x08\\x08'],
  ['a direction override', 'exe\u202etxt', 'exe\\u{202e}txt'],
  ['isolates', '\u2066a\u2069', '\\u{2066}a\\u{2069}'],
  ['characters without a width', 'we\u200bb\ufeff', 'we\\u{200b}b\\u{feff}'],
  ['tags', 'a\u{e0041}', 'a\\u{e0041}'],
  ['a line separator', 'a\u2028b', 'a\\u{2028}b'],
  ['a lone surrogate', 'a\ud800', 'a\\u{d800}'],
] as const;

describe('texts of the service', () => {
  test.each(ATTACKS)('show the code of %s', (_what, text, shown) => {
    expect(printable(text)).toBe(shown);
    expect(formatTable([{ text }], [{ title: 'T', of: (row) => row.text }])).toBe(`T\n${shown}\n`);
  });

  test.each(ATTACKS)('keep the value of %s in JSON and YAML, as an escape', async (_what, text) => {
    const value = { [text]: text, list: [text, 'plain: 1', 'true'] };
    const json = escapeInJson(JSON.stringify(value));
    expect(json).toMatch(/^[\n\x20-\x7e]*$/);
    expect(JSON.parse(json)).toEqual(value);
    // YAML has no lone surrogates.
    if (!text.isWellFormed()) return;
    const yaml = await toYaml(value);
    expect(yaml).toMatch(/^[\n\x20-\x7e]*$/);
    expect(parse(yaml)).toEqual(value);
  });

  test('keep lines and tabs of a log, and characters of any language', () => {
    expect(printableLines('één\t二\r\nдва\x1b[0m\n')).toBe('één\t二\nдва\\x1b[0m\n');
    expect(printable('één 二 два 🙂')).toBe('één 二 два 🙂');
  });

  test('are aligned by the shown characters, with "-" for nothing', () => {
    const columns = [
      { title: 'NAME', of: (row: { name: string }) => row.name },
      { title: 'NODE', of: () => undefined },
      { title: 'WIDE', of: () => 'w', isWide: true },
    ];
    expect(formatTable([{ name: 'a\x1b' }, { name: 'b' }], columns)).toBe('NAME   NODE\na\\x1b  -\nb      -\n');
    expect(formatTable([{ name: 'a' }], columns, true)).toBe('NAME  NODE  WIDE\na     -     w\n');
  });
});
