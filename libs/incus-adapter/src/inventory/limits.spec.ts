import { cpusOf, formatLimit, memoryOf } from './limits.js';

const HOST = { cpus: 8, memoryBytes: 16 * 2 ** 30 };

test.each([
  [undefined, 8],
  ['', 8],
  ['2', 2],
  ['0', 8],
  ['0-3', 4],
  ['1,3,5-6', 4],
  ['7-7', 1],
  ['nonsense', 8],
])('limits.cpu %j is %i CPUs of 8', (text, cpus) => {
  expect(cpusOf(text, HOST)).toBe(cpus);
});

test.each([
  [undefined, HOST.memoryBytes],
  ['512MiB', 512 * 2 ** 20],
  ['512MB', 512e6],
  ['1.5GiB', 1.5 * 2 ** 30],
  ['1048576', 1048576],
  ['50%', HOST.memoryBytes / 2],
  [formatLimit(268435456), 268435456],
  ['many', HOST.memoryBytes],
  ['5 parsecs', HOST.memoryBytes],
])('limits.memory %j is %i bytes', (text, bytes) => {
  expect(memoryOf(text, HOST)).toBe(bytes);
});
