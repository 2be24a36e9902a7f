import { cpuMapOf, cpusOfMap } from './placement-procedures.js';

describe('a map of CPUs', () => {
  test.each<[cpus: number[], bytes: number[]]>([
    [[0], [1]],
    [[7], [128]],
    [[8], [0, 1]],
    [
      [0, 1, 9, 17],
      [3, 2, 2],
    ],
  ])('of %j has the lowest bit first', (cpus, bytes) => {
    expect([...cpuMapOf(cpus)]).toEqual(bytes);
    expect(cpusOfMap(Buffer.from(bytes))).toEqual(cpus);
  });

  test('without CPUs is read as none', () => {
    expect(cpusOfMap(Buffer.alloc(2))).toEqual([]);
    expect(cpusOfMap(Buffer.alloc(0))).toEqual([]);
  });
});
