import { measureJson } from './json-values.js';

const measure = (json: string, maxValues: number) => measureJson(Buffer.from(json), maxValues);

describe('measureJson', () => {
  test.each([
    ['{}', 1],
    ['[[],{}]', 4],
    ['{"a":1,"b":[2,3]}', 4],
    ['{"a":"[,{\\",[{"}', 1],
    ['{"\\\\":[]}', 2],
    ['{"😀,":"\\ud83d\\ude00,"}', 1],
    ['"', 0],
    ['', 0],
  ])('counts %j as %i', (json, values) => {
    expect(measure(json, values)).toBe('fits');
    if (values > 0) expect(measure(json, values - 1)).toBe('too many values');
  });

  test('distinguishes nesting from many values', () => {
    expect(measure('['.repeat(500) + ']'.repeat(500), 10_000)).toBe('fits');
    expect(measure('['.repeat(501), 10_000)).toBe('too deep');
    expect(measure('{"a":'.repeat(20_000), 10_000)).toBe('too deep');
    expect(measure(`[${'[],'.repeat(20_000)}]`, 10_000)).toBe('too many values');
    expect(measure(`["${'['.repeat(20_000)}"]`, 10_000)).toBe('fits');
  });
});
