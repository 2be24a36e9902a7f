import { DomainError, runConcurrently, type TaskMember } from '@headgate/domain-contracts';
import { isOutcomeUnknown, isWriteConflict } from '../../api/kube-api-error.js';
import { SERVICE_TASK_MEMBERS, SERVICE_TASKS } from '../../api/resources.js';
import type { ClusterStore, StoreWatch } from '../cluster-store.js';
import {
  expectReadableTask,
  membersNameOf,
  MEMBERS_PER_OBJECT,
  TASK_FORMAT,
  type TaskMembersObject,
  type TaskObject,
} from './task-objects.js';

const MAX_CONCURRENT_WRITES = 8;
const MAX_ATTEMPTS = 5;

/** The members of the bulk tasks: 250 in each object, in their order. */
export class MemberObjects {
  /** By the ID of the task, then in the order of their indexes. */
  private readonly objects = new Map<string, TaskMembersObject[]>();

  /** @param onChange called with the ID of the task after a change by another replica */
  constructor(
    private readonly store: ClusterStore,
    private readonly onChange: (task: string) => void,
  ) {}

  /** @param onError called with the error of an object that can't be read */
  watch(onError: (error: unknown) => void): StoreWatch {
    return this.store.watch<TaskMembersObject>(SERVICE_TASK_MEMBERS, {
      upsert: (object) => {
        try {
          if (this.keep(expectReadableTask(object))) this.onChange(object.spec.task);
        } catch (error) {
          onError(error);
        }
      },
      remove: (key) => this.forget(key),
      keys: () => [...this.objects.values()].flat().map(({ metadata }) => `${metadata.namespace}/${metadata.name}`),
    });
  }

  of(task: string): TaskMember[] {
    return (this.objects.get(task) ?? []).flatMap(({ spec }) => spec.members);
  }

  async create({ metadata, spec }: TaskObject, members: readonly TaskMember[]): Promise<void> {
    const { api, namespace } = this.store;
    const { name = '', uid = '' } = metadata;
    const owner = { apiVersion: SERVICE_TASKS.apiVersion, kind: SERVICE_TASKS.kind, name, uid };
    const parts = Array.from({ length: Math.ceil(members.length / MEMBERS_PER_OBJECT) }, (_none, index) => ({
      index,
      members: members.slice(index * MEMBERS_PER_OBJECT, (index + 1) * MEMBERS_PER_OBJECT),
    }));
    await runConcurrently(parts, MAX_CONCURRENT_WRITES, async (part) => {
      const object = await api.create<TaskMembersObject>(SERVICE_TASK_MEMBERS, {
        metadata: { namespace, name: membersNameOf(spec.id, part.index), ownerReferences: [owner] },
        spec: { formatVersion: TASK_FORMAT, task: spec.id, revision: 0, ...part },
      } as TaskMembersObject);
      this.keep(object);
    });
  }

  /**
   * Updates members by their refs.
   * @param expectRunner throws when another replica runs the task; called when an object has another version than
   *   expected
   */
  async update(task: string, members: readonly TaskMember[], expectRunner: () => Promise<void>): Promise<void> {
    const changes = new Map(members.map((member) => [member.ref, member]));
    const concerned = (this.objects.get(task) ?? []).filter(({ spec }) =>
      spec.members.some(({ ref }) => changes.has(ref)),
    );
    await runConcurrently(concerned, MAX_CONCURRENT_WRITES, async (known) => {
      let object = known;
      for (let attempt = 1; ; attempt++) {
        try {
          await this.replace(
            object,
            object.spec.members.map((member) => changes.get(member.ref) ?? member),
          );
          return;
        } catch (error) {
          if (!isWriteConflict(error) && !isOutcomeUnknown(error)) throw error;
          await expectRunner();
          if (attempt === MAX_ATTEMPTS) throw error;
          object = (await this.read(task, object.spec.index)) ?? object;
        }
      }
    });
  }

  /** Reads all members, and makes it impossible for the former runner to write them. */
  async take(task: string, memberCount: number): Promise<void> {
    const indexes = Array.from({ length: Math.ceil(memberCount / MEMBERS_PER_OBJECT) }, (_none, index) => index);
    await runConcurrently(indexes, MAX_CONCURRENT_WRITES, async (index) => {
      for (let attempt = 1; ; attempt++) {
        const object = await this.read(task, index);
        if (!object) return;
        try {
          await this.replace(object, object.spec.members);
          return;
        } catch (error) {
          if (!isWriteConflict(error) || attempt === MAX_ATTEMPTS) throw error;
        }
      }
    });
  }

  async delete(task: string, memberCount: number): Promise<void> {
    const { api, namespace } = this.store;
    for (let index = 0; index < Math.ceil(memberCount / MEMBERS_PER_OBJECT); index++)
      await api.delete(SERVICE_TASK_MEMBERS, { namespace, name: membersNameOf(task, index) });
    this.objects.delete(task);
  }

  private async replace(object: TaskMembersObject, members: readonly TaskMember[]): Promise<void> {
    const spec = { ...object.spec, members, revision: object.spec.revision + 1 };
    this.keep(await this.store.api.replace<TaskMembersObject>(SERVICE_TASK_MEMBERS, { ...object, spec }));
  }

  private async read(task: string, index: number): Promise<TaskMembersObject | undefined> {
    const { api, namespace } = this.store;
    const name = membersNameOf(task, index);
    const object = await api.find<TaskMembersObject>(SERVICE_TASK_MEMBERS, { namespace, name });
    if (!object) return undefined;
    if (object.spec.task !== task) throw new DomainError('NOT_READY', `The object ${name} belongs to another task.`);
    return expectReadableTask(object);
  }

  /** @returns whether it is newer than the known one */
  private keep(object: TaskMembersObject): boolean {
    const { task, index, revision } = object.spec;
    const parts = this.objects.get(task) ?? [];
    const at = parts.findIndex(({ spec }) => spec.index === index);
    const known = parts[at];
    if (known && known.metadata.uid === object.metadata.uid && known.spec.revision >= revision) return false;
    if (known) parts[at] = object;
    else parts.push(object);
    this.objects.set(
      task,
      parts.sort((a, b) => a.spec.index - b.spec.index),
    );
    return true;
  }

  private forget(key: string): void {
    for (const [task, parts] of this.objects) {
      const kept = parts.filter(({ metadata }) => `${metadata.namespace}/${metadata.name}` !== key);
      if (kept.length === 0) this.objects.delete(task);
      else if (kept.length < parts.length) this.objects.set(task, kept);
    }
  }
}
