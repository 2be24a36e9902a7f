import { Readable } from 'node:stream';
import { boundedLines, TOO_LONG } from './bounded-lines.js';

async function read(stream: Readable, maxBytes = 5): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of boundedLines(stream, maxBytes)) lines.push(line === TOO_LONG ? 'too long' : line.toString());
  return lines;
}

describe('bounded lines', () => {
  test.each<[string, string[], unknown[]]>([
    ['split in any place', ['a', 'b\nc', '\n\nd', 'e\n'], ['ab', 'c', '', 'de']],
    ['without a last line feed', ['a\nb'], ['a', 'b']],
    ['none', [], []],
    ['of the greatest length', ['12345\n12', '345'], ['12345', '12345']],
    [
      'that are too long, in one part and in several',
      ['123456\na\n', '123', '456', '789\nb\n1234567'],
      ['too long', 'a', 'too long', 'b', 'too long'],
    ],
    ['with other separators inside', ['\u2028b\r\n'], ['\u2028b\r']],
  ])('are read %s', async (_what, parts, lines) => {
    expect(await read(Readable.from(parts))).toEqual(lines);
  });

  test('keep no bytes of a line that is too long', async () => {
    const parts = function* () {
      for (let index = 0; index < 20_000; index++) yield Buffer.alloc(16_384, 'x');
      yield Buffer.from('\nend\n');
    };
    expect(await read(Readable.from(parts()))).toEqual(['too long', 'end']);
  });
});
