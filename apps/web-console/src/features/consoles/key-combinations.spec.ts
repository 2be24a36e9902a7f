import { KEY_COMBINATIONS, sendCombination } from './key-combinations.js';

test('presses keys in order and releases them in reverse order', () => {
  const sent: string[] = [];
  const combination = KEY_COMBINATIONS.find(({ label }) => label === 'Ctrl+Alt+F2');
  if (!combination) throw new Error('Ctrl+Alt+F2 is missing.');
  sendCombination(
    { sendKey: (keysym, code, down) => sent.push(`${code} ${keysym.toString(16)} ${down}`) },
    combination,
  );
  expect(sent).toEqual([
    'ControlLeft ffe3 true',
    'AltLeft ffe9 true',
    'F2 ffbf true',
    'F2 ffbf false',
    'AltLeft ffe9 false',
    'ControlLeft ffe3 false',
  ]);
});

test('has unique labels', () =>
  expect(new Set(KEY_COMBINATIONS.map(({ label }) => label)).size).toBe(KEY_COMBINATIONS.length));
