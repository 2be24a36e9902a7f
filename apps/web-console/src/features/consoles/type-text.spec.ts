import { keyStrokes } from './keysyms.js';
import { typeText } from './type-text.js';

test.each([
  ['a', 0x61, false],
  ['A', 0x41, true],
  ['!', 0x21, true],
  ['/', 0x2f, false],
  ['é', 0xe9, false],
  ['€', 0x0100_20ac, false],
  ['\n', 0xff0d, false],
  ['\t', 0xff09, false],
])('"%s" is the key %d', (text, keysym, shift) => expect(keyStrokes(text)).toEqual([{ keysym, shift }]));

test('every kind of line break becomes one Return', () => {
  expect(keyStrokes('a\r\nb\rc').map(({ keysym }) => keysym)).toEqual([0x61, 0xff0d, 0x62, 0xff0d, 0x63]);
});

describe('typeText', () => {
  const typed: [number, boolean | undefined][] = [];
  const keyboard = {
    sendKey: (keysym: number, _code: string | null, down?: boolean) => void typed.push([keysym, down]),
  };
  beforeEach(() => typed.splice(0));

  test('holds Shift for capital letters', async () => {
    await typeText(keyboard, 'aB', new AbortController().signal, () => Promise.resolve());
    expect(typed).toEqual([
      [0x61, undefined],
      [0xffe1, true],
      [0x42, undefined],
      [0xffe1, false],
    ]);
  });

  test('stops when it is aborted', async () => {
    const stop = new AbortController();
    await typeText(keyboard, 'abc', stop.signal, () => {
      stop.abort();
      return Promise.resolve();
    });
    expect(typed).toEqual([[0x61, undefined]]);
  });
});
