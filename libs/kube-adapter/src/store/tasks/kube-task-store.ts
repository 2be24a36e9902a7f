import { randomUUID } from 'node:crypto';
import {
  DomainError,
  KeyedQueue,
  messageOf,
  SharedTaskStore,
  SILENT_LOG,
  TaskTakenOver,
  type Log,
  type Task,
  type TaskCount,
  type TaskJournal,
  type TaskKind,
  type TaskMember,
  type TaskRequest,
  type TaskRun,
} from '@headgate/domain-contracts';
import { isNotFound, isOutcomeUnknown, isWriteConflict } from '../../api/kube-api-error.js';
import { SERVICE_TASKS } from '../../api/resources.js';
import { withRemedy, type ClusterStore, type StoreWatch } from '../cluster-store.js';
import { MemberObjects } from './member-objects.js';
import {
  expectReadableTask,
  objectNameOf,
  storedLog,
  TASK_FORMAT,
  type TaskObject,
  type TaskSpec,
} from './task-objects.js';

const MAX_ENDED_TASKS = 1000;
/** Bulk tasks whose members are kept. */
const MAX_MEMBER_LISTS = 50;
const MAX_ATTEMPTS = 5;

type Listener = (task: Task, request: TaskRequest | undefined) => void;

/**
 * SharedTaskStore in custom resources of a cluster: an object for each task, and one for every 250 members of a bulk
 * task. Each write names the version that it replaces and the runner of the task, so a replica whose task was taken
 * over can't write it. Reads come from a watch.
 */
export class KubeTaskStore extends SharedTaskStore {
  private readonly objects = new Map<string, TaskObject>();
  private readonly members: MemberObjects;
  private readonly listeners = new Set<Listener>();
  private readonly log: Log;
  /** Writes of one task run one after the other. */
  private readonly writes = new KeyedQueue();
  private watches: readonly StoreWatch[] = [];
  private isOpen = false;

  /** @param replica the ID of this replica */
  constructor(
    private readonly store: ClusterStore,
    private readonly replica: string,
    log: Log = SILENT_LOG,
  ) {
    super();
    this.log = log;
    this.members = new MemberObjects(store, (id) => this.report(id));
  }

  /**
   * Reads all tasks and follows their changes.
   * @throws DomainError NOT_READY when they can't be used; they are left as they are
   */
  async open(): Promise<void> {
    this.watches = [
      this.store.watch<TaskObject>(SERVICE_TASKS, {
        upsert: (object) => this.accept(object),
        remove: (key) => this.forget(key),
        keys: () => [...this.objects.values()].map(({ metadata }) => `${metadata.namespace}/${metadata.name}`),
      }),
      this.members.watch((error) => this.warnOrThrow(error)),
    ];
    try {
      await Promise.all(this.watches.map(({ listed }) => listed));
    } catch (error) {
      throw withRemedy(error);
    }
    this.isOpen = true;
  }

  async close(): Promise<void> {
    await Promise.all(this.watches.map((watch) => watch.stop()));
  }

  override put(task: Task, journal?: TaskJournal): Promise<void> {
    return this.writes.run(task.id, () => this.write(task, journal));
  }

  override get(id: string): Task | undefined {
    const object = this.acknowledged(id);
    return object && this.taskOf(object);
  }

  override journal(id: string): TaskJournal | undefined {
    return structuredClone(this.acknowledged(id)?.spec.journal);
  }

  override running(): readonly Task[] {
    return this.sorted((spec) => spec.task.status === 'running').map((object) => this.taskOf(object));
  }

  override recent(limit: number): readonly Task[] {
    return this.sorted(() => true)
      .reverse()
      .slice(0, limit)
      .map(({ spec }) => ({ ...structuredClone(spec.task), log: '' }));
  }

  override counts(): readonly TaskCount[] {
    const groups = Map.groupBy(
      this.sorted(() => true),
      ({ spec }) => `${spec.task.kind} ${spec.task.status}`,
    );
    return [...groups]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([, [first, ...others]]) =>
        first ? [{ kind: first.spec.task.kind, status: first.spec.task.status, count: others.length + 1 }] : [],
      );
  }

  override async deleteBefore(time: string): Promise<void> {
    const old = this.sorted(({ task }) => task.status !== 'running' && task.startedAt < time);
    for (const object of old) await this.delete(object);
  }

  override runOf(id: string): TaskRun | undefined {
    const spec = this.acknowledged(id)?.spec;
    return spec && { runner: spec.runner, revision: spec.revision };
  }

  override isRunning(kind: TaskKind, ref: string): boolean {
    const matches = ({ task }: TaskSpec): boolean =>
      task.kind === kind && task.ref === ref && task.status === 'running';
    return [...this.objects.values()].some(({ spec }) => spec.complete && matches(spec));
  }

  override take(id: string, { runner, revision }: TaskRun): Promise<Task | undefined> {
    return this.writes.run(id, async () => {
      const object = await this.read(id);
      if (!object || object.spec.runner !== runner || object.spec.task.status !== 'running') return undefined;
      if (object.spec.revision !== revision) return undefined;
      try {
        const { request: _request, ...spec } = object.spec;
        const taken = await this.replace({ ...object, spec: { ...spec, runner: this.replica } });
        // From here on, the former runner can't write the task; now its members.
        await this.members.take(id, taken.spec.memberCount);
        return this.taskOf(taken);
      } catch (error) {
        if (isWriteConflict(error) || isNotFound(error)) return undefined;
        throw error;
      }
    });
  }

  override request(id: string, request: TaskRequest): Promise<void> {
    return this.writes.run(id, async () => {
      for (let attempt = 1; ; attempt++) {
        const object = await this.read(id);
        if (!object) throw new DomainError('TASK_NOT_FOUND', `There is no task ${id.slice(0, 200)}.`);
        if (object.spec.task.status !== 'running')
          throw new DomainError('WRONG_STATE', `The task ${id} has already ended.`);
        try {
          await this.replace({ ...object, spec: { ...object.spec, request } });
          return;
        } catch (error) {
          if (!isWriteConflict(error) || attempt === MAX_ATTEMPTS) throw error;
        }
      }
    });
  }

  override subscribe(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  private async write(task: Task, journal: TaskJournal | undefined): Promise<void> {
    const known = this.objects.get(task.id);
    if (!known) return this.create(task, journal);
    this.expectRunner(known);
    if (task.members?.length) await this.members.update(task.id, task.members, () => this.expectStillRunner(task.id));
    await this.update(task, journal, known);
    if (task.status !== 'running') await this.deleteOld();
  }

  /** A task with members is not shown before they are complete: its ID was not returned yet. */
  private async create(task: Task, journal: TaskJournal | undefined): Promise<void> {
    const { members = [] } = task;
    const spec = this.specOf(task, journal, undefined);
    const { api, namespace } = this.store;
    const draft: TaskObject = {
      metadata: { namespace, name: objectNameOf(task.id) },
      spec: { ...spec, memberCount: members.length, complete: members.length === 0 },
    };
    const object = await api.create<TaskObject>(SERVICE_TASKS, draft).catch(async (error: unknown) => {
      if (!isOutcomeUnknown(error)) throw error;
      const stored = await this.read(task.id);
      if (stored?.spec.write !== spec.write) throw error;
      return stored;
    });
    if (members.length === 0) return this.keep(object);
    await this.members.create(object, members);
    this.keep(await this.replace({ ...object, spec: { ...object.spec, complete: true } }));
  }

  private async update(task: Task, journal: TaskJournal | undefined, known: TaskObject): Promise<void> {
    let object = known;
    const write = randomUUID();
    for (let attempt = 1; ; attempt++) {
      try {
        await this.replace({ ...object, spec: { ...this.specOf(task, journal, object.spec), write } });
        return;
      } catch (error) {
        if (!isWriteConflict(error) && !isOutcomeUnknown(error) && !isNotFound(error)) throw error;
        const stored = await this.read(task.id);
        if (stored?.spec.write === write) return this.keep(stored);
        object = this.expectRunner(stored);
        // The request of another replica is part of the version that is replaced now.
        this.keep(object);
        if (attempt === MAX_ATTEMPTS) throw error;
      }
    }
  }

  private specOf(
    { members: _members, log, ...task }: Task,
    journal: TaskJournal | undefined,
    before?: TaskSpec,
  ): TaskSpec {
    const kept = task.status === 'running' ? (journal ?? before?.journal) : undefined;
    return {
      formatVersion: TASK_FORMAT,
      id: task.id,
      runner: this.replica,
      revision: before?.revision ?? 0,
      write: randomUUID(),
      complete: true,
      task,
      log: storedLog(log),
      memberCount: before?.memberCount ?? 0,
      ...(kept ? { journal: kept } : {}),
    };
  }

  /** @throws DomainError CONFLICT when the object has another version */
  private async replace(object: TaskObject): Promise<TaskObject> {
    const spec = { ...object.spec, revision: object.spec.revision + 1 };
    const stored = await this.store.api.replace<TaskObject>(SERVICE_TASKS, { ...object, spec });
    this.keep(stored);
    return stored;
  }

  private async read(id: string): Promise<TaskObject | undefined> {
    const { api, namespace } = this.store;
    const object = await api.find<TaskObject>(SERVICE_TASKS, { namespace, name: objectNameOf(id) });
    return object && expectReadableTask(object);
  }

  /** @throws TaskTakenOver */
  private expectRunner(object: TaskObject | undefined): TaskObject {
    if (object?.spec.runner === this.replica) return object;
    throw new TaskTakenOver(object ? `${object.spec.runner} runs the task now.` : 'The task was deleted.');
  }

  private async expectStillRunner(id: string): Promise<void> {
    this.expectRunner(await this.read(id));
  }

  private accept(object: TaskObject): void {
    try {
      this.keep(expectReadableTask(object));
    } catch (error) {
      this.warnOrThrow(error);
    }
  }

  /** A store that can't be read does not start; a single object that another release writes later is only skipped. */
  private warnOrThrow(error: unknown): void {
    if (!this.isOpen) throw error;
    this.log.warn({ reason: messageOf(error) }, 'a task of the store was skipped');
  }

  private keep(object: TaskObject): void {
    const { id, revision } = object.spec;
    const known = this.objects.get(id);
    if (known && known.metadata.uid === object.metadata.uid && known.spec.revision >= revision) return;
    this.objects.set(id, object);
    this.report(id);
  }

  private report(id: string): void {
    const object = this.acknowledged(id);
    if (!object || this.listeners.size === 0) return;
    const task = this.taskOf(object);
    for (const listener of [...this.listeners]) listener(task, object.spec.request);
  }

  private forget(key: string): void {
    for (const [id, { metadata }] of this.objects)
      if (`${metadata.namespace}/${metadata.name}` === key) this.objects.delete(id);
  }

  private acknowledged(id: string): TaskObject | undefined {
    const object = this.objects.get(id);
    return object?.spec.complete ? object : undefined;
  }

  private taskOf({ spec }: TaskObject): Task {
    const members: readonly TaskMember[] = spec.memberCount > 0 ? this.members.of(spec.id) : [];
    return structuredClone({ ...spec.task, log: spec.log, ...(members.length > 0 ? { members } : {}) });
  }

  /** The oldest first. */
  private sorted(matches: (spec: TaskSpec) => boolean): TaskObject[] {
    const keyOf = ({ spec }: TaskObject): string => `${spec.task.startedAt} ${spec.id}`;
    return [...this.objects.values()]
      .filter(({ spec }) => spec.complete && matches(spec))
      .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  }

  private async delete({ metadata, spec }: TaskObject): Promise<void> {
    const { name, namespace, uid } = metadata;
    // Its members are deleted with it, because it owns them.
    await this.store.api.delete(SERVICE_TASKS, { namespace, name }, { uid });
    this.objects.delete(spec.id);
  }

  private async deleteOld(): Promise<void> {
    const ended = this.sorted(({ task }) => task.status !== 'running').reverse();
    for (const object of ended.slice(MAX_ENDED_TASKS)) await this.delete(object);
    const lists = ended.filter(({ spec }) => spec.memberCount > 0 && this.members.of(spec.id).length > 0);
    for (const { spec } of lists.slice(MAX_MEMBER_LISTS)) await this.members.delete(spec.id, spec.memberCount);
  }
}
