import type { FixedView } from '@headgate/api-contracts';
import { Change, UnavailableAbility, buildPlan, type BackendDirectory, type Plan } from '@headgate/domain-contracts';
import type { CheckBackends } from './check-backends.js';

/** Mends what the backends' diagnostics can mend. */
export class FixBackends extends Change<[], FixedView> {
  constructor(
    private readonly backends: BackendDirectory,
    private readonly checks: CheckBackends,
  ) {
    super();
  }

  override async plan(): Promise<Plan> {
    const fixable = (await this.checks.run()).filter((check) => check.fixable && check.status !== 'ok');
    return buildPlan(fixable.map(({ name, remedy }) => ({ name, detail: remedy })));
  }

  override async run(): Promise<FixedView> {
    const fixed = await Promise.all(
      this.backends.all().map(async (backend) => {
        const diagnostics = backend.ability('diagnostics');
        return diagnostics instanceof UnavailableAbility ? [] : diagnostics.fix();
      }),
    );
    return { fixed: fixed.flat() };
  }
}
