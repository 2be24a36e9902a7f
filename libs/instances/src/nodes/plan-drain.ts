import {
  addSeconds,
  buildPlan,
  busyRefusal,
  DomainError,
  formatRef,
  refusal,
  type BackendDirectory,
  type ClusterNode,
  type LeaveWay,
  type LeavingInstance,
  type NodeDrain,
  type Plan,
  type PlanStep,
  type Refusal,
  type Reservations,
} from '@headgate/domain-contracts';
import { placeAffected, type PlacedInstance, type PromisedResources } from '../place-affected.js';
import { workOfLeaving } from './leave-node.js';

/** A node with how it is drained. */
export interface DrainRequest {
  readonly context: string;
  readonly node: string;
  /** How many instances leave it at the same time. */
  readonly atOnce: number;
  /** No further instance leaves after the first failure. */
  readonly stopOnError: boolean;
  /** Whether to begin although some instances can't leave. They stay. */
  readonly skipRefused: boolean;
}

export const DEFAULT_LEAVING_AT_ONCE = 2;

/** What happens to one instance. */
export interface DrainMemberPlan extends Plan {
  /** The ref of the instance, as text. */
  readonly ref: string;
  readonly ok: boolean;
  readonly way: LeaveWay;
  /** The nodes with room for it when its turn comes, sorted. The scheduler of the backend chooses. */
  readonly nodes: readonly string[];
  /** Conditions that were not checked, each a phrase. */
  readonly unchecked: readonly string[];
}

export interface DrainPlan extends Plan {
  /** Whether the drain is started with this request. */
  readonly ok: boolean;
  /** In the order in which they leave: the largest first. */
  readonly members: readonly DrainMemberPlan[];
  /** The number of pods of others, which stay. */
  readonly others: number;
  /** Conditions that were not checked for any of them, each a sentence. */
  readonly unchecked: readonly string[];
}

export interface PlanDrainDeps {
  readonly backends: BackendDirectory;
  readonly reservations: Reservations;
  /** The resources that the nodes of a context have promised, by the names of the nodes. */
  readonly promisedIn: (context: string) => ReadonlyMap<string, PromisedResources>;
}

/** Plans the drain of a node: each of its instances, with its destination and the time that it takes. */
export class PlanDrain {
  constructor(private readonly deps: PlanDrainDeps) {}

  /** @throws DomainError CONTEXT_NOT_FOUND, NODE_NOT_FOUND, NOT_SUPPORTED */
  async run(request: DrainRequest): Promise<DrainPlan> {
    const { context, node: name } = request;
    const backend = this.deps.backends.get(context);
    const [drain, nodes] = await Promise.all([
      backend.require('nodeScheduling').drainOf(name),
      backend.require('cluster').nodes(),
    ]);
    const node = expectNode(nodes, name);
    const leaving = new Map(drain.instances.map((one) => [formatRef(one.ref), one]));
    const placed = this.place(drain, nodes, context);
    const members = placed.map((one) => this.member(one, leaving.get(formatRef(one.instance.ref))!));
    const refused = members.filter(({ ok }) => !ok);
    const refusals = [
      ...(hasOther(nodes, name) ? [] : [lastNode(name)]),
      ...(request.skipRefused ? [] : distinct(refused.flatMap((one) => one.refusals))),
    ];
    const cordon: PlanStep = { name: 'cordon', detail: `${name} takes no new instances until it is uncordoned.` };
    const going = members.filter(({ ok }) => ok);
    const seconds = addSeconds(
      going.map((one) => one.seconds),
      request.atOnce,
    );
    return {
      ...buildPlan(refusals.length > 0 ? [] : [cordon, ...going.flatMap(({ steps }) => steps)], {
        refusals,
        warnings: warningsOf(node, drain, request.skipRefused ? refused.length : 0),
      }),
      ...(seconds && { seconds }),
      ok: refusals.length === 0,
      members,
      others: drain.others,
      unchecked: drain.unchecked,
    };
  }

  private place({ instances, cpusPerCpu }: NodeDrain, nodes: readonly ClusterNode[], context: string) {
    const affected = instances.map((one) => ({ ...one, staysDown: one.refusal?.reason ?? '' }));
    return placeAffected(affected, { cpusPerCpu, nodes, promised: this.deps.promisedIn(context) });
  }

  private member({ nodes, likely, outcome, reason }: PlacedInstance, one: LeavingInstance): DrainMemberPlan {
    const { reservations } = this.deps;
    const denied = this.busy(one) ?? one.refusal ?? (outcome === 'restarts' ? undefined : noRoom(reason));
    const plan = buildPlan(denied ? [] : [stepOf(one, nodes, likely)], {
      refusals: denied ? [denied] : [],
      warnings: one.losses,
    });
    const timed = denied ? plan : reservations.withTimes(workOfLeaving(one.ref, one.way), plan);
    return {
      ...timed,
      // A container does not run from its stop to its start.
      ...(one.way === 'restart' && timed.seconds && { interruption: timed.seconds }),
      ref: formatRef(one.ref),
      ok: denied === undefined,
      way: one.way,
      nodes,
      unchecked: one.unchecked,
    };
  }

  /** Why another operation keeps the instance on the node. */
  private busy({ ref, way }: LeavingInstance): Refusal | undefined {
    const conflict = this.deps.reservations.conflictsOf(workOfLeaving(ref, way).uses).find(({ isBrief }) => !isBrief);
    return conflict && busyRefusal(conflict);
  }
}

export function expectNode(nodes: readonly ClusterNode[], name: string): ClusterNode {
  const node = nodes.find((one) => one.name === name);
  if (!node) throw new DomainError('NODE_NOT_FOUND', `There is no node named ${name}.`);
  return node;
}

/** Whether another node takes instances. */
export const hasOther = (nodes: readonly ClusterNode[], name: string): boolean =>
  nodes.some((one) => one.name !== name && one.ready && one.unschedulable === '');

export const lastNode = (name: string): Refusal =>
  refusal(
    'WRONG_STATE',
    `${name} is the only node that takes instances, so nothing could leave it.`,
    'Uncordon another node, or add one.',
  );

const noRoom = (reason: string): Refusal =>
  refusal('WRONG_STATE', reason, 'Shut it or others down, uncordon another node, or drain this one without it.');

function stepOf({ ref: { name }, way }: LeavingInstance, nodes: readonly string[], likely: string): PlanStep {
  const where = nodes.length === 1 ? likely : `one of ${nodes.length} nodes with room, probably ${likely}`;
  return way === 'migrate'
    ? { name: 'migrate', detail: `Migrate ${name} to ${where}, while its guest runs.` }
    : { name: 'restart', detail: `Stop ${name}, and start it on ${where}.` };
}

function warningsOf(node: ClusterNode, { others, instances }: NodeDrain, staying: number): string[] {
  const { name } = node;
  return [
    ...(node.ready || instances.length === 0 ? [] : [`${name} is not ready: VMs on it will probably not migrate.`]),
    ...(staying > 0 ? [`${staying === 1 ? '1 instance stays' : `${staying} instances stay`} on ${name}.`] : []),
    ...(others > 0
      ? [
          `${others === 1 ? '1 pod that is' : `${others} pods that are`} not of this service ${others === 1 ? 'stays' : 'stay'} on ${name}: use kubectl drain for them.`,
        ]
      : []),
  ];
}

/** More reasons would not be read. */
const MAX_REFUSALS = 100;

const distinct = (refusals: readonly Refusal[]): Refusal[] =>
  [...new Map(refusals.map((one) => [`${one.code} ${one.reason}`, one])).values()].slice(0, MAX_REFUSALS);
