import { UnavailableAbility, type AbilityName } from '@headgate/domain-contracts';
import type { BackendHarness, ContractOptions, OpenHarness } from './backend-harness.js';
import { contractTests } from './contract-tests.js';

/** The rules for an ability that a backend does not have. Run it in place of the ability's own suite. */
export function unavailableAbilityContract(
  adapter: string,
  name: AbilityName,
  open: OpenHarness,
  { timeoutMs = 30_000 }: ContractOptions = {},
): void {
  describe(`Unavailable ability ${name}, ${adapter}`, () => {
    let harness: BackendHarness;
    contractTests(open, timeoutMs, (opened) => void ({ harness } = opened));

    test('gives the reason as a sentence', () => {
      const ability = harness.backend.ability(name);
      expect(ability).toBeInstanceOf(UnavailableAbility);
      expect((ability as UnavailableAbility).reason).toMatch(/^[A-Z].*\.$/);
    });

    test('is refused as NOT_SUPPORTED with that reason', () => {
      const { reason } = harness.backend.ability(name) as UnavailableAbility;
      expect(() => harness.backend.require(name)).toThrow(
        expect.objectContaining({ code: 'NOT_SUPPORTED', message: reason }),
      );
    });
  });
}
