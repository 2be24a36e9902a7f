import { MAX_LINE_CHARS, plainLine } from './plain-line.js';

describe('a line of a log', () => {
  test.each([
    ['colors', '\u001b[1;31merror\u001b[0m: no space', 'error: no space'],
    ['the clearing of a screen', '\u001b[2J\u001b[Hhello', 'hello'],
    ['a title', '\u001b]0;root@host\u0007prompt', 'prompt'],
    ['a link', '\u001b]8;;https://evil.example\u001b\\click\u001b]8;;\u001b\\', 'click'],
    ['a title without an end', '\u001b]0;hidden text', '0;hidden text'],
    ['a progress', ' 10%\r 50%\r100%', '100%'],
    ['the end of a line of Windows', 'done\r', 'done'],
    ['text from right to left', 'user\u202egnp.exe', 'usergnp.exe'],
    ['invisible characters', 'a\u200bb\u0000c\u0008d', 'abcd'],
    ['a tab', 'a\tb', 'a\tb'],
    ['HTML', '<img src=x onerror=alert(1)>', '<img src=x onerror=alert(1)>'],
    ['half of a pair', 'a\ud800b', 'ab'],
    ['other scripts', 'häßlich 日本語 🙂', 'häßlich 日本語 🙂'],
  ])('loses what would execute, with %s', (_what, line, shown) => {
    expect(plainLine(line)).toBe(shown);
  });

  test('is cut when it is long, with the number of the other characters', () => {
    const line = plainLine('x'.repeat(MAX_LINE_CHARS + 12_345));
    expect(line).toHaveLength(MAX_LINE_CHARS + '… (12,345 more characters)'.length);
    expect(line.endsWith('… (12,345 more characters)')).toBe(true);
  });

  test('is read in a time that grows with its length only', () => {
    const before = process.cpuUsage();
    for (const part of ['\u001b]', '\u001b[', '\u001b]x\u001b', '\r', '\u001b[1'])
      plainLine(`${part.repeat(200_000)}x`);
    // It took 12 seconds when it grew with the square. A busy machine makes the test longer, but takes no more of this.
    expect(process.cpuUsage(before).user / 1e6).toBeLessThan(6);
  });
});
