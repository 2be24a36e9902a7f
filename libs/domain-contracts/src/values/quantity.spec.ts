import { DomainError } from './domain-error.js';
import {
  formatBytes,
  isDiskSize,
  isMemorySize,
  parseDiskSize,
  parseKubernetesBytes,
  parseMemory,
  parseMillicores,
} from './quantity.js';

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;

describe('sizes in requests', () => {
  test.each([
    ['4Gi', 4 * GIB],
    ['4G', 4 * GIB],
    ['4096M', 4 * GIB],
    ['4194304K', 4 * GIB],
    ['4294967296', 4 * GIB],
    ['1.5Gi', 1536 * MIB],
    ['.5G', 512 * MIB],
    ['2.T', 2 * 1024 * GIB],
    ['1M', MIB],
    ['1.25Ti', 1280 * GIB],
  ])('reads %s exactly', (text, bytes) => {
    expect(parseDiskSize(text)).toBe(bytes);
  });

  test.each([
    ['1M', 2 * MIB, MIB],
    ['2Mi', 2 * MIB, 2 * MIB],
    ['3Mi', 4 * MIB, 3 * MIB],
    ['1048577', 2 * MIB, 2 * MIB],
    ['2097153', 4 * MIB, 3 * MIB],
    ['1025Ki', 2 * MIB, 2 * MIB],
    ['4000000000', 3816 * MIB, 3815 * MIB],
  ])('rounds %s up to 2 MiB for memory and to 1 MiB for disks', (text, memory, disk) => {
    expect(parseMemory(text)).toBe(memory);
    expect(parseDiskSize(text)).toBe(disk);
  });

  test.each([
    ['64T', true, true],
    ['64.5T', false, true],
    ['7Pi', false, false],
    ['1P', false, true],
    ['1.5P', false, false],
    ['1023Ki', false, false],
    ['1048575', false, false],
    ['1', false, false],
    ['0', false, false],
  ])('limits %s', (text, memory, disk) => {
    expect([isMemorySize(text), isDiskSize(text)]).toEqual([memory, disk]);
  });

  test.each([
    ['a fraction of a byte', ['0.1Gi', '1048576.5', '1.0000000001G', '0.3Gi']],
    [
      'other text',
      ['', ' ', '4 Gi', '4gi', '4g', '4GB', '4GiB', 'Gi', '-1Gi', '+1Gi', '1e9', '1E', '1Ei', '1500m', '1k'],
    ],
    ['odd numbers', ['0x10', '1_000', '1,5Gi', '\u0664Gi', 'NaN', '1.2.3', '4Gi\n', '1'.repeat(41)]],
  ])('refuses %s', (_what, texts) => {
    for (const text of texts) {
      expect([text, isMemorySize(text), isDiskSize(text)]).toEqual([text, false, false]);
      expect(() => parseMemory(text)).toThrow(DomainError);
      expect(() => parseDiskSize(text)).toThrow(
        /^disk must be a size such as 4Gi or 512Mi, from 1Mi to 1Pi; ".*" is not\.$/s,
      );
    }
  });

  test('names the field and the limits', () => {
    expect(() => parseMemory('7Pi')).toThrow(
      'mem must be a size such as 4Gi or 512Mi, from 1Mi to 64Ti; "7Pi" is not.',
    );
  });

  test('answers with the unit that is asked for', () => {
    for (const size of ['4Gi', '1536Mi', '20Gi', '2Ti']) expect(formatBytes(parseMemory(size))).toBe(size);
  });
});

describe('parseKubernetesBytes', () => {
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
    expect(parseKubernetesBytes(text)).toBe(bytes);
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
    expect(() => parseKubernetesBytes(text, 'mem')).toThrow(DomainError);
    expect(() => parseKubernetesBytes(text, 'mem')).toThrow(/^mem /);
  });

  test('never drifts: tenths of a Gi add up as Kubernetes rounds them', () => {
    expect(parseKubernetesBytes('0.3Gi')).toBe(Math.ceil((3 * 1024 ** 3) / 10));
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
    for (let bytes = 1; bytes < 2 ** 52; bytes = bytes * 3 + 1)
      expect(parseKubernetesBytes(formatBytes(bytes))).toBe(bytes);
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
