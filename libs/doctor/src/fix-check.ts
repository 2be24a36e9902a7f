import {
  buildPlan,
  Change,
  DomainError,
  UnavailableAbility,
  type Audit,
  type Backend,
  type BackendDirectory,
  type Caller,
  type Plan,
} from '@headgate/domain-contracts';
import type { CheckBackends, ContextCheck } from './check-backends.js';
import type { FixResult } from './fix-backends.js';

/** A check that does not pass, and the backend that can fix it. */
interface Fixable {
  readonly backend: Backend;
  readonly check: ContextCheck;
}

/** Fixes the problem of one check. */
export class FixCheck extends Change<[context: string, name: string], FixResult, Fixable> {
  /** The checks that are being fixed. */
  private readonly busy = new Set<string>();

  constructor(
    private readonly backends: BackendDirectory,
    private readonly checks: CheckBackends,
    private readonly audit: Audit,
  ) {
    super();
  }

  /** @throws DomainError CHECK_NOT_FOUND, WRONG_STATE, NOT_SUPPORTED, BACKEND_UNREACHABLE */
  protected override async prepare(context: string, name: string): Promise<Fixable> {
    const backend = this.backends.all().find((one) => one.context === context);
    if (!backend || backend.ability('diagnostics') instanceof UnavailableAbility) throw unknownCheck(context, name);
    // Throws immediately for a context that is known to be lost.
    backend.require('diagnostics');
    const check = await this.find(backend, name);
    if (!check) throw unknownCheck(context, name);
    if (check.status === 'ok')
      throw new DomainError('WRONG_STATE', `There is nothing to fix: ${check.name} of ${context} passes.`);
    if (!check.fixable)
      throw new DomainError('WRONG_STATE', `${check.name} of ${context} can't be fixed here. ${check.remedy}`.trim());
    return { backend, check };
  }

  protected override async planPrepared({ check }: Fixable): Promise<Plan> {
    return buildPlan([{ name: check.name, detail: check.remedy }]);
  }

  /** @throws DomainError BUSY, and BACKEND_FAILED when the check still does not pass */
  protected override async runPrepared({ backend, check }: Fixable, caller: Caller): Promise<FixResult> {
    const { context } = backend;
    const { name } = check;
    const key = `${context}/${name}`;
    if (this.busy.has(key)) throw new DomainError('BUSY', `${name} of ${context} is already being fixed.`);
    this.busy.add(key);
    try {
      return await this.audit.of(
        caller,
        'fix',
        `context/${context}`,
        () => this.fix(backend, name),
        ({ fixed }) => fixed.join(', '),
      );
    } finally {
      this.busy.delete(key);
    }
  }

  private async fix(backend: Backend, name: string): Promise<FixResult> {
    const fixed = await backend.require('diagnostics').fix([name]);
    if (fixed.includes(name)) return { fixed: [name] };
    const check = await this.find(backend, name);
    // Another user, or the fix of all problems, may have done it meanwhile.
    if (check?.status === 'ok') return { fixed: [] };
    const why = check?.message ?? 'the check is gone.';
    throw new DomainError('BACKEND_FAILED', `The fix did not solve the problem: ${why}`);
  }

  private async find(backend: Backend, name: string): Promise<ContextCheck | undefined> {
    return (await this.checks.of(backend)).find((check) => check.name === name);
  }
}

const unknownCheck = (context: string, name: string): DomainError =>
  new DomainError('CHECK_NOT_FOUND', `${context.slice(0, 80)} has no check "${name.slice(0, 80)}" that can be fixed.`);
