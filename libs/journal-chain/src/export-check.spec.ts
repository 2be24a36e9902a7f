import { endLine, ExportCheck, exportLine, hashEntry, NO_HASH, type ChainedEntry, type LinkedEntry } from './index.js';

/** Entries as the registry links them: two actions, then a request, and so on. */
function chain(count: number): ChainedEntry[] {
  const links = { previousAction: NO_HASH, previousRequest: NO_HASH };
  return Array.from({ length: count }, (_none, index) => {
    const kind = index % 3 === 2 ? 'request' : 'action';
    const linked: LinkedEntry = {
      number: index + 1,
      time: '2026-01-01T00:00:00.000Z',
      caller: 'ann',
      token: '',
      address: '192.0.2.1',
      kind,
      action: 'stop',
      route: 'POST /api/vms/:ns/:name/stop',
      ref: 'vm/lab/default/db',
      outcome: 'ok',
      status: null,
      code: '',
      message: 'Done.',
      ...links,
    };
    const hash = hashEntry(linked);
    links[kind === 'action' ? 'previousAction' : 'previousRequest'] = hash;
    return { ...linked, hash };
  });
}

/** The same entry with other values and the right hash for them. */
const forged = (entry: ChainedEntry | undefined, changes: Partial<ChainedEntry>): ChainedEntry => {
  const { hash: _hash, ...linked } = { ...(entry as ChainedEntry), ...changes };
  return { ...linked, hash: hashEntry(linked) };
};

const linesOf = (entries: readonly ChainedEntry[]): string[] => {
  const last = entries.at(-1);
  const end = { number: last?.number ?? 0, hash: last?.hash ?? NO_HASH, entries: entries.length };
  return [...entries.map(exportLine), endLine(end)].map((line) => line.trimEnd());
};

const check = (lines: readonly string[], keptHead?: string) => {
  const checked = new ExportCheck(keptHead);
  for (const line of lines) checked.add(line);
  return checked.finish();
};

const faultOf = (lines: readonly string[]): unknown => {
  try {
    return check(lines);
  } catch (error) {
    const { fault, number } = error as { fault: string; number?: number };
    return [fault, number];
  }
};

describe('an export of the journal', () => {
  const entries = chain(12);

  test('is the same bytes for the same entry', () => {
    // A change of the form would break every export that was kept. Computed with Python's json and hashlib.
    expect(entries[0]?.hash).toBe('5ca4147583842bac52f780793175ee5abc328e6b6c33755a98b3382ea8299bbd');
  });

  test('passes as it is, cut at the start of both kinds, and empty', () => {
    const head = { number: 12, hash: entries[11]?.hash };
    expect(check(linesOf(entries))).toEqual({ entries: 12, unchained: 0, first: 1, head });
    expect(check(linesOf(entries.slice(5)))).toMatchObject({ entries: 7, first: 6, head });
    // Requests have a share of their own, so they are deleted sooner.
    expect(check(linesOf(entries.filter(({ number, kind }) => kind === 'action' || number > 6)))).toMatchObject({
      head,
    });
    expect(check(linesOf([]))).toEqual({
      entries: 0,
      unchained: 0,
      first: undefined,
      head: { number: 0, hash: NO_HASH },
    });
  });

  test('continues an earlier one', () => {
    const [early, late] = [linesOf(entries.slice(0, 5)), linesOf(entries.slice(5))];
    expect(check([...early, ...late])).toMatchObject({ entries: 12 });
    expect(faultOf([...early, ...linesOf(entries.slice(6))])).toEqual(['removed', 7]);
    expect(faultOf([...late, ...early])).toEqual(['reordered', 1]);
  });

  const changed = (index: number, changes: Partial<ChainedEntry>): ChainedEntry[] =>
    entries.map((entry, at) => (at === index ? { ...entry, ...changes } : entry));

  test.each<[string, ChainedEntry[], unknown]>([
    ['a changed caller', changed(3, { caller: 'eve' }), ['changed', 4]],
    ['a changed time', changed(3, { time: '2027-01-01T00:00:00.000Z' }), ['changed', 4]],
    ['a changed status', changed(3, { status: 200 }), ['changed', 4]],
    ['a changed last entry', changed(11, { outcome: 'error' }), ['changed', 12]],
    [
      'a changed entry with a new hash',
      entries.map((one, at) => (at === 3 ? forged(one, { caller: 'eve' }) : one)),
      ['inserted', 5],
    ],
    [
      'a changed request with a new hash',
      entries.map((one, at) => (at === 5 ? forged(one, { caller: 'eve' }) : one)),
      ['inserted', 7],
    ],
    ['a removed action', entries.toSpliced(6, 1), ['removed', 8]],
    ['a removed request', entries.toSpliced(5, 1), ['removed', 7]],
    [
      'all requests but the first removed',
      entries.filter(({ kind, number }) => kind === 'action' || number === 3),
      ['removed', 7],
    ],
    [
      'two entries in the other order',
      [...entries.slice(0, 4), ...entries.slice(4, 6).reverse(), ...entries.slice(6)],
      ['removed', 6],
    ],
    ['an entry twice', [...entries.slice(0, 4), ...entries.slice(3)], ['reordered', 4]],
    ['an entry at the end that continues nothing', [...entries, forged(entries[11], { number: 13 })], ['inserted', 13]],
    [
      'a forged request before the first',
      [forged(entries[2], { number: 1, caller: 'eve' }), ...entries.slice(6)],
      ['removed', 7],
    ],
  ])('shows %s', (_what, tampered, expected) => {
    expect(faultOf(linesOf(tampered))).toEqual(expected);
  });

  test('shows that its end was cut off', () => {
    const lines = linesOf(entries);
    expect(faultOf(lines.slice(0, -1))).toEqual(['incomplete', undefined]);
    expect(faultOf([...lines.slice(0, -2), lines.at(-1) as string])).toEqual(['removed', undefined]);
    expect(faultOf([])).toEqual(['incomplete', undefined]);
    const [last] = linesOf(entries).slice(-1);
    expect(faultOf([...lines.slice(0, -3), (last as string).replace('"entries":12', '"entries":10')])).toEqual([
      'removed',
      undefined,
    ]);
  });

  test('has the head that was kept, also as one that was deleted since', () => {
    const kept = (index: number): string => entries[index]?.hash as string;
    expect(check(linesOf(entries), kept(4))).toMatchObject({ entries: 12 });
    expect(check(linesOf(entries.slice(5)), kept(4))).toMatchObject({ entries: 7 });
    expect(() => check(linesOf(entries.slice(0, 4)), kept(4))).toThrow('No entry has the hash');
    // Everything was written again, with right hashes.
    const other = chain(12).map((entry) => forged(entry, { caller: 'eve' }));
    expect(() => check(linesOf([other[0] as ChainedEntry]), kept(0))).toThrow('No entry has the hash');
  });

  test('has older entries without a hash before the chain only', () => {
    const { previousAction: _a, previousRequest: _b, hash: _c, ...plain } = entries[0] as ChainedEntry;
    const old = exportLine({ ...plain, number: 0.5 as never }).trimEnd();
    const moved = entries.map((entry) => entry);
    const first = (number: number) => exportLine({ ...plain, number }).trimEnd();
    expect(faultOf([old])).toEqual(['malformed', undefined]);
    expect(faultOf([first(1), ...linesOf(moved.slice(1))])).toEqual(['changed', 2]);
    expect(faultOf([...linesOf(moved.slice(0, 3)), first(4)])).toEqual(['changed', 4]);
    const begun = forged(entries[0], { number: 9 });
    const lines = [
      first(7),
      first(8),
      exportLine(begun).trimEnd(),
      endLine({ number: 9, hash: begun.hash, entries: 3 }).trimEnd(),
    ];
    expect(check(lines)).toMatchObject({ entries: 1, unchained: 2, first: 9 });
  });

  test.each([
    ['no JSON', 'x'],
    ['an array', '[]'],
    ['null', 'null'],
    ['an empty line', ''],
    ['an end without numbers', '{"end":null}'],
    ['a field that is not hashed', exportLine(entries[0] as ChainedEntry).replace('{', '{"note":"a",')],
    ['a field twice', exportLine(entries[0] as ChainedEntry).replace('"caller"', '"caller":"eve","caller"')],
    ['a number as a text', exportLine(entries[0] as ChainedEntry).replace('"number":1', '"number":"1"')],
    ['another kind', exportLine({ ...(entries[0] as ChainedEntry), kind: 'simulated' as never })],
  ])('refuses a line with %s', (_what, line) => {
    expect(faultOf([line.trimEnd()])).toEqual(['malformed', undefined]);
  });
});
