import type { Backend, Diagnostics } from '@headgate/domain-contracts';
import type { BackendHarness, ContractOptions, OpenHarness } from './backend-harness.js';
import { contractTests } from './contract-tests.js';

/** The rules for every `Diagnostics`. */
export function diagnosticsContract(
  adapter: string,
  open: OpenHarness,
  { timeoutMs = 30_000 }: ContractOptions = {},
): void {
  describe(`Diagnostics, ${adapter}`, () => {
    let harness: BackendHarness;
    let diagnostics: Diagnostics;
    let unreachable: Backend;
    const { inTime } = contractTests(open, timeoutMs, async (opened) => {
      ({ harness } = opened);
      diagnostics = harness.backend.require('diagnostics');
      unreachable = await opened.unreachable();
    });

    inTime('runs checks that have a name each, a message, and a remedy unless they pass', async () => {
      const checks = await diagnostics.checks();
      const names = checks.map(({ name }) => name);
      expect(names.length).toBeGreaterThan(0);
      expect(new Set(names).size).toBe(names.length);
      for (const check of checks) {
        expect(['ok', 'warning', 'error']).toContain(check.status);
        expect(check.message).not.toBe('');
        if (check.status === 'ok') expect([check.remedy, check.fixable]).toEqual(['', false]);
        else expect(check.remedy).not.toBe('');
      }
    });

    inTime('changes nothing by checking', async () => {
      const summary = async () => (await diagnostics.checks()).map(({ name, status }) => [name, status]);
      expect(await summary()).toEqual(await summary());
    });

    inTime('fixes none but the named checks', async () => {
      const before = await diagnostics.checks();
      expect(await diagnostics.fix([])).toEqual([]);
      expect(await diagnostics.fix(['no-such-check'])).toEqual([]);
      const summary = (checks: typeof before) => checks.map(({ name, status }) => [name, status]);
      expect(summary(await diagnostics.checks())).toEqual(summary(before));
    });

    inTime('fixes only checks that are fixable, and nothing the second time', async () => {
      const before = await diagnostics.checks();
      const fixable = before.filter((check) => check.fixable).map(({ name }) => name);
      const fixed = await diagnostics.fix();
      for (const name of fixed) expect(fixable).toContain(name);
      const after = await diagnostics.checks();
      for (const name of fixed) expect(after.find((check) => check.name === name)?.status).toBe('ok');
      expect(await diagnostics.fix()).toEqual([]);
    });

    inTime('reports an engine that does not answer as a failed check and does not throw', async () => {
      const checks = await unreachable.require('diagnostics').checks();
      expect(checks.filter(({ status }) => status === 'error').length).toBeGreaterThan(0);
      for (const { status, remedy } of checks) expect(status === 'ok' || remedy !== '').toBe(true);
    });
  });
}
