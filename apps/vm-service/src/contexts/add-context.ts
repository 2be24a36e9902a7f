import {
  buildPlan,
  Change,
  DomainError,
  type AddedContextStore,
  type Audit,
  type Caller,
  type Clock,
  type Plan,
} from '@headgate/domain-contracts';
import type { AddedContexts, ParsedContext } from '../fleet/added-contexts.js';
import type { Backends } from '../fleet/backends.js';
import type { LiveContexts } from '../fleet/live-contexts.js';
import { testFailed, testStep, type ContextCheck, type ContextTests } from './context-tests.js';

/** Each is a connection with watches of its own. */
const MAX_ADDED = 32;

export interface ContextRequest {
  readonly name: string;
  readonly kind: string;
  readonly settings: Readonly<object>;
  /** Adds it although its test fails. */
  readonly despiteErrors: boolean;
}

export interface AddContextDeps {
  readonly store: AddedContextStore;
  readonly added: AddedContexts;
  readonly backends: Backends;
  readonly live: LiveContexts;
  readonly tests: ContextTests;
  readonly audit: Audit;
  readonly clock: Clock;
}

interface Prepared {
  readonly context: ParsedContext;
  readonly despiteErrors: boolean;
}

/** Adds a context after a test, and lists its instances. Its name belongs to the first request that wants it. */
export class AddContext extends Change<[request: ContextRequest], readonly ContextCheck[], Prepared> {
  constructor(private readonly deps: AddContextDeps) {
    super();
  }

  protected override prepare({ name, kind, settings, despiteErrors }: ContextRequest): Prepared {
    const context = this.deps.added.parse(name, kind, settings);
    this.expectFree(name);
    return { context, despiteErrors };
  }

  protected override async planPrepared({ context, despiteErrors }: Prepared): Promise<Plan> {
    const { name } = context;
    return buildPlan([
      testStep(context),
      {
        name: 'add context',
        detail: `${name}${despiteErrors ? ', although its test fails' : ', if its test succeeds'}`,
      },
    ]);
  }

  protected override async runPrepared(
    { context, despiteErrors }: Prepared,
    caller: Caller,
  ): Promise<readonly ContextCheck[]> {
    const { name, word } = context;
    const { added, audit } = this.deps;
    return added.during(name, () => {
      // Another request may have added a context since it was checked.
      this.expectFree(name);
      return audit.of(
        caller,
        'add context',
        `context/${name}`,
        () => this.add(context, despiteErrors, caller),
        () => word,
      );
    });
  }

  private async add(
    context: ParsedContext,
    despiteErrors: boolean,
    { login }: Caller,
  ): Promise<readonly ContextCheck[]> {
    const { name, word, settings } = context;
    const { store, live, tests, clock } = this.deps;
    const { ok, checks } = await tests.run(context);
    if (!ok && !despiteErrors) throw testFailed(checks, 'add');
    await store.add({ name, kind: word, settings: { ...settings }, creator: login, addedAt: clock.iso() });
    try {
      await live.attach(context);
    } catch (error) {
      await store.delete(name);
      throw error;
    }
    return checks;
  }

  /** @throws DomainError ALREADY_EXISTS, CONFLICT */
  private expectFree(name: string): void {
    const { backends, added } = this.deps;
    if (backends.find(name) || added.stored().some((one) => one.name === name)) {
      throw new DomainError('ALREADY_EXISTS', `The context "${name}" already exists; choose another name.`);
    }
    const { count } = added;
    if (count > MAX_ADDED || (count === MAX_ADDED && !added.isChanging(name))) {
      throw new DomainError('CONFLICT', `At most ${MAX_ADDED} contexts can be added; remove one first.`);
    }
  }
}
