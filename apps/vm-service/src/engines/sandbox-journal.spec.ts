import type { AuditEntry } from '@headgate/domain-contracts';
import { sandboxJournal } from './sandbox-journal.js';

const NOW = Date.parse('2026-03-04T12:34:56Z');
const refs = ['vm/sandbox/prod/web-1', 'vm/sandbox/prod/web-2'];

describe('the invented past of the sandbox', () => {
  let choose: (seed: string, limit: number) => number;
  beforeAll(async () => {
    choose = (await import('@headgate/kubevirt-sandbox')).seededNumber;
  });
  const journal = (): AuditEntry[] => sandboxJournal({ refs, now: NOW, choose });

  test('has 30 days until now, in order, about the instances that exist', () => {
    const entries = journal();
    const times = entries.map(({ time }) => Date.parse(time));
    expect(times).toEqual([...times].sort((one, other) => one - other));
    expect(NOW - times[0]!).toBeGreaterThan(29 * 86_400_000);
    expect(NOW - times.at(-1)!).toBeGreaterThan(0);
    expect(NOW - times.at(-1)!).toBeLessThan(3_600_000);
    expect([...new Set(entries.map(({ ref }) => ref))].sort()).toEqual(refs);
    expect(entries.length).toBeGreaterThan(500);
    expect(entries.length).toBeLessThan(5_000);
  });

  test('has users, a token and failures, and is the same each time', () => {
    const entries = journal();
    expect(entries).toEqual(journal());
    expect(new Set(entries.map(({ caller }) => caller)).size).toBe(5);
    expect(entries.some(({ token }) => token !== undefined)).toBe(true);
    const failed = entries.filter(({ outcome }) => outcome === 'error');
    expect(failed.length / entries.length).toBeLessThan(0.1);
    expect(failed[0]).toMatchObject({ code: 'BACKEND_TIMEOUT' });
  });

  test('is empty without instances', () => {
    expect(sandboxJournal({ refs: [], now: NOW, choose })).toEqual([]);
  });
});
