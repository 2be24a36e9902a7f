import {
  ADMINISTRATOR,
  Audit,
  DomainError,
  formatRef,
  InstanceDirectory,
  type Caller,
  type FolderDelta,
  type Instance,
  type InstanceQuery,
  type InstanceRef,
  type PowerAction,
} from '@headgate/domain-contracts';
import { Ledger } from '@headgate/reservations';
import { buildContainer, buildVm, FixedClock, MemoryAuditLog, MemoryFolderStore, withStatus } from '@headgate/testing';
import { AddFolderMember, CreateFolder, MoveFolder, RemoveFolder, RemoveFolderMember } from './folder-changes.js';
import { Folders } from './folders.js';
import { RunFolderAction, type MemberActions } from './run-folder-action.js';

const ann: Caller = { login: 'ann', name: 'Ann', grant: ADMINISTRATOR };

class KnownInstances extends InstanceDirectory {
  readonly known = new Map<string, Instance>();

  add(...instances: Instance[]): void {
    for (const instance of instances) this.known.set(formatRef(instance.ref), instance);
  }
  override get(ref: InstanceRef): Instance | undefined {
    return this.known.get(formatRef(ref));
  }
  override resolve({ name }: InstanceQuery): Instance {
    throw new DomainError('INSTANCE_NOT_FOUND', `There is no VM ${name}.`);
  }
  override async waitFor(): Promise<void> {
    throw new Error('unused');
  }
}

/** Records the calls and the largest number of members at a time. */
class RecordingPower implements MemberActions {
  readonly calls: string[] = [];
  readonly failing = new Map<string, Error>();
  concurrent = 0;
  most = 0;

  async apply({ action }: { action: PowerAction }, ref: InstanceRef, caller: Caller): Promise<undefined> {
    this.most = Math.max(this.most, ++this.concurrent);
    await new Promise<void>((resolve) => setImmediate(resolve));
    this.concurrent--;
    const error = this.failing.get(ref.name);
    if (error) throw error;
    this.calls.push(`${caller.login} ${action} ${formatRef(ref)}`);
  }
}

const vm = (name: string, status: 'Stopped' | 'Running' | 'Paused' = 'Stopped') =>
  withStatus(buildVm({ ref: { context: 'lab', name } }), status);
const refOf = (name: string): string => formatRef(vm(name).ref);
const tree = (folders: Folders) => folders.tree.membersWith(refOf('web'));
const identityIn = (name: string) => ({ ref: refOf(name), uid: vm(name).uid });

describe('Folders', () => {
  let store: MemoryFolderStore;
  let folders: Folders;
  let audit: MemoryAuditLog;
  let instances: KnownInstances;
  let power: RecordingPower;
  let changes: {
    create: CreateFolder;
    remove: RemoveFolder;
    move: MoveFolder;
    add: AddFolderMember;
    take: RemoveFolderMember;
    act: RunFolderAction;
  };

  beforeEach(async () => {
    store = new MemoryFolderStore();
    folders = new Folders(store);
    await folders.load();
    audit = new MemoryAuditLog();
    instances = new KnownInstances();
    instances.add(vm('web', 'Running'), vm('db'));
    power = new RecordingPower();
    const writer = new Audit(audit, new FixedClock());
    const reservations = new Ledger({ clock: new FixedClock() });
    changes = {
      create: new CreateFolder(folders, writer),
      remove: new RemoveFolder(folders, writer),
      move: new MoveFolder(folders, writer),
      add: new AddFolderMember(folders, instances, writer, reservations),
      take: new RemoveFolderMember(folders, instances, writer, reservations),
      act: new RunFolderAction(folders, instances, power, reservations),
    };
  });

  test('survive a restart', async () => {
    await changes.create.run('prod/web', ann);
    await changes.add.run('prod/web', refOf('web'), ann);
    const again = new Folders(store);
    await again.load();
    expect(again.tree.paths()).toEqual(['prod', 'prod/web']);
    expect(again.folderOf(identityIn('web'))).toBe('prod/web');
  });

  test('report the instances whose folder has changed', async () => {
    await changes.create.run('prod', ann);
    const reported: string[][] = [];
    const unsubscribe = folders.subscribe((refs) => reported.push([...refs]));
    await changes.add.run('prod', refOf('web'), ann);
    await changes.add.run('prod', refOf('web'), ann);
    await changes.move.run('prod', 'live', ann);
    await changes.remove.run('live', ann);
    unsubscribe();
    await changes.create.run('after', ann);
    expect(reported).toEqual([[refOf('web')], [refOf('web')], [refOf('web')]]);
  });

  test('plan exactly the steps of a change, and change nothing', async () => {
    await changes.create.run('prod', ann);
    await changes.add.run('prod', refOf('web'), ann);
    expect((await changes.create.plan('test/a')).steps.map(({ detail }) => detail)).toEqual(['test', 'test/a']);
    expect((await changes.move.plan('prod', 'x/y')).steps.map(({ detail }) => detail)).toEqual(['x', 'prod to x/y']);
    expect((await changes.remove.plan('prod')).steps).toEqual([
      { name: 'remove folder', detail: 'prod, with 1 member' },
    ]);
    expect((await changes.add.plan('prod', refOf('db'))).steps).toHaveLength(1);
    expect((await changes.add.plan('prod', refOf('web'))).steps).toEqual([]);
    expect((await changes.take.plan(refOf('web'), {})).steps).toEqual([
      { name: 'remove from folder', detail: `${refOf('web')} from prod` },
    ]);
    expect(folders.tree.paths()).toEqual(['prod']);
    expect(folders.folderOf(identityIn('db'))).toBeUndefined();
  });

  test('record the author and the outcome of each change', async () => {
    await changes.create.run('prod', ann);
    await changes.create.run('prod', ann).catch(() => undefined);
    await changes.move.run('prod', 'live', ann);
    await changes.add.run('live', refOf('web'), ann);
    await changes.take.run(refOf('web'), {}, ann);
    await changes.remove.run('live', ann);
    expect(audit.entries.map(({ caller, action, ref, outcome }) => [caller, action, ref, outcome])).toEqual([
      ['ann', 'create folder', 'folder/prod', 'ok'],
      ['ann', 'create folder', 'folder/prod', 'error'],
      ['ann', 'move folder', 'folder/prod', 'ok'],
      ['ann', 'add to folder live', refOf('web'), 'ok'],
      ['ann', 'remove from folder live', refOf('web'), 'ok'],
      ['ann', 'remove folder', 'folder/live', 'ok'],
    ]);
  });

  test('refuse an instance that does not exist and a text that is no ref', async () => {
    await changes.create.run('prod', ann);
    await expect(changes.add.run('prod', refOf('gone'), ann)).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
    await expect(changes.add.run('prod', 'web', ann)).rejects.toMatchObject({ code: 'INVALID_REF' });
    await expect(changes.take.run(refOf('web'), {}, ann)).rejects.toMatchObject({ code: 'FOLDER_NOT_FOUND' });
  });

  test('let a member go whose instance was deleted', async () => {
    await changes.create.run('prod', ann);
    await changes.add.run('prod', refOf('web'), ann);
    instances.known.clear();
    await changes.take.run(refOf('web'), {}, ann);
    expect(folders.folderOf(identityIn('web'))).toBeUndefined();
  });

  test('change one after the other, and both replicas agree', async () => {
    const other = new Folders(store);
    await other.load();
    await Promise.all([
      ...Array.from({ length: 20 }, (_, index) => folders.change((tree) => tree.create(`a${index}`))),
      other.change((tree) => tree.create('b')),
    ]);
    await other.load();
    await folders.load();
    expect(folders.tree.paths()).toHaveLength(21);
    expect(folders.tree.paths()).toEqual(other.tree.paths());
  });

  test('agree when replicas add and remove objects of one name at the same time', async () => {
    const other = new Folders(store);
    await other.load();
    for (const path of ['prod', 'test']) await changes.create.run(path, ann);
    await other.load();
    const [former, present] = [identityIn('web'), { ref: refOf('web'), uid: 'uid-another' }];
    await Promise.all([
      folders.change((tree) => tree.assign(former, 'prod')),
      other.change((tree) => tree.assign(present, 'prod')),
      folders.change((tree) => tree.assign(present, 'test')),
      other.change((tree) => tree.assign(former, 'test')),
      folders.change((tree) => tree.mark(former, 'ending')),
      other.change((tree) => tree.unassign(present)),
    ]);
    await Promise.all([folders.load(), other.load()]);
    const membersOf = ({ tree }: Folders): string[] =>
      tree.membersWith(former.ref).map(({ uid, folder: { path } }) => `${uid} in ${path}`);
    expect(membersOf(folders)).toEqual(membersOf(other));
    // Each object is in one folder at most, and each folder has the name once.
    expect(new Set(tree(folders).map(({ uid }) => uid)).size).toBe(tree(folders).length);
    expect(new Set(tree(folders).map(({ folder: { path } }) => path)).size).toBe(tree(folders).length);
  });

  test('check a change again after another replica was faster', async () => {
    const other = new Folders(store);
    await other.load();
    await folders.change((tree) => tree.create('prod'));
    await expect(other.change((tree) => tree.create('prod'))).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
  });

  describe('of a new instance', () => {
    const instance = vm('web');

    test('are joined, and left again if it disappears before it is complete', async () => {
      await changes.create.run('prod', ann);
      await folders.join(instance, 'prod', 'ending');
      expect([...folders.tree.pending()]).toMatchObject([{ uid: instance.uid, state: 'ending' }]);
      await folders.complete(instance);
      expect(folders.folderOf(identityIn('web'))).toBe('prod');
      expect([...folders.tree.pending()]).toEqual([]);
    });

    test('are not joined when another replica has removed them meanwhile', async () => {
      await changes.create.run('prod', ann);
      const other = new Folders(store);
      await other.load();
      await folders.change((tree) => tree.remove('prod'));
      expect(other.hasFolder('prod')).toBe(true);
      await expect(other.join(instance, 'prod', 'member')).rejects.toMatchObject({ code: 'FOLDER_NOT_FOUND' });
      expect(other.hasFolder('prod')).toBe(false);
    });

    test('have one member when two replicas put it there', async () => {
      await changes.create.run('prod', ann);
      const other = new Folders(store);
      await other.load();
      await Promise.all([folders, other].map((one) => one.join(instance, 'prod', 'member')));
      await folders.load();
      expect(tree(folders)).toHaveLength(1);
    });

    test('are not joined by completing it', async () => {
      await folders.complete(instance);
      expect(tree(folders)).toEqual([]);
    });
  });

  test('stay as they are when the store fails', async () => {
    const failing = new (class extends MemoryFolderStore {
      override async commit(_version: string, _delta: FolderDelta): Promise<string> {
        throw new Error('disk full');
      }
    })();
    const broken = new Folders(failing);
    await broken.load();
    await expect(broken.change((tree) => tree.create('prod'))).rejects.toThrow('disk full');
    expect(broken.tree.paths()).toEqual([]);
  });

  describe('an action', () => {
    beforeEach(async () => {
      await changes.create.run('prod/db', ann);
      await changes.create.run('production', ann);
      instances.add(vm('paused', 'Paused'), vm('other'), buildContainer({ ref: { context: 'lab', name: 'box' } }));
      await changes.add.run('prod', refOf('web'), ann);
      await changes.add.run('prod/db', refOf('db'), ann);
      await changes.add.run('production', refOf('other'), ann);
    });

    test('reaches the members of the folder only, and those below it when asked', async () => {
      instances.add(vm('web'));
      expect(await changes.act.run('prod', 'start', {}, ann)).toEqual({
        path: 'prod',
        action: 'start',
        ok: 1,
        failed: 0,
        skipped: 0,
        members: [{ ref: refOf('web'), name: 'web', ok: true }],
      });
      await changes.act.run('prod', 'start', { recursive: true }, ann);
      expect(power.calls).toEqual([
        `ann start ${refOf('web')}`,
        `ann start ${refOf('web')}`,
        `ann start ${refOf('db')}`,
      ]);
    });

    test('skips members that need no change, with the reason', async () => {
      const result = await changes.act.run('prod', 'start', { recursive: true }, ann);
      expect(result).toMatchObject({ ok: 1, failed: 0, skipped: 1 });
      expect(result.members[0]).toEqual({ ref: refOf('web'), name: 'web', ok: true, skipped: 'The VM is running.' });
    });

    test.each([
      ['stop', 'db', 'The VM is stopped.'],
      ['restart', 'db', 'The VM is stopped.'],
      ['pause', 'db', 'The VM is stopped.'],
      ['pause', 'paused', 'The VM is paused.'],
      ['unpause', 'web', 'The VM is not paused.'],
      ['start', 'paused', 'The VM is running.'],
    ] as const)('%s skips %s', async (action, name, reason) => {
      await changes.create.run('one', ann);
      await changes.add.run('one', refOf(name), ann);
      const { members } = await changes.act.run('one', action, {}, ann);
      expect(members).toEqual([{ ref: refOf(name), name, ok: true, skipped: reason }]);
      expect(power.calls).toEqual([]);
    });

    test('does not start templates, and only starts and stops containers', async () => {
      const template = buildVm({ ref: { context: 'lab', name: 'golden' }, isTemplate: true });
      instances.add(template);
      await changes.create.run('mixed', ann);
      await changes.add.run('mixed', formatRef(template.ref), ann);
      const box = [...instances.known.keys()].find((ref) => ref.startsWith('ct/')) ?? '';
      await changes.add.run('mixed', box, ann);
      const started = await changes.act.run('mixed', 'start', {}, ann);
      expect(started.members.map(({ name, skipped }) => [name, skipped])).toContainEqual([
        'golden',
        'A template is not started.',
      ]);
      const paused = await changes.act.run('mixed', 'pause', {}, ann);
      expect(paused.members.map(({ skipped }) => skipped)).toContain('Containers can only be started and stopped.');
    });

    test('reports members that fail or are missing, and stops no other', async () => {
      power.failing.set('db', new DomainError('BACKEND_UNREACHABLE', 'lab does not answer.'));
      await changes.add.run('prod', refOf('paused'), ann);
      instances.known.delete(refOf('paused'));
      const result = await changes.act.run('prod', 'start', { recursive: true }, ann);
      expect(result).toMatchObject({ ok: 0, failed: 2, skipped: 1 });
      expect(result.members.filter(({ ok }) => !ok)).toEqual([
        {
          ref: refOf('paused'),
          name: 'paused',
          ok: false,
          error: 'paused does not exist, or its context was not listed yet.',
        },
        { ref: refOf('db'), name: 'db', ok: false, error: 'lab does not answer.' },
      ]);
    });

    test('works on a bounded number of members at a time', async () => {
      await changes.create.run('big', ann);
      for (let index = 0; index < 60; index++) {
        instances.add(vm(`n${index}`));
        await changes.add.run('big', refOf(`n${index}`), ann);
      }
      const { ok, members } = await changes.act.run('big', 'start', {}, ann);
      expect([ok, members.length, power.most]).toEqual([60, 60, 16]);
    });

    test('is planned with what it would skip', async () => {
      const plan = await changes.act.plan('prod', 'start', { recursive: true });
      expect(plan.steps).toEqual([{ name: 'start', detail: refOf('db') }]);
      expect(plan.warnings).toEqual([`${refOf('web')} is skipped: The VM is running.`]);
      expect(power.calls).toEqual([]);
    });

    test('needs a folder that exists', async () => {
      await expect(changes.act.run('none', 'start', {}, ann)).rejects.toMatchObject({ code: 'FOLDER_NOT_FOUND' });
    });
  });
});
