import type { Audit, Caller } from '@headgate/domain-contracts';
import type { AddedContexts } from '../fleet/added-contexts.js';
import type { ContextRequest } from './add-context.js';
import type { ContextTest, ContextTests } from './context-tests.js';

/** Tests a context that may never be added. It is in the journal, because the service connects to where it leads. */
export class TestContext {
  constructor(
    private readonly added: AddedContexts,
    private readonly tests: ContextTests,
    private readonly audit: Audit,
  ) {}

  /** @throws DomainError INVALID_INPUT, BUSY */
  run({ name, kind, settings }: Omit<ContextRequest, 'despiteErrors'>, caller: Caller): Promise<ContextTest> {
    const context = this.added.parse(name, kind, settings);
    return this.audit.of(
      caller,
      'test context',
      `context/${name}`,
      () => this.tests.run(context),
      ({ ok }) => (ok ? 'succeeded' : 'failed'),
    );
  }
}
