import { formatCpuSet, isCpuSet, parseCpuSet } from './cpu-set.js';

describe('a list of CPUs', () => {
  test.each<[text: string, numbers: number[]]>([
    ['0', [0]],
    ['0-3,8', [0, 1, 2, 3, 8]],
    ['8,0-1', [0, 1, 8]],
    ['1,1,0-1', [0, 1]],
    ['00007', [7]],
  ])('%s is read', (text, numbers) => {
    expect(parseCpuSet(text, 'cpus')).toEqual(numbers);
  });

  test.each([
    '',
    ' ',
    '0,',
    '-1',
    '1-0',
    '0-',
    '0--1',
    '^0',
    '0-3,^1',
    '0x1',
    '1e3',
    '0-99999999999',
    '0-8192',
    '99999',
    '\u0661',
    '\uff11',
    '0 - 1',
    '0\n',
    'all',
    'N',
    '0,'.repeat(600) + '0',
  ])('refuses %j, naming the field', (text) => {
    expect(() => parseCpuSet(text, 'cpus')).toThrow(/^cpus: /);
    expect(isCpuSet(text)).toBe(false);
  });

  test('is written in the shortest way', () => {
    expect(formatCpuSet([8, 0, 1, 2, 3, 3])).toBe('0-3,8');
    expect(formatCpuSet([5])).toBe('5');
    expect(formatCpuSet([])).toBe('');
    expect(formatCpuSet(parseCpuSet('0,2,4-6', 'cpus'))).toBe('0,2,4-6');
  });
});
