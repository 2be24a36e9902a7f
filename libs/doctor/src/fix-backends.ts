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
export class FixBackends extends Change<[], FixResult, readonly Backend[]> {
  constructor(
    private readonly backends: BackendDirectory,
    private readonly checks: CheckBackends,
    private readonly audit: Audit,
  ) {
    super();
  }

  protected override prepare(): readonly Backend[] {
    return this.backends.all();
  }

  protected override async planPrepared(): Promise<Plan> {
    const fixable = (await this.checks.run()).filter((check) => check.fixable && check.status !== 'ok');
    return buildPlan(fixable.map(({ name, remedy }) => ({ name, detail: remedy })));
  }

  protected override async runPrepared(backends: readonly Backend[], caller: Caller): Promise<FixResult> {
    // A context that fails must not hide whether the others were fixed, so all of them end first.
    const fixes = await Promise.allSettled(backends.map((backend) => this.fix(backend, caller)));
    const failed = fixes.find((fix) => fix.status === 'rejected');
    if (failed) throw failed.reason;
    return { fixed: fixes.flatMap((fix) => (fix.status === 'fulfilled' ? fix.value : [])) };
  }

  private async fix(backend: Backend, caller: Caller): Promise<readonly string[]> {
    if (backend.ability('diagnostics') instanceof UnavailableAbility) return [];
    return this.audit.of(
      caller,
      'fix',
      `context/${backend.context}`,
      // Unlike `ability`, it throws immediately for a context that is known to be lost.
      async () => backend.require('diagnostics').fix(),
      (fixed) => fixed.join(', '),
    );
  }
}
