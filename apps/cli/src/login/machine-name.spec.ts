import { machineName } from './machine-name.js';

test.each([
  ["Ann's MacBook.local", 'ann-s-macbook'],
  ['web-1.example.org', 'web-1'],
  ['Büro', 'buro'],
  ['\x1b[31mred', '31mred'],
  ['---', 'headgate'],
  ['', 'headgate'],
  ['a'.repeat(80), 'a'.repeat(63)],
])('%j is %s', (hostName, name) => {
  expect(machineName(hostName)).toBe(name);
});
