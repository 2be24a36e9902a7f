import { withoutQueries } from './terminal-queries.js';

const shown = (text: string): string => withoutQueries(Buffer.from(text, 'latin1')).toString('latin1');

describe('withoutQueries', () => {
  test.each([
    ['the cursor position', '\x1b[6n'],
    ['the device status', '\x1b[5n'],
    ['the extended cursor position', '\x1b[?6n'],
    ['the device attributes', '\x1b[c'],
    ['the device attributes with a parameter', '\x1b[0c'],
    ['the secondary attributes', '\x1b[>c'],
    ['the tertiary attributes', '\x1b[=0c'],
    ['the terminal identification', '\x1bZ'],
    ['the answerback', '\x05'],
    ['a mode', '\x1b[?2026$p'],
    ['the size in characters', '\x1b[18t'],
    ['the title', '\x1b[21t'],
    ['the terminal parameters', '\x1b[1x'],
    ['the version', '\x1b[>0q'],
    ['the keyboard protocol', '\x1b[?u'],
    ['a setting', '\x1bP$qm\x1b\\'],
    ['a terminfo entry', '\x1bP+q544e\x1b\\'],
    ['the background color', '\x1b]11;?\x07'],
    ['a palette color', '\x1b]4;1;?\x1b\\'],
    ['the clipboard', '\x1b]52;c;?\x07'],
  ])('removes the query for %s', (_what, query) => {
    expect(shown(`boot${query}login: ${query}`)).toBe('bootlogin: ');
  });

  test('keeps text, colors, cursor movement, titles and window operations', () => {
    const output =
      'caf\xe9 \x1b[1;31mred\x1b[0m\x1b[2J\x1b[H\x1b[10;5H\x1b[?25l\x1b]0;why?\x07\x1b]11;#000000\x07\x1b[8;24;80t\x1b[22;0t\x1b(B\x1b7';
    expect(shown(output)).toBe(output);
  });

  test('keeps binary output that has no query as it is', () => {
    const output = Buffer.from(Array.from({ length: 256 }, (_none, value) => value).filter((value) => value !== 5));
    expect(withoutQueries(output)).toBe(output);
  });
});
