import {
  buildPlan,
  Change,
  DomainError,
  throwFirstRefusal,
  type AddedContext,
  type AddedContextStore,
  type Audit,
  type Caller,
  type Clock,
  type OpenedBackend,
  type Plan,
  type PlanStep,
  type SettingsChange,
} from '@headgate/domain-contracts';
import type { AddedContexts, ParsedContext } from '../fleet/added-contexts.js';
import { closeOpened } from '../fleet/close-opened.js';
import type { LiveContexts } from '../fleet/live-contexts.js';
import type { ChangeableContexts } from './changeable-contexts.js';
import { testFailed, testStep, type ContextCheck, type ContextTests } from './context-tests.js';

export interface ContextChangeRequest {
  readonly name: string;
  readonly settings: SettingsChange;
  /** Changes it although its test fails. */
  readonly despiteErrors: boolean;
}

export interface ChangeContextDeps {
  readonly store: AddedContextStore;
  readonly added: AddedContexts;
  readonly changeable: ChangeableContexts;
  readonly live: LiveContexts;
  readonly tests: ContextTests;
  readonly audit: Audit;
  readonly clock: Clock;
}

interface Prepared {
  readonly request: ContextChangeRequest;
  readonly before: AddedContext;
  readonly context: ParsedContext;
}

/**
 * Changes the settings of a context that was added, after a test of the new ones, and connects it again. Never touches
 * its instances. A crash leaves the former or the new settings.
 */
export class ChangeContext extends Change<[request: ContextChangeRequest], readonly ContextCheck[], Prepared> {
  constructor(private readonly deps: ChangeContextDeps) {
    super();
  }

  protected override prepare(request: ContextChangeRequest): Prepared {
    const { added, changeable } = this.deps;
    const { name, settings } = request;
    const before = changeable.find(name, 'change');
    if (Object.keys(settings).length === 0) {
      throw new DomainError('INVALID_INPUT', 'settings must have at least one key.');
    }
    return { request, before, context: added.parseChange(before, settings) };
  }

  protected override async planPrepared({ request, before, context }: Prepared): Promise<Plan> {
    const { changeable } = this.deps;
    const { name, settings, despiteErrors } = request;
    const keys = keysOf(before, settings);
    const steps: PlanStep[] = [
      testStep(context),
      {
        name: 'change settings',
        detail: `${keys} of ${name}${despiteErrors ? ', although the test fails' : ', if the test succeeds'}`,
      },
    ];
    if (!changeable.isUsed(name)) return buildPlan([...steps, { name: 'list instances', detail: name }]);
    steps.push({ name: 'close connections', detail: `watches, consoles and streams of ${name}` });
    steps.push({ name: 'list instances', detail: `${name} again` });
    const warnings = leadsElsewhere(before, context)
      ? [
          `${name} leads to another place: its VMs and containers leave the lists, and go on there. Their folders and their usage history are kept.`,
        ]
      : [];
    return buildPlan(steps, { warnings, refusals: changeable.refusals(name) });
  }

  protected override async runPrepared({ request }: Prepared, caller: Caller): Promise<readonly ContextCheck[]> {
    const { added, audit } = this.deps;
    const { name, settings } = request;
    return added.during(name, () => {
      // Another request may have changed or removed it since it was checked.
      const prepared = this.prepare(request);
      return audit.of(
        caller,
        'change context',
        `context/${name}`,
        () => this.change(prepared),
        () => keysOf(prepared.before, settings),
      );
    });
  }

  private async change(prepared: Prepared): Promise<readonly ContextCheck[]> {
    const { added, changeable, tests, clock } = this.deps;
    const { context, request } = prepared;
    throwFirstRefusal({ refusals: changeable.refusals(context.name) });
    const { ok, checks } = await tests.run(context, true);
    if (!ok && !request.despiteErrors) throw testFailed(checks, 'change');
    const opened = await added.openUnused(context);
    let connect: () => Promise<void>;
    try {
      connect = await this.store(prepared, opened);
    } catch (error) {
      await closeOpened(opened, clock);
      throw error;
    }
    await connect();
    return checks;
  }

  /** @returns connects the context with its new settings */
  private async store({ before, context }: Prepared, opened: OpenedBackend): Promise<() => Promise<void>> {
    const { live, changeable } = this.deps;
    const { name } = context;
    // Operations may have begun during the test.
    throwFirstRefusal({ refusals: changeable.refusals(name) });
    if (!changeable.isUsed(name)) {
      await this.update(context);
      return () => live.attach(context, opened);
    }
    const isAnother = leadsElsewhere(before, context);
    // In the same turn as the check, so that no operation begins in between.
    const replacement = live.beginReplacement(name);
    try {
      await this.update(context);
    } catch (error) {
      replacement.undo();
      throw error;
    }
    return () => replacement.replace(opened, isAnother);
  }

  private async update({ name, settings }: ParsedContext): Promise<void> {
    if (await this.deps.store.update(name, { ...settings })) return;
    throw new DomainError('ADDED_CONTEXT_NOT_FOUND', `The context "${name}" was removed meanwhile.`);
  }
}

const leadsElsewhere = ({ settings: before }: AddedContext, { kind, settings }: ParsedContext): boolean =>
  kind.engineOf(before) !== kind.engineOf(settings);

/** The names of the settings that a request gives or removes. */
const keysOf = ({ settings: before }: AddedContext, change: SettingsChange): string =>
  Object.keys(change)
    .filter((key) => change[key] !== null || key in before)
    .sort()
    .join(', ');
