import type { Task } from '@headgate/domain-contracts';
import type { OperationRequest } from '@headgate/testing';
import { clusterState, type ListEntry } from '../cluster-state.js';

export const NAMESPACE = 'tailvm';

/** The response to a request; undefined when the process was killed before it responded. */
export type Answer = { readonly status: number; readonly json: Record<string, unknown> } | undefined;

/** The service under test, and the cluster that it manages. */
export interface StoryWorld {
  readonly store: Parameters<typeof clusterState>[0];
  /** Whether processes are killed: requests may get no response then, and tasks without a journal are interrupted. */
  readonly isKilled: boolean;
  send(caller: number, request: OperationRequest): Promise<Answer>;
  /** Waits until the condition holds. @throws Error with the explanation when that takes far too long */
  until(holds: () => Promise<boolean>, explain: () => string): Promise<void>;
}

export type Action =
  'start' | 'stop' | 'delete' | 'tag' | 'scale' | 'create' | 'clone' | 'snapshot' | 'restore' | 'forget' | 'migrate';

/** A request of one caller about one of the two names of a story. */
export interface Sent {
  readonly action: Action;
  readonly caller: number;
  /** 0 is the VM that exists at the beginning, 1 is a free name. */
  readonly vm: 0 | 1;
  /** Of a snapshot. */
  readonly snapshot: 0 | 1;
}

interface Outcome extends Sent {
  readonly index: number;
  answer: Answer;
  isAnswered: boolean;
  task?: Task | undefined;
}

/** How often something happened: at least, and at most where the outcome of a request is not known. */
interface Count {
  least: number;
  most: number;
}

/** Several callers change two VMs at the same time; afterwards, everything that was acknowledged must be true. */
export class Story {
  private readonly sent: Outcome[] = [];
  private readonly callers: Promise<unknown>[] = [];

  constructor(
    private readonly world: StoryWorld,
    /** No other object contains it. */
    readonly prefix: string,
  ) {}

  name(vm: 0 | 1): string {
    return `${this.prefix}-${vm === 0 ? 'a' : 'b'}`;
  }

  /** A caller sends one request after the other, and waits for no other caller. */
  send(sent: Sent): void {
    const outcome: Outcome = { ...sent, index: this.sent.length, answer: undefined, isAnswered: false };
    this.sent.push(outcome);
    const before = this.callers[sent.caller] ?? Promise.resolve();
    this.callers[sent.caller] = before.then(async () => {
      outcome.answer = await this.world.send(sent.caller, this.requestOf(outcome));
      outcome.isAnswered = true;
    });
  }

  /** Waits until everything has ended, and checks it. @returns the violated promises */
  async check(): Promise<string[]> {
    await Promise.all(this.callers);
    let unrest: string[] = [];
    const isAtRest = async (): Promise<boolean> => (unrest = await this.unrest()).length === 0;
    await this.world.until(isAtRest, () => `${this.prefix} is not at rest: ${unrest.join(', ')}`);
    await this.readTasks();
    const { machines, objects } = this.state();
    const violations = this.sent.flatMap((one) => this.answerViolations(one));
    for (const vm of [0, 1] as const) {
      const machine = machines.find(({ metadata }) => metadata.name === this.name(vm));
      const { least, most } = this.existenceOf(vm);
      const count = machine ? 1 : 0;
      if (count < least || count > most)
        violations.push(`${this.name(vm)} exists ${count} times, not ${least} to ${most} times`);
      if (!this.sent.some((one) => one.vm === vm && one.action === 'delete') && vm === 0)
        violations.push(...this.keptViolations(vm, Object.keys(machine?.metadata.labels ?? {}), objects));
    }
    return violations;
  }

  /** Deletes the VMs, and waits until none of their objects is left. */
  async end(): Promise<void> {
    for (const vm of [0, 1] as const) {
      const isThere = (): boolean => this.state().machines.some(({ metadata }) => metadata.name === this.name(vm));
      await this.world.until(
        async () => {
          if (!isThere()) return true;
          await this.world.send(0, { method: 'DELETE', path: `/api/vms/${NAMESPACE}/${this.name(vm)}` });
          return false;
        },
        () => `${this.name(vm)} was not deleted`,
      );
    }
    const left = (): string[] => this.state().objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
    await this.world.until(
      async () => left().length === 0,
      () => `left over: ${left().join(', ')}`,
    );
  }

  /** The requests with their answers, to read a failure. */
  toString(): string {
    return this.sent
      .map(({ caller, action, vm, snapshot, answer, task }) => {
        const end = task ? ` (${task.status}${task.error && `: ${task.error}`})` : '';
        return `${caller}: ${action} ${vm === 0 ? 'a' : 'b'} ${snapshot} -> ${answer?.status ?? 'no response'} ${String(answer?.json['error'] ?? '')}${end}`;
      })
      .join('\n');
  }

  private requestOf({ action, vm, snapshot, index }: Outcome): OperationRequest {
    const path = `/api/vms/${NAMESPACE}/${this.name(vm)}`;
    const snapshotName = `${this.name(vm)}-s${snapshot}`;
    const post = (rest: string, body?: object): OperationRequest => ({
      method: 'POST',
      path: path + rest,
      ...(body && { body }),
    });
    switch (action) {
      case 'delete':
        return { method: 'DELETE', path };
      case 'tag':
        return post('/tags', { tag: `t${index}`, on: true });
      case 'scale':
        return post('/scale', { cpu: 1 + (index % 3) });
      case 'create':
        return {
          method: 'POST',
          path: '/api/vms',
          body: {
            ...{ name: this.name(vm), namespace: NAMESPACE, context: 'lab', import: 'https://images.example/d.qcow2' },
            ...{ cpu: 1, mem: '256Mi', disk: '16Mi' },
          },
        };
      case 'clone':
        return post('/clone', { target: this.name(vm === 0 ? 1 : 0) });
      case 'snapshot':
        return post('/snapshots', { name: snapshotName });
      case 'restore':
        return post(`/snapshots/${snapshotName}/restore`);
      case 'forget':
        return { method: 'DELETE', path: `${path}/snapshots/${snapshotName}` };
      case 'migrate':
        return post('/migrate', {});
      default:
        return post(`/${action}`);
    }
  }

  private state() {
    return clusterState(this.world.store, this.prefix, 'lab');
  }

  private async unrest(): Promise<string[]> {
    const [list, tasks] = await Promise.all([
      this.world.send(0, { method: 'GET', path: '/api/vms' }),
      this.world.send(0, { method: 'GET', path: '/api/tasks' }),
    ]);
    if (list?.status !== 200 || tasks?.status !== 200) return ['the service does not answer'];
    const running = (tasks.json as unknown as Task[]).filter(
      ({ status, ref }) => status === 'running' && ref.includes(this.prefix),
    );
    const entries = list.json as unknown as ListEntry[];
    return [...running.map(({ id }) => `${id} runs`), ...this.state().differences(entries)];
  }

  private async readTasks(): Promise<void> {
    for (const one of this.sent) {
      const id = (one.answer?.status ?? 500) < 300 ? one.answer?.json['task'] : undefined;
      if (typeof id !== 'string') continue;
      const answer = await this.world.send(0, { method: 'GET', path: `/api/tasks/${id}` });
      if (answer?.status === 200) one.task = answer.json as unknown as Task;
    }
  }

  private answerViolations(one: Outcome): string[] {
    const { answer, action, vm, task } = one;
    const text = `${action} of ${this.name(vm)}`;
    const isUnknown = answer === undefined || (answer.status === 503 && this.world.isKilled);
    if (isUnknown) return this.world.isKilled ? [] : [`${text} got no response`];
    if (![200, 201, 202, 404, 409].includes(answer.status))
      return [`${text} got ${answer.status} ${JSON.stringify(answer.json)}`];
    const id = answer.json['task'];
    if (answer.status < 300 && typeof id === 'string' && !task) return [`the task ${id} of ${text} is unknown`];
    if (!task || task.status === 'done' || this.world.isKilled) return [];
    // A VM may be deleted while its disk is filled, and a guest that was stopped before may end while it is migrated.
    if (action === 'create' || action === 'migrate') return [];
    return [`the task of ${text} failed: ${task.error}`];
  }

  /** Whether the request was carried out: yes, no, or unknown (undefined). */
  private isDone({ answer, task }: Outcome): boolean | undefined {
    if (answer === undefined || answer.status >= 500) return undefined;
    if (answer.status >= 300) return false;
    if (!task || task.status === 'done') return true;
    // Work that was interrupted may be continued by the cluster.
    return this.world.isKilled ? undefined : false;
  }

  /** Each creation that was acknowledged happened, and so did each deletion. A VM may be deleted again while it is being deleted. */
  private existenceOf(vm: 0 | 1): Count {
    const countOf = (isMeant: (one: Outcome) => boolean): Count => {
      // A VM exists as soon as its creation is answered, whatever becomes of the import.
      const done = this.sent
        .filter(isMeant)
        .map((one) => this.isDone(one.action === 'create' ? { ...one, task: undefined } : one));
      return { least: done.filter((one) => one === true).length, most: done.filter((one) => one !== false).length };
    };
    const created = countOf(
      ({ action, vm: about }) => (action === 'create' && about === vm) || (action === 'clone' && about !== vm),
    );
    const deleted = countOf(({ action, vm: about }) => action === 'delete' && about === vm);
    const before = vm === 0 ? 1 : 0;
    return {
      least: Math.max(0, before + created.least - deleted.most),
      most: Math.min(1, before + created.most - Math.min(1, deleted.least)),
    };
  }

  /** The acknowledged changes of a VM that was never deleted. */
  private keptViolations(
    vm: 0 | 1,
    labels: readonly string[],
    objects: readonly { kind?: string; metadata: { name: string } }[],
  ) {
    const violations: string[] = [];
    for (const one of this.sent) {
      if (one.vm !== vm || one.action !== 'tag') continue;
      const done = this.isDone(one);
      const isThere = labels.includes(`svc.dev/tag.t${one.index}`);
      if (done !== undefined && done !== isThere)
        violations.push(`the tag t${one.index} of ${this.name(vm)} ${isThere ? 'is there' : 'is lost'}`);
    }
    for (const snapshot of [0, 1] as const) {
      const name = `${this.name(vm)}-s${snapshot}`;
      const about = this.sent.filter((one) => one.vm === vm && one.snapshot === snapshot);
      const changes = (action: Action, done: readonly (boolean | undefined)[]): number =>
        about.filter((one) => one.action === action && done.includes(this.isDone(one))).length;
      const isThere = objects.some(({ kind, metadata }) => kind === 'VirtualMachineSnapshot' && metadata.name === name);
      const least = changes('snapshot', [true]) - changes('forget', [true, undefined]);
      const most = changes('snapshot', [true, undefined]) - changes('forget', [true]);
      if (least > (isThere ? 1 : 0) || most < (isThere ? 1 : 0))
        violations.push(`the snapshot ${name} ${isThere ? 'is there' : 'is lost'}, expected ${least} to ${most}`);
    }
    return violations;
  }
}
