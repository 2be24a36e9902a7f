import { KEY_COMBINATIONS, sendCombination } from './key-combinations.js';

test('keys are pressed one after the other and released the other way round', () => {
  const sent: string[] = [];
  const combination = KEY_COMBINATIONS.find(({ label }) => label === 'Ctrl-Alt-F2');
  if (!combination) throw new Error('There is no Ctrl-Alt-F2.');
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

test('no two have the same name', () =>
  expect(new Set(KEY_COMBINATIONS.map(({ label }) => label)).size).toBe(KEY_COMBINATIONS.length));
