import { exposition } from './exposition.js';

const points = (...values: number[]) => values.map((value, index) => ({ labels: { i: String(index) }, value }));

describe('exposition', () => {
  test('writes the format like the library for Go', () => {
    const labels = { name: 'web', drive: 'a\\b "c"\nd é' };
    expect(
      exposition([
        { name: 'bytes_total', help: 'All\nbytes \\ "here".', type: 'counter', points: [{ labels, value: 12 }] },
        { name: 'up', help: 'Up.', type: 'gauge', points: [{ labels: {}, value: 1 }] },
        { name: 'none', help: 'Without values.', type: 'gauge', points: [] },
      ]),
    ).toBe(
      [
        '# HELP bytes_total All\\nbytes \\\\ "here".',
        '# TYPE bytes_total counter',
        'bytes_total{drive="a\\\\b \\"c\\"\\nd é",name="web"} 12',
        '# HELP up Up.',
        '# TYPE up gauge',
        'up 1',
        '',
      ].join('\n'),
    );
  });

  test.each([
    [0, '0'],
    [999_999, '999999'],
    [1_000_000, '1e+06'],
    [123_456_789_012, '1.23456789012e+11'],
    [0.00001, '1e-05'],
    [Number.NaN, 'NaN'],
    [Infinity, '+Inf'],
    [-Infinity, '-Inf'],
  ])('writes %d as %s', (value, text) => {
    expect(exposition([{ name: 'x', help: '', type: 'gauge', points: points(value) }])).toContain(`{i="0"} ${text}\n`);
  });
});
