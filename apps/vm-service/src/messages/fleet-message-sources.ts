import {
  formatRef,
  isWithinFolder,
  parseRef,
  plainText,
  type Caller,
  type Log,
  type MessageRule,
  type OpenCondition,
} from '@headgate/domain-contracts';
import type { FindingView } from '@headgate/api-contracts';
import type { FleetEntry, FleetReader } from '@headgate/fleet';
import { MessageSources, type Condition, type ConditionState, type Observation } from '@headgate/messages';
import { isVisible } from '@headgate/schedules';
import type { ReadChecks } from '../doctor/read-checks.js';
import { compileListQuery } from '../fleet/compile-list-query.js';
import { mayReadTask } from '../tasks/readable-task.js';
import { statusOf, type FailingInstances } from './failing-instances.js';
import type { FailedWorkLog, SeenWork } from './failed-work.js';

export interface FleetMessageSourcesDeps {
  readonly fleet: FleetReader;
  readonly failing: FailingInstances;
  readonly work: FailedWorkLog;
  readonly checks: Pick<ReadChecks, 'readFindings'>;
  readonly log: Log;
}

/** Begins the keys of problems. */
const PROBLEM = 'problem/';
const HEALTH = 'health';
const CONTEXTS = 'contexts';
const sourceOf = (context: string): string => `instances/${context}`;

/**
 * What a rule sees: the failed instances that it is about and that its owner may read, and failed work on them. Those
 * without a folder and a query, whose owner may read everything, also see the contexts and the problems of the doctor.
 */
export class FleetMessageSources extends MessageSources {
  /** Undefined until the checks were carried out for the first time. */
  private findings: readonly FindingView[] | undefined;

  constructor(private readonly deps: FleetMessageSourcesDeps) {
    super();
  }

  override subscribe(listener: () => void): () => void {
    const { failing, work } = this.deps;
    failing.start(listener);
    work.start(listener);
    return () => failing.stop();
  }

  override async refresh(): Promise<void> {
    try {
      this.findings = await this.deps.checks.readFindings();
    } catch (error) {
      this.deps.log.warn({ error }, 'the checks for messages could not be carried out');
    }
  }

  override observe(rule: MessageRule, owner: Caller): Observation {
    const { fleet, failing, work } = this.deps;
    const view = new RuleView(rule, owner, fleet);
    const states = fleet.states();
    const up = states.filter(({ state }) => state === 'up').map(({ context }) => context);
    const instances = [...failing.all()].filter((entry) => !entry.stale && view.includes(entry)).map(ofInstance);
    const findings = view.seesAll ? (this.findings ?? []) : [];
    const lost = view.seesAll ? states.filter(({ state }) => state === 'lost') : [];
    const health = this.findings === undefined ? [] : [HEALTH];
    const existing = [...states.map(({ context }) => sourceOf(context)), HEALTH, CONTEXTS];
    const isListed = states.every(({ state }) => state !== 'connecting');
    return {
      sources: [...up.map(sourceOf), ...(isListed ? [CONTEXTS] : []), ...health],
      existing,
      conditions: [
        ...lost.map(({ context, reason = '' }) => ofContext(context, reason)),
        ...findings.filter(({ status }) => status !== 'ok').map(ofFinding),
        ...instances,
      ],
      stateOf: (open) => this.stateOf(open, view),
      failed: work.all().filter((one) => view.includesWork(one)),
      mayRead: (ref) => view.mayRead(ref),
    };
  }

  private stateOf(open: OpenCondition, view: RuleView): ConditionState {
    if (open.kind === 'instance') return this.stateOfInstance(open, view);
    if (!view.seesAll) return 'hidden';
    if (open.kind === 'context') {
      const found = this.deps.fleet.states().find(({ context }) => keyOfContext(context) === open.key);
      if (!found) return 'hidden';
      return found.state === 'up' ? 'ended' : found.state === 'lost' ? 'open' : 'unknown';
    }
    const finding = this.findings?.find((one) => keyOfFinding(one) === open.key);
    if (finding) return finding.status === 'ok' ? 'ended' : 'open';
    return this.findings === undefined ? 'unknown' : this.stateOfAbsent(open);
  }

  /** A context that can't be reached lists none of its other checks. */
  private stateOfAbsent({ key }: OpenCondition): ConditionState {
    const [context = ''] = JSON.parse(key.slice(PROBLEM.length)) as string[];
    // Of the service itself, or of a plugin.
    if (context.includes('/')) return 'ended';
    const state = this.deps.fleet.states().find((one) => one.context === context)?.state;
    return state === undefined ? 'hidden' : state === 'up' ? 'ended' : 'unknown';
  }

  private stateOfInstance({ key, ref = '' }: OpenCondition, view: RuleView): ConditionState {
    const { fleet, failing } = this.deps;
    const { context } = parseRef(ref);
    const state = fleet.states().find((one) => one.context === context)?.state;
    if (state === undefined) return 'hidden';
    if (state !== 'up') return 'unknown';
    const entry = failing.get(ref);
    if (entry && keyOfInstance(entry) === key) return view.includes(entry) ? 'open' : 'hidden';
    return view.mayRead(ref) ? 'ended' : 'hidden';
  }
}

/** The subjects of one rule, with the rights of its owner. */
class RuleView {
  private readonly matches: ((entry: FleetEntry) => boolean) | undefined;

  constructor(
    private readonly rule: MessageRule,
    private readonly owner: Caller,
    private readonly fleet: FleetReader,
  ) {
    this.matches = rule.q === undefined ? undefined : compileListQuery(rule.q);
  }

  private get isAboutSome(): boolean {
    return this.rule.folder !== undefined || this.matches !== undefined;
  }

  /** Whether it sees what belongs to no instance. */
  get seesAll(): boolean {
    return !this.isAboutSome && this.owner.grant.allowsAll('read');
  }

  includes(entry: FleetEntry): boolean {
    const { folder } = this.rule;
    if (!this.owner.grant.allowsAll('read') && !this.owner.grant.allows('read', entry)) return false;
    if (folder !== undefined && (entry.folder === undefined || !isWithinFolder(entry.folder, folder))) return false;
    return this.matches?.(entry) ?? true;
  }

  /** An instance that is gone is in no folder. */
  mayRead(ref: string): boolean {
    const { grant } = this.owner;
    return grant.allowsAll('read') || grant.allowsRef('read', ref);
  }

  includesWork({ task, schedule, ref }: SeenWork): boolean {
    if (schedule) return !this.isAboutSome && isVisible(schedule, this.owner);
    if (!task || !mayReadTask(this.owner, task)) return false;
    if (!this.isAboutSome) return true;
    const entry = ref === undefined ? undefined : this.entryOf(ref);
    return entry !== undefined && this.includes(entry);
  }

  private entryOf(ref: string): FleetEntry | undefined {
    const { kind } = parseRef(ref);
    for (const entry of this.fleet.all(kind)) if (formatRef(entry.instance.ref) === ref) return entry;
    return undefined;
  }
}

const keyOfInstance = ({ instance: { ref, uid } }: FleetEntry): string => `instance/${formatRef(ref)}#${uid}`;
const keyOfContext = (context: string): string => `context/${context}`;
const keyOfFinding = ({ context, name }: FindingView): string => PROBLEM + JSON.stringify([context, name]);

function ofInstance(entry: FleetEntry): Condition {
  const { ref, reason = '' } = entry.instance;
  return {
    source: sourceOf(ref.context),
    key: keyOfInstance(entry),
    kind: 'instance',
    severity: 'error',
    title: plainText(`${ref.namespace}/${ref.name} in ${ref.context}: ${statusOf(entry.instance)}`),
    detail: plainText(reason),
    ref: formatRef(ref),
  };
}

const ofContext = (context: string, reason: string): Condition => ({
  source: CONTEXTS,
  key: keyOfContext(context),
  kind: 'context',
  severity: 'error',
  title: `the context ${context}`,
  detail: plainText(reason),
});

const ofFinding = (finding: FindingView): Condition => ({
  source: HEALTH,
  key: keyOfFinding(finding),
  kind: 'problem',
  severity: finding.status === 'error' ? 'error' : 'warning',
  title: plainText(`${finding.title} (${finding.context})`),
  detail: plainText(finding.message),
});
