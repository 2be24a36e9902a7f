import { Reservations, type Conflict, type Task } from '@headgate/domain-contracts';
import type { KubeObject } from '@headgate/kube-sandbox';
import {
  driverOf,
  PRECONDITIONS,
  refOfMeeting,
  type MeetingOperation,
  type MeetingVm,
  type OperationRequest,
} from '@headgate/testing';
import { objectsByName, type ListEntry } from '../cluster-state.js';
import type { SandboxLab } from '../sandbox-lab.js';
import type { Reply } from '../test-service.js';

/**
 * When the second operation is requested.
 * - `together`: in the same turn of the event loop. In the table of all pairs, each of the two is the earlier one once.
 * - `begun`: as soon as the first one has reserved the VM.
 * - `held`: while the work of the first one in the cluster does not go on, after its response or while that waits for
 *   the cluster.
 */
export const MOMENTS = ['together', 'begun', 'held'] as const;
export type Moment = (typeof MOMENTS)[number];

export interface Pair {
  readonly first: MeetingOperation;
  readonly second: MeetingOperation;
}

/** What happened when two operations met on a VM. */
export interface Meeting extends Pair {
  readonly moment: Moment;
  readonly vm: MeetingVm;
  readonly state: 'Running' | 'Stopped';
  readonly answers: { readonly first: Reply; readonly second: Reply };
  /** The operations that used the VM when the second one was requested. */
  readonly holders: readonly Conflict[];
  /** The first one had a task that had not ended when the second one was answered. */
  readonly isFirstTaskOpen: boolean;
  /** Whether the first one was answered before the second one was requested. */
  readonly isFirstAnswered: boolean;
  /** Whether the second one was answered while the cluster did nothing. */
  readonly isSecondAnsweredHeld: boolean;
  /** Until they were answered, in milliseconds. */
  readonly waitedMs: { readonly first: number; readonly second: number };
  /** After everything has ended. */
  readonly tasks: { readonly first?: Task; readonly second?: Task };
  /** The entries of the VM and its copies after everything has ended. */
  readonly entries: readonly ListEntry[];
  /** Names of the snapshots then. */
  readonly snapshots: readonly string[];
}

/** A VM on which a pair meets. */
interface Lane extends Pair {
  readonly state: 'Running' | 'Stopped';
  vm: MeetingVm;
  readonly replies: { first?: Reply; second?: Reply };
  readonly sent: Promise<void>[];
  holders: readonly Conflict[];
  isFirstAnswered: boolean;
  isFirstTaskOpen: boolean;
  isSecondAnsweredHeld: boolean;
  readonly waitedMs: { first: number; second: number };
}

/**
 * Turns of the event loop, and milliseconds, without a response after which the others count as requests that wait for
 * the cluster. On a busy machine, files take longer than many turns.
 */
const QUIET_TURNS = 1_000;
const QUIET_MS = 200;
/** Turns of the event loop between two looks at all VMs, and how many times as long as a look there is none. */
const TURNS_PER_LOOK = 10;
const LOOK_PAUSE = 3;

/** The hot-plugged disks that running guests can't use yet, which the cluster attaches after the response. */
const attachingIn = (objects: ReadonlyMap<string, readonly KubeObject[]>): readonly string[] =>
  [...objects].flatMap(([name, all]) =>
    all.flatMap((one) => {
      const { status } = one as KubeObject & { status?: { volumeStatus?: readonly PluggedVolume[] } };
      const disks =
        status?.volumeStatus?.filter(({ hotplugVolume, phase }) => hotplugVolume && phase !== 'Ready') ?? [];
      return disks.map((disk) => `${disk.name} of ${name}`);
    }),
  );

interface PluggedVolume {
  readonly name: string;
  readonly phase?: string;
  readonly hotplugVolume?: object;
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Lets operations meet on many VMs of a simulated cluster at the same time. */
export class ClusterMeetings {
  private readonly reservations: Reservations;

  constructor(private readonly lab: SandboxLab) {
    this.reservations = lab.service.app.get(Reservations);
  }

  /** Each pair meets on a VM of its own, of which nothing is left afterwards. */
  async run(pairs: readonly Pair[], moment: Moment): Promise<readonly Meeting[]> {
    const { lab } = this;
    lab.run();
    const lanes = pairs.map((pair, index) => this.laneOf(pair, index % 2 ? 'Running' : 'Stopped'));
    const names = lanes.map(({ vm }) => vm.name);
    await this.untilAtRest(names);
    await this.prepare(lanes);
    await this.meet(lanes, moment);
    await this.untilAtRest(names);
    const list = await lab.list();
    const objects = objectsByName(lab.lab.sandbox.store, names);
    const meetings: Meeting[] = [];
    for (const { replies, sent: _sent, ...lane } of lanes) {
      const { first, second } = replies as Required<typeof replies>;
      const about = objects.get(lane.vm.name) ?? [];
      meetings.push({
        ...lane,
        moment,
        answers: { first, second },
        tasks: { first: await this.taskOf(first), second: await this.taskOf(second) },
        entries: list.filter(({ name }) => name.includes(lane.vm.name)),
        snapshots: about.filter(({ kind }) => kind === 'VirtualMachineSnapshot').map(({ metadata }) => metadata.name),
      });
    }
    await this.removeAll(names);
    return meetings;
  }

  private laneOf(pair: Pair, otherwise: 'Running' | 'Stopped'): Lane {
    const state = driverOf(pair.first).needs ?? driverOf(pair.second).needs ?? otherwise;
    return {
      ...pair,
      state,
      vm: this.lab.seedVm(state),
      replies: {},
      sent: [],
      holders: [],
      isFirstAnswered: false,
      isFirstTaskOpen: false,
      isSecondAnsweredHeld: false,
      waitedMs: { first: 0, second: 0 },
    };
  }

  /** A snapshot comes last: it needs a VM that does not change. */
  private async prepare(lanes: readonly Lane[]): Promise<void> {
    await Promise.all(
      lanes.map(async (lane) => {
        const operations = [lane.first, lane.second];
        const given = operations.map((operation) => driverOf(operation).given);
        if (given.includes('disk'))
          lane.vm = { ...lane.vm, disk: String((await this.give(lane, PRECONDITIONS.disk)).json['pvc']) };
        if (given.includes('nic')) await this.give(lane, PRECONDITIONS.nic);
        if (!operations.includes('detach-host-device')) return;
        await this.give(lane, driverOf('attach-host-device').request);
        lane.vm = { ...lane.vm, hostDevice: 'gpu-1' };
      }),
    );
    const names = lanes.map(({ vm }) => vm.name);
    await this.untilAtRest(names);
    const attaching = (): readonly string[] => attachingIn(objectsByName(this.lab.lab.sandbox.store, names));
    await this.look(async () => attaching().length === 0, 'all disks are attached', attaching);
    const inNeed = lanes.filter(({ first, second }) =>
      [first, second].some((operation) => driverOf(operation).given === 'snapshot'),
    );
    await Promise.all(inNeed.map((lane) => this.give(lane, PRECONDITIONS.snapshot)));
    await this.untilAtRest(names);
  }

  private async give({ first, second, vm }: Lane, request: (vm: MeetingVm) => OperationRequest): Promise<Reply> {
    const { method, path, body } = request(vm);
    const reply = await this.lab.send(method, path, body);
    if (reply.status >= 300) throw new Error(`${method} ${path} before ${first} and ${second}: ${reply.body}`);
    return reply;
  }

  private async meet(lanes: readonly Lane[], moment: Moment): Promise<void> {
    if (moment === 'held') {
      this.lab.hold();
      for (const lane of lanes) this.send(lane, 'first');
      await Promise.all(lanes.map((lane) => this.untilBegun(lane)));
      await this.untilQuiet(lanes, 'first');
      for (const lane of lanes) this.send(lane, 'second');
      await this.untilQuiet(lanes, 'second');
      for (const lane of lanes) {
        const { first, second } = lane.replies;
        lane.isSecondAnsweredHeld = second !== undefined;
        lane.isFirstTaskOpen = !!first && !!second && (await this.taskOf(first))?.status === 'running';
      }
      this.lab.run();
    } else {
      const meetOn = async (lane: Lane): Promise<void> => {
        this.send(lane, 'first');
        if (moment === 'begun') await this.untilBegun(lane);
        this.send(lane, 'second');
      };
      await Promise.all(lanes.map(meetOn));
    }
    await Promise.all(lanes.flatMap(({ sent }) => sent));
  }

  private send(lane: Lane, which: 'first' | 'second'): void {
    if (which === 'second') {
      lane.holders = this.holdersOf(lane.vm);
      lane.isFirstAnswered = lane.replies.first !== undefined;
    }
    const { method, path, body } = driverOf(lane[which]).request(lane.vm);
    const began = performance.now();
    const reply = this.lab.send(method, path, body).then((answer) => {
      lane.replies[which] = answer;
      lane.waitedMs[which] = performance.now() - began;
    });
    lane.sent.push(reply);
  }

  private async untilQuiet(lanes: readonly Lane[], which: 'first' | 'second'): Promise<void> {
    const missing = (): number => lanes.filter(({ replies }) => !replies[which]).length;
    let since = performance.now();
    const isQuiet = (turns: number): boolean => turns >= QUIET_TURNS && performance.now() - since >= QUIET_MS;
    for (let quiet = 0, last = missing(); last > 0 && !isQuiet(quiet); quiet++) {
      await turn();
      if (missing() < last) [last, quiet, since] = [missing(), 0, performance.now()];
    }
  }

  /** Waits until the first operation was answered or has reserved its VM. */
  private async untilBegun({ vm, replies }: Lane): Promise<void> {
    while (!replies.first && this.holdersOf(vm).length === 0) await turn();
  }

  private holdersOf(vm: MeetingVm): readonly Conflict[] {
    return this.reservations.conflictsOf([{ subject: refOfMeeting(vm), mode: 'exclusive' }]);
  }

  private async taskOf({ status, json }: Reply): Promise<Task | undefined> {
    const id = json['task'];
    if (status >= 300 || typeof id !== 'string') return undefined;
    return (await this.lab.send('GET', `/api/tasks/${id}`)).json as unknown as Task;
  }

  private async untilAtRest(names: readonly string[]): Promise<void> {
    let unrest: readonly string[] = [];
    const isAtRest = async (): Promise<boolean> => {
      unrest = await this.lab.unrestOf(names);
      return unrest.length === 0;
    };
    await this.look(isAtRest, 'all are at rest', () => unrest);
  }

  private async removeAll(names: readonly string[]): Promise<void> {
    for (const { name, namespace, context } of await this.lab.list()) {
      if (!names.some((one) => name.includes(one))) continue;
      const { status, body } = await this.lab.send('DELETE', `/api/vms/${namespace}/${name}?context=${context}`);
      if (status !== 200 && status !== 404) throw new Error(`${name} was not deleted: ${body}`);
    }
    const left = (): readonly string[] => this.lab.objectsOf(...names);
    await this.look(async () => left().length === 0, 'nothing is left', left);
  }

  private async look(holds: () => Promise<boolean>, text: string, explain: () => readonly string[]): Promise<void> {
    let next = 0;
    const hold = async (): Promise<boolean> => {
      for (let passed = 0; passed < TURNS_PER_LOOK; passed++) await turn();
      const begin = performance.now();
      if (begin < next) return false;
      const isSo = await holds();
      next = performance.now() + LOOK_PAUSE * (performance.now() - begin);
      return isSo;
    };
    await this.lab.until(hold, text, explain);
  }
}
