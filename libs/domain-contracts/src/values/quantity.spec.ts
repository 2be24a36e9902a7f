import { DomainError } from './domain-error.js';
import { formatBytes, isByteQuantity, parseBytes, parseMillicores } from './quantity.js';

describe('parseBytes', () => {
  test.each([
    ['4Gi', 4 * 1024 ** 3],
    ['4G', 4_000_000_000],
    ['1.5Gi', 1_610_612_736],
    ['0.1Gi', 107_374_183],
    ['512Mi', 536_870_912],
    ['1e9', 1_000_000_000],
    ['1E3', 1000],
    ['1k', 1000],
    ['1500m', 2],
    ['.5Ki', 512],
    ['1.', 1],
    ['+2', 2],
    ['7Pi', 7 * 1024 ** 5],
  ])('reads %s exactly', (text, bytes) => {
    expect(parseBytes(text)).toBe(bytes);
  });

  test.each([
    '',
    ' ',
    '4 Gi',
    '4gi',
    '4GB',
    'Gi',
    '-1Gi',
    '0',
    '0Gi',
    '1e',
    '1e9999',
    '8Pi',
    '1E',
    '0x10',
    '1_000',
    '٤Gi',
    'NaN',
    '1.2.3',
  ])('refuses "%s"', (text) => {
    expect(() => parseBytes(text, 'mem')).toThrow(DomainError);
    expect(() => parseBytes(text, 'mem')).toThrow(/^mem /);
    expect(isByteQuantity(text)).toBe(false);
  });

  test('never drifts: tenths of a Gi add up as Kubernetes rounds them', () => {
    expect(parseBytes('0.3Gi')).toBe(Math.ceil((3 * 1024 ** 3) / 10));
  });
});

describe('formatBytes', () => {
  test.each([
    [4 * 1024 ** 3, '4Gi'],
    [4_000_000_000, '3906250Ki'],
    [1000, '1000'],
    [0, '0'],
    [1024, '1Ki'],
    [1536 * 1024 ** 2, '1536Mi'],
  ])('writes %d as %s', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });

  test('is read back as the same number', () => {
    for (let bytes = 1; bytes < 2 ** 52; bytes = bytes * 3 + 1) expect(parseBytes(formatBytes(bytes))).toBe(bytes);
  });
});

describe('parseMillicores', () => {
  test.each([
    ['2', 2000],
    ['500m', 500],
    ['0.1', 100],
    ['1n', 1],
    ['0', 0],
    ['250000u', 250],
  ])('reads %s', (text, millicores) => {
    expect(parseMillicores(text)).toBe(millicores);
  });

  test('refuses a negative one', () => {
    expect(() => parseMillicores('-1')).toThrow(DomainError);
  });
});
