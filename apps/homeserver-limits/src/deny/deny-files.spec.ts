import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DeniedEntries } from '../link/protocol.js';
import { MAX_ENTRIES, MAX_FILE_BYTES, parseDenyFile } from './deny-file.js';
import { DenyFiles } from './deny-files.js';
import { DenyLists } from './deny-lists.js';

describe('parseDenyFile', () => {
  test('reads an address or a network per line, without comments, whatever ends the lines', () => {
    const text = '\uFEFF# drop\r\n192.0.2.1 ; SBL1\r\n\r\n  2001:db8::/32#x\n198.51.100.0/24';
    expect(parseDenyFile(text)).toEqual({ entries: ['192.0.2.1', '2001:db8::/32', '198.51.100.0/24'] });
    expect(parseDenyFile('')).toEqual({ entries: [] });
  });

  test('names the lines that are wrong, the first ten of them', () => {
    const text = `192.0.2.1\nexample.org\n\n10.0.0.0/33\n${'x\u0007\n'.repeat(12)}`;
    const { problems } = parseDenyFile(text) as { problems: string[] };
    expect(problems).toHaveLength(11);
    expect(problems.slice(0, 3)).toEqual([
      'line 2: "example.org" is neither an address nor a network such as 192.0.2.0/24 or 2001:db8::/32',
      'line 4: "10.0.0.0/33" has a prefix beyond 32',
      'line 5: "x?" is neither an address nor a network such as 192.0.2.0/24 or 2001:db8::/32',
    ]);
    expect(problems.at(-1)).toBe('and 4 more lines');
  });

  test('refuses a list with too many entries', () => {
    expect(parseDenyFile('192.0.2.1\n'.repeat(MAX_ENTRIES + 1))).toEqual({
      problems: [`has ${MAX_ENTRIES + 1} entries; use at most ${MAX_ENTRIES}`],
    });
  });
});

describe('DenyFiles', () => {
  let folder: string;
  let lists: DenyLists;
  let files: DenyFiles;
  let errors: unknown[];
  let changes: (readonly DeniedEntries[])[];
  let settings: { name: string; file: string; shadow: boolean; interval: string }[];
  const write = (text: string, name = 'abuse') => {
    writeFileSync(join(folder, 'new'), text);
    renameSync(join(folder, 'new'), join(folder, name));
  };
  const denies = (address: string) => lists.of({ address, source: address }).map(({ name }) => name);

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'headgate-deny-'));
    [lists, errors, changes] = [new DenyLists(), [], []];
    settings = [{ name: 'abuse', file: join(folder, 'abuse'), shadow: false, interval: '10s' }];
    const log = { info: () => undefined, error: (facts: unknown) => void errors.push(facts) };
    files = new DenyFiles({ lists, settings: () => settings, declare: () => undefined, log: log as never });
    files.follow((all) => changes.push(all));
    write('192.0.2.1\n');
  });
  afterEach(() => {
    files.onApplicationShutdown();
    rmSync(folder, { recursive: true });
  });

  test('reads a file again when it has changed, and reports the change once', async () => {
    await files.onModuleInit();
    expect([denies('192.0.2.1'), denies('192.0.2.2')]).toEqual([['abuse'], []]);
    await files.check();
    write('192.0.2.2\n');
    await Promise.all([files.check(), files.check()]);
    expect([denies('192.0.2.1'), denies('192.0.2.2')]).toEqual([[], ['abuse']]);
    expect(changes).toHaveLength(2);
  });

  test.each([
    ['has a bad line', () => write('192.0.2.9\nnonsense\n'), /abuse line 2: "nonsense"/],
    ['is too large', () => write(' '.repeat(MAX_FILE_BYTES + 1)), /has 8388609 bytes; use at most 8388608/],
    ['is gone', () => rmSync(join(folder, 'abuse')), /cannot be read: ENOENT/],
  ])('keeps the previous list when the file %s, and says so once', async (_, change, problem) => {
    await files.onModuleInit();
    change();
    await files.check();
    await files.check();
    expect(denies('192.0.2.1')).toEqual(['abuse']);
    expect(denies('192.0.2.9')).toEqual([]);
    expect(errors).toEqual([{ list: 'abuse', problems: [expect.stringMatching(problem)] }]);
    write('192.0.2.3\n');
    await files.check();
    expect(denies('192.0.2.3')).toEqual(['abuse']);
  });

  test('does not start without a list, and names all files that are wrong', async () => {
    settings.push({ name: 'other', file: join(folder, 'nowhere'), shadow: false, interval: '10s' });
    write('1.2.3\n');
    await expect(files.onModuleInit()).rejects.toThrow(/abuse line 1: "1\.2\.3".*nowhere cannot be read/s);
  });

  test('applies a configuration with other lists, and shadow lists after the others', async () => {
    settings[0]!.shadow = true;
    await files.onModuleInit();
    write('192.0.2.0/24\n', 'more');
    settings.push({ name: 'more', file: join(folder, 'more'), shadow: false, interval: '10s' });
    await files.check(true);
    expect(lists.of({ address: '192.0.2.1', source: '192.0.2.1' })).toEqual([
      { name: 'more', shadow: false },
      { name: 'abuse', shadow: true },
    ]);
    settings.length = 0;
    await files.check(true);
    expect(lists.isEmpty).toBe(true);
  });

  test('denies a caller whose IPv6 address contains a denied IPv4 address', async () => {
    await files.onModuleInit();
    expect(lists.of({ address: '64:ff9b::c000:201', source: '192.0.2.1' })).toHaveLength(1);
  });
});
