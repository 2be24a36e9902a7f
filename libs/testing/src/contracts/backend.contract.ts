import { ABILITY_NAMES, isInstanceName, matchesNameRule, UnavailableAbility } from '@headgate/domain-contracts';
import type { BackendHarness, ContractOptions, OpenHarness } from './backend-harness.js';
import { contractTests } from './contract-tests.js';

/** The rules for every `Backend`: its traits, and an answer for each ability. */
export function backendContract(adapter: string, open: OpenHarness, { timeoutMs = 5000 }: ContractOptions = {}): void {
  describe(`Backend, ${adapter}`, () => {
    let harness: BackendHarness;
    const { inTime } = contractTests(open, timeoutMs, (opened) => void ({ harness } = opened));

    test('has a kind that fits into URLs and metrics, and a label for people', () => {
      const { kind, traits } = harness.backend;
      expect(kind).toMatch(/^[a-z][a-z0-9-]*$/);
      expect(kind).toBe(traits.kind);
      expect(traits.label).not.toBe('');
    });

    test('has a default namespace that is a valid name', () => {
      expect(isInstanceName(harness.backend.traits.namespaces.default)).toBe(true);
    });

    test('accepts only instance names that the API accepts', () => {
      const { instanceNames } = harness.backend.traits;
      expect(matchesNameRule(instanceNames, harness.freshRef().name)).toBe(true);
      for (const name of ['', '-web', 'Web', 'web/1', 'web\n', 'a'.repeat(64)]) {
        expect(matchesNameRule(instanceNames, name)).toBe(false);
      }
      expect(instanceNames.description).not.toBe('');
    });

    test.each(ABILITY_NAMES)('has the ability %s or gives the reason why not', (name) => {
      const ability = harness.backend.ability(name);
      if (ability instanceof UnavailableAbility) expect(ability.reason).toMatch(/\.$/);
      else expect(harness.backend.require(name)).toBe(ability);
    });

    test('has an inventory', () => {
      expect(harness.backend.ability('inventory')).not.toBeInstanceOf(UnavailableAbility);
    });

    inTime('opens and closes while its engine does not answer', async () => {
      const backend = await harness.openUnreachable();
      expect(backend.kind).toBe(harness.backend.kind);
      await backend.close();
    });
  });
}
