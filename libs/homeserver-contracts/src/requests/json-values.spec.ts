import { hasMoreValuesThan } from './json-values.js';

const has = (max: number, json: string) => hasMoreValuesThan(max, Buffer.from(json));

describe('hasMoreValuesThan', () => {
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
    expect(has(values, json)).toBe(false);
    if (values > 0) expect(has(values - 1, json)).toBe(true);
  });
});
