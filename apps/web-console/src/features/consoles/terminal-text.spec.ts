import { terminalText } from './terminal-text.js';

const screenOf = (lines: readonly (readonly [text: string, isWrapped?: boolean])[]) => {
  const getLine = (index: number) => {
    const [text, isWrapped = false] = lines[index] ?? [''];
    return { isWrapped, translateToString: () => text };
  };
  return { buffer: { active: { length: lines.length, getLine } } } as never;
};

test('joins wrapped lines and drops the empty end of the screen', () =>
  expect(terminalText(screenOf([['login: root'], ['a very long '], ['line', true], ['# '], [''], ['']]))).toBe(
    'login: root\na very long line\n#\n',
  ));
