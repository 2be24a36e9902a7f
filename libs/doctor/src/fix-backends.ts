import {
  buildPlan,
  Change,
  UnavailableAbility,
  type Audit,
  type Backend,
  type BackendDirectory,
  type Caller,
  type Plan,
} from '@headgate/domain-contracts';
import type { CheckBackends } from './check-backends.js';

/** The names of the checks that were fixed. */
export interface FixResult {
  readonly fixed: string[];
}

/** Fixes the problems that the diagnostics of the backends can fix. */
export class FixBackends extends Change<[], FixResult> {
  constructor(
    private readonly backends: BackendDirectory,
    private readonly checks: CheckBackends,
    private readonly audit: Audit,
  ) {
    super();
  }

  override async plan(): Promise<Plan> {
    const fixable = (await this.checks.run()).filter((check) => check.fixable && check.status !== 'ok');
    return buildPlan(fixable.map(({ name, remedy }) => ({ name, detail: remedy })));
  }

  override async run(caller: Caller): Promise<FixResult> {
    const fixed = await Promise.all(this.backends.all().map((backend) => this.fix(backend, caller)));
    return { fixed: fixed.flat() };
  }

  private async fix(backend: Backend, caller: Caller): Promise<readonly string[]> {
    const diagnostics = backend.ability('diagnostics');
    if (diagnostics instanceof UnavailableAbility) return [];
    return this.audit.of(
      caller,
      'fix',
      backend.context,
      () => diagnostics.fix(),
      (fixed) => fixed.join(', '),
    );
  }
}
