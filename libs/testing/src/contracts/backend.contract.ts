import {
  ABILITY_NAMES,
  INSTANCE_ABILITIES,
  isInstanceName,
  matchesNameRule,
  UnavailableAbility,
} from '@headgate/domain-contracts';
import type { BackendHarness, ContractOptions, OpenHarness } from './backend-harness.js';
import { contractTests } from './contract-tests.js';

/** The rules for every `Backend`: its traits, and an answer for each ability. */
export function backendContract(
  adapter: string,
  open: OpenHarness,
  { timeoutMs = 30_000 }: ContractOptions = {},
): void {
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

    test.each(INSTANCE_ABILITIES)('offers %s for containers only if it lists it', (name) => {
      const { backend } = harness;
      const found = backend.abilityFor('ct', name);
      expect(backend.abilityFor('vm', name)).toStrictEqual(backend.ability(name));
      if (backend.containerAbilities.includes(name)) return expect(found).toStrictEqual(backend.ability(name));
      expect((found as UnavailableAbility).reason).toMatch(/\.$/);
      expect(() => backend.requireFor('ct', name)).toThrow(expect.objectContaining({ code: 'NOT_SUPPORTED' }));
    });

    test('has all of its containers in the inventory, or none', () => {
      const { backend } = harness;
      const hasContainers = !(backend.ability('containers') instanceof UnavailableAbility);
      expect(backend.containerAbilities.includes('containers')).toBe(hasContainers);
      expect(backend.containerAbilities.includes('inventory')).toBe(hasContainers);
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
