import { parseSample } from './prometheus-text.js';

describe('parseSample', () => {
  test.each([
    ['without labels', 'up 1', {}, 1],
    ['empty braces', 'up{} 1', {}, 1],
    ['labels', 'up{a="1",b="2"} 3', { a: '1', b: '2' }, 3],
    ['a comma at the end, and blanks', 'up { a = "1" , } \t3 ', { a: '1' }, 3],
    ['a time', 'up{a="1"} 3 1795350015000', { a: '1' }, 3],
    ['a carriage return', 'up 3\r', {}, 3],
    ['escapes', String.raw`up{a="x\\\"y\nz",b="\q"} 1`, { a: 'x\\"y\nz', b: String.raw`\q` }, 1],
    ['braces, commas and unicode in a label', 'up{a="}{,= ü 日本 😀"} 1', { a: '}{,= ü 日本 😀' }, 1],
    ['an exponent', 'up 1.7179869184e+10', {}, 17_179_869_184],
    ['a negative value', 'up -5', {}, -5],
    ['an infinity', 'up +Inf', {}, Infinity],
    ['a negative infinity', 'up -Inf', {}, -Infinity],
    ['no number', 'up NaN', {}, Number.NaN],
  ])('reads %s', (_what, line, labels, value) => {
    const sample = parseSample(line);
    expect(sample).toMatchObject({ name: 'up', value });
    expect(Object.fromEntries(sample!.labels)).toEqual(labels);
  });

  test.each([
    '# HELP up Whether it is up.',
    '',
    '<!doctype html>',
    'up',
    'up ',
    'up{a="1"}',
    'up{a="1" 3',
    'up{a="1',
    'up{a=1} 3',
    'up{a="1"b="2"} 3',
    'up{a="1\\"} 3',
    'up 0x10',
    'up 1 2 3',
    'up three',
  ])('refuses %j', (line) => {
    expect(parseSample(line)).toBeUndefined();
  });

  test('takes time in proportion to the length of a line', () => {
    const labels = Array.from({ length: 20_000 }, (_, i) => `l${i}="${'\\\\'.repeat(3)}"`).join(',');
    expect(parseSample(`up{${labels}} 1`)?.labels.size).toBe(20_000);
    expect(parseSample(`up{a="${'\\'.repeat(200_001)}`)).toBeUndefined();
  });
});
