import {
  ADMINISTRATOR,
  DomainError,
  ImageCatalog,
  UnavailableAbility,
  buildPlan,
  type Backend,
  type BackendDirectory,
  type Caller,
  type FolderDirectory,
  type CatalogEntry,
  type DiskBuilder,
  type Instance,
  type InstanceDirectory,
  type InstanceKind,
  type InstanceRef,
  type PowerObserver,
  type BackgroundWork,
  type TaskDefinition,
  type TaskStart,
  type TaskRunner,
  type VmSpec,
  Audit,
} from '@headgate/domain-contracts';
import { Ledger } from '@headgate/reservations';
import {
  buildContainer,
  buildVm,
  FixedClock,
  MEMORY_TRAITS,
  MemoryAuditLog,
  recordingReporter,
  recordingStepContext,
} from '@headgate/testing';
import { ApplyContainerPower } from './apply-container-power.js';
import { ApplyPower } from './apply-power.js';
import { BuildVm } from './build-vm.js';
import { CreateContainer } from './create-container.js';
import { CreateVm, type CreateVmRequest } from './create-vm.js';
import { DeleteContainer } from './delete-container.js';
import { DeleteVm } from './delete-vm.js';
import { MigrateVm } from './migrate-vm.js';
import { PlaceInstance } from './place-instance.js';
import { TagVm } from './tag-vm.js';

const onlyLocal = { ...MEMORY_TRAITS, namespaces: { default: 'local', isOnlyOne: true } };
const ann: Caller = { login: 'ann', name: 'Ann', grant: ADMINISTRATOR };
const tiny: CatalogEntry = {
  name: 'tiny',
  description: '',
  containerDisk: '',
  defaultUser: 'root',
  builtLocally: 'tiny',
};

class OneImage extends ImageCatalog {
  override entries(): readonly CatalogEntry[] {
    return [tiny];
  }
  override find(name: string): CatalogEntry {
    if (name === 'tiny') return tiny;
    throw new DomainError('UNKNOWN_CATALOG_ENTRY', name);
  }
}

/** Two backends that record their calls: `lab` has namespaces, `local` has only one. */
function house() {
  const done: string[] = [];
  const specs: VmSpec[] = [];
  const started: BackgroundWork[] = [];
  const known: Instance[] = [];
  let remaining: BackgroundWork | undefined;
  let failure: DomainError | undefined;
  const images: { ref: { namespace: string; name: string }; phase: string }[] = [];
  const act = async (what: string, ref: InstanceRef): Promise<void> => {
    if (failure) throw failure;
    done.push(`${what} ${ref.context}/${ref.namespace}/${ref.name}`);
  };
  const abilities: Record<string, unknown> = {
    power: {
      apply: (ref: InstanceRef, action: string, options?: { force?: boolean }) =>
        act(options?.force ? `${action}!` : action, ref),
    },
    provisioning: {
      sources: () => ({
        containerDisk: true,
        image: true,
        import: true,
        iso: true,
        bootc: true,
        pvc: true,
      }),
      planCreate: async (spec: VmSpec) => buildPlan([{ name: 'define', detail: spec.ref.name }]),
      create: async (spec: VmSpec) => {
        specs.push(spec);
        await act('create', spec.ref);
        return { remaining };
      },
      planDelete: async (ref: InstanceRef) => buildPlan([{ name: 'delete', detail: ref.name }]),
      delete: (ref: InstanceRef) => act('delete', ref),
      setTag: (ref: InstanceRef, tag: string, on: boolean) => act(`${on ? '+' : '-'}${tag}`, ref),
    },
    migration: {
      plan: async ({ name }: InstanceRef, node?: string) =>
        buildPlan([{ name: 'migrate', detail: `${name} to ${node ?? 'any node'}` }]),
      migrate: async (ref: InstanceRef, node?: string) => (await act(`migrate to ${node}`, ref), async () => undefined),
    },
    images: { list: async () => images },
    containers: {
      planCreate: async () => buildPlan([]),
      create: (spec: { ref: InstanceRef }) => act('create', spec.ref),
      start: (ref: InstanceRef) => act('start', ref),
      stop: (ref: InstanceRef) => act('stop', ref),
      planDelete: async () => buildPlan([]),
      delete: (ref: InstanceRef) => act('delete', ref),
    },
  };
  const backend = (context: string, kind: 'kubevirt' | 'libvirt'): Backend => {
    const require = (name: string): unknown => {
      const found =
        kind === 'libvirt' && name === 'migration'
          ? new UnavailableAbility('One host has nowhere to migrate to.')
          : abilities[name];
      if (found instanceof UnavailableAbility) throw new DomainError('NOT_SUPPORTED', found.reason);
      return found;
    };
    return {
      context,
      traits: kind === 'libvirt' ? onlyLocal : MEMORY_TRAITS,
      ability: (name: string) => abilities[name] ?? new UnavailableAbility(`There is no ${name} here.`),
      require,
      requireFor: (_kind: InstanceKind, name: string) => require(name),
    } as unknown as Backend;
  };
  const all = [backend('lab', 'kubevirt'), backend('local', 'libvirt')];
  const backends = {
    all: () => all,
    get: (context: string) => {
      const found = all.find((one) => one.context === context);
      if (!found) throw new DomainError('CONTEXT_NOT_FOUND', context);
      return found;
    },
  } as BackendDirectory;
  const same = (ref: InstanceRef, other: Partial<InstanceRef>): boolean =>
    Object.entries(other).every(([key, value]) => value === undefined || ref[key as keyof InstanceRef] === value);
  let listed = async (_isMet: (instance: Instance | undefined) => boolean, _ref: InstanceRef): Promise<void> =>
    undefined;
  const directory = {
    get: (ref: InstanceRef) => known.find((one) => same(one.ref, ref)),
    resolve: ({ uid, ...query }: Partial<InstanceRef> & { uid?: string }) => {
      const found = known.find((one) => same(one.ref, query) && (uid ?? one.uid) === one.uid);
      if (!found) throw new DomainError('INSTANCE_NOT_FOUND', 'none');
      return found;
    },
    waitFor: (ref: InstanceRef, isMet: (instance: Instance | undefined) => boolean) => listed(isMet, ref),
  } as unknown as InstanceDirectory;
  const canceled: string[] = [];
  const disks = { availability: async () => 'The bootc plugin is not here.' } as unknown as DiskBuilder;
  let taskCount = 0;
  let finished = Promise.resolve();
  const tasks = {
    start: async (_kind: string, _ref: InstanceRef, _caller: Caller, work: BackgroundWork) =>
      `task-${started.push(work)}`,
    cancel: (ref: InstanceRef, reason: Error) => void canceled.push(`${ref.name}: ${reason.message}`),
    define: (definition: TaskDefinition) => ({
      start: async (start: TaskStart<object>, caller: Caller) => {
        const id = `task-${++taskCount}`;
        const context = (more: object) => recordingStepContext(start.input, { task: id, caller, ...more });
        // The caller gets the ID before the first step begins.
        finished = Promise.resolve().then(async () => {
          for (const step of definition.steps(start.input)) await step.run(context({}));
        });
        finished.catch(() => undefined);
        return id;
      },
    }),
    whenEnded: async () => finished.catch(() => undefined),
    get: () => ({ status: 'done', error: '' }),
  } as unknown as TaskRunner;
  const log = new MemoryAuditLog();
  const { entries } = log;
  const audit = new Audit(log, new FixedClock());
  const observed: string[] = [];
  const observer: PowerObserver = {
    observe: async ({ uid }, action, { force = false }, run) => {
      observed.push(`${action}${force ? '!' : ''} ${uid}, after ${done.length}`);
      await run();
    },
  };
  const reservations = new Ledger({ clock: new FixedClock() });
  const place = new PlaceInstance(backends, directory);
  const deps = { directory, backends, audit, reservations };
  const ended: string[] = [];
  const paths = new Set(['prod']);
  const joined: string[] = [];
  const folders: Omit<FolderDirectory, 'folderOf' | 'subscribe'> = {
    hasFolder: (path) => paths.has(path),
    join: async ({ uid }, path, state) => {
      if (!paths.has(path)) throw new DomainError('FOLDER_NOT_FOUND', `There is no folder ${path}.`);
      joined.push(`${uid} ${path} ${state}`);
    },
    complete: async ({ uid }) => void joined.push(`${uid} complete`),
    endWith: async ({ uid }, remove) => {
      ended.push(`${uid}, after ${done.length}`);
      await remove();
    },
  };
  return {
    done,
    specs,
    images,
    entries,
    started,
    canceled,
    known,
    goesOn: (work: BackgroundWork) => (remaining = work),
    fails: (error: DomainError) => (failure = error),
    waits: (wait: typeof listed) => (listed = wait),
    createVm: new CreateVm({
      place,
      directory,
      tasks,
      audit,
      reservations,
      catalog: new OneImage(),
      folders,
      builds: new BuildVm({ disks, backends, directory, tasks, folders }),
    }),
    deleteVm: new DeleteVm({ ...deps, tasks, folders }),
    power: new ApplyPower({ ...deps, observer }),
    observed,
    paths,
    joined,
    ended,
    tag: new TagVm(deps),
    migrate: new MigrateVm({ ...deps, tasks }),
    createContainer: new CreateContainer({ place, directory, audit, reservations, folders }),
    containerPower: new ApplyContainerPower(deps),
    deleteContainer: new DeleteContainer({ ...deps, folders }),
  };
}

const code = (expected: string): unknown => expect.objectContaining({ code: expected });
const web = { kind: 'vm', namespace: 'default', name: 'web' } as const;

describe('CreateVm', () => {
  const request: CreateVmRequest = { name: 'web', image: 'tiny' };

  test('fills in the defaults', async () => {
    const { createVm, specs, entries } = house();
    await expect(createVm.run(request, ann)).resolves.toEqual({
      ref: { kind: 'vm', context: 'lab', namespace: 'tailvm', name: 'web' },
      task: undefined,
    });
    expect(specs[0]).toMatchObject({
      cpu: 2,
      memoryBytes: 4 * 1024 ** 3,
      diskBytes: 20 * 1024 ** 3,
      start: false,
      source: { kind: 'image', entry: tiny },
    });
    expect(entries).toMatchObject([{ caller: 'ann', action: 'create', ref: 'vm/lab/tailvm/web', outcome: 'ok' }]);
  });

  test('continues as a task while the disk is filled', async () => {
    const { createVm, goesOn, started } = house();
    const work: BackgroundWork = async () => undefined;
    goesOn(work);
    await expect(createVm.run({ name: 'web', import: 'https://example.org/a.qcow2' }, ann)).resolves.toMatchObject({
      task: 'task-1',
    });
    expect(started).toEqual([work]);
  });

  test('accepts the only namespace of a backend and refuses any other', async () => {
    const { createVm } = house();
    await expect(createVm.run({ ...request, context: 'local' }, ann)).resolves.toMatchObject({
      ref: { namespace: 'local' },
    });
    await expect(createVm.run({ ...request, context: 'local', namespace: 'lab' }, ann)).rejects.toEqual(
      code('INVALID_INPUT'),
    );
  });

  test.each([
    [{ image: undefined }, 'INVALID_SOURCE'],
    [{ iso: 'https://example.org/a.iso' }, 'INVALID_SOURCE'],
    [{ sshKey: 'ssh-ed25519 AAAA' }, 'INVALID_SOURCE'],
    [{ image: 'none' }, 'UNKNOWN_CATALOG_ENTRY'],
    [{ image: undefined, bootc: 'a/b' }, 'NOT_SUPPORTED'],
    [{ context: 'nowhere' }, 'CONTEXT_NOT_FOUND'],
    [{ mem: '4 Gi' }, 'INVALID_QUANTITY'],
    [{ name: 'Web' }, 'INVALID_NAME'],
  ])('refuses %j as %s, when rehearsed too, and asks no backend', async (change, expected) => {
    const { createVm, done } = house();
    await expect(createVm.run({ ...request, ...change }, ann)).rejects.toEqual(code(expected));
    await expect(createVm.plan({ ...request, ...change })).rejects.toEqual(code(expected));
    expect(done).toEqual([]);
  });

  test('uses an imported image of the namespace once it is ready, and none of another namespace', async () => {
    const { createVm, images, specs } = house();
    const own = { ref: { namespace: 'tailvm', name: 'golden' }, phase: 'ImportInProgress' };
    images.push({ ref: { namespace: 'other', name: 'golden' }, phase: 'Succeeded' });
    await expect(createVm.plan({ ...request, image: 'golden' })).rejects.toEqual(code('UNKNOWN_CATALOG_ENTRY'));
    images.push(own);
    await expect(createVm.run({ ...request, image: 'golden' }, ann)).rejects.toEqual(code('WRONG_STATE'));
    own.phase = 'Succeeded';
    await createVm.run({ ...request, image: 'golden' }, ann);
    expect(specs).toMatchObject([{ source: { kind: 'image', entry: { name: 'golden', imported: true } } }]);
  });

  test('refuses the name of another VM, but not the name of a container', async () => {
    const { createVm, known } = house();
    known.push(buildContainer({ ref: { namespace: 'tailvm', name: 'web' } }));
    await createVm.plan(request);
    known.push(buildVm({ ref: { namespace: 'tailvm', name: 'web' } }));
    await expect(createVm.run(request, ann)).rejects.toEqual(code('ALREADY_EXISTS'));
  });

  test('records a failed creation with its caller', async () => {
    const { createVm, fails, entries } = house();
    fails(new DomainError('INSUFFICIENT_STORAGE', 'The disk is full.'));
    await expect(createVm.run(request, ann)).rejects.toEqual(code('INSUFFICIENT_STORAGE'));
    expect(entries).toMatchObject([{ outcome: 'error', message: 'The disk is full.', caller: 'ann' }]);
  });

  test('changes nothing in a dry run', async () => {
    const { createVm, done, entries } = house();
    await expect(createVm.plan(request)).resolves.toEqual(buildPlan([{ name: 'define', detail: 'web' }]));
    expect([done, entries]).toEqual([[], []]);
  });
});

describe('a VM that is created in a folder', () => {
  const request: CreateVmRequest = { name: 'web', image: 'tiny', folder: 'prod', tags: ['a', 'b'], network: 'lan' };
  const listedAs = (uid: string, known: Instance[]) => async (_isMet: unknown, ref: InstanceRef) =>
    void known.push(buildVm({ ref, uid }));
  const report = recordingReporter();

  test('is planned with its tags and its folder, and gets the rest from its backend', async () => {
    const { createVm, specs } = house();
    const { steps } = await createVm.plan(request);
    expect(steps.slice(1)).toEqual([
      { name: 'tag', detail: 'Tag web with a, b.' },
      { name: 'folder', detail: 'Put web into the folder prod.' },
    ]);
    await createVm.run({ ...request, storageClass: 'fast' }, ann);
    expect(specs).toMatchObject([{ tags: ['a', 'b'], network: 'lan', storageClass: 'fast' }]);
  });

  test('is refused where there is no such folder, and asks no backend', async () => {
    const { createVm, done } = house();
    const { refusals } = await createVm.plan({ ...request, folder: 'none' });
    expect(refusals).toMatchObject([{ code: 'FOLDER_NOT_FOUND', reason: 'folder: there is no folder none.' }]);
    await expect(createVm.run({ ...request, folder: 'none' }, ann)).rejects.toEqual(code('FOLDER_NOT_FOUND'));
    expect(done).toEqual([]);
  });

  test('joins it when it is listed', async () => {
    const { createVm, waits, known, joined } = house();
    waits(listedAs('uid-1', known));
    await expect(createVm.run(request, ann)).resolves.toMatchObject({ warnings: undefined });
    expect(joined).toEqual(['uid-1 prod member']);
  });

  test('leaves nothing in the folder when its creation fails', async () => {
    const { createVm, fails, joined } = house();
    fails(new DomainError('INSUFFICIENT_STORAGE', 'The disk is full.'));
    await expect(createVm.run(request, ann)).rejects.toEqual(code('INSUFFICIENT_STORAGE'));
    expect(joined).toEqual([]);
  });

  test('is a member for good only when its disk is filled', async () => {
    const { createVm, waits, known, joined, goesOn, started } = house();
    goesOn(async () => undefined);
    waits(listedAs('uid-1', known));
    await createVm.run(request, ann);
    expect(joined).toEqual(['uid-1 prod ending']);
    await started[0]?.(report);
    expect(joined).toEqual(['uid-1 prod ending', 'uid-1 complete']);
  });

  test('stays one that ends with its VM when its disk could not be filled', async () => {
    const { createVm, waits, known, joined, goesOn, started } = house();
    goesOn(() => Promise.reject(new Error('no space')));
    waits(listedAs('uid-1', known));
    await createVm.run(request, ann);
    await expect(started[0]?.(report)).rejects.toThrow('no space');
    expect(joined).toEqual(['uid-1 prod ending']);
  });

  test('is created without the folder if that is removed meanwhile, and says so', async () => {
    const { createVm, waits, known, paths } = house();
    waits(async (_isMet, ref) => {
      known.push(buildVm({ ref, uid: 'uid-1' }));
      paths.clear();
    });
    await expect(createVm.run(request, ann)).resolves.toMatchObject({
      warnings: ['web was not put into the folder prod: There is no folder prod.'],
    });
  });
});

describe('DeleteVm', () => {
  test('deletes the named VM and records it', async () => {
    const { deleteVm, known, done, entries, canceled, ended } = house();
    known.push(buildVm({ ref: { name: 'web-2' } }), buildVm({ uid: 'uid-web' }));
    await deleteVm.run(web, ann);
    expect(ended).toEqual(['uid-web, after 0']);
    expect(canceled).toEqual(['web: web was deleted.']);
    expect(done).toEqual(['delete lab/default/web']);
    expect(entries).toMatchObject([{ action: 'delete', ref: 'vm/lab/default/web' }]);
  });

  test('refuses to delete a protected VM, in a dry run as well', async () => {
    const { deleteVm, known, done, canceled } = house();
    known.push(buildVm({ protected: true }));
    await expect(deleteVm.run(web, ann)).rejects.toEqual(code('WRONG_STATE'));
    await expect(deleteVm.plan(web)).rejects.toEqual(code('WRONG_STATE'));
    expect([done, canceled]).toEqual([[], []]);
  });
});

describe('ApplyPower, TagVm and MigrateVm', () => {
  test('act on the backend of the instance and record the caller', async () => {
    const { power, tag, migrate, known, done, entries, observed } = house();
    known.push(buildVm({ status: 'Running', uid: 'uid-web' }));
    await power.run(web, 'stop', {}, ann);
    await power.run(web, 'stop', { force: true }, ann);
    expect(observed).toEqual(['stop uid-web, after 0', 'stop! uid-web, after 1']);
    await tag.run(web, 'prod', true, ann);
    await expect(migrate.run(web, '', ann)).resolves.toBe('task-1');
    await migrate.run(web, 'node-2', ann);
    expect(done).toEqual([
      'stop lab/default/web',
      'stop! lab/default/web',
      '+prod lab/default/web',
      'migrate to undefined lab/default/web',
      'migrate to node-2 lab/default/web',
    ]);
    expect(entries.map(({ action }) => action)).toEqual([
      'stop',
      'stop by force',
      'add tag prod',
      'migrate',
      'migrate',
    ]);
  });

  test('let the next request see the new status', async () => {
    const outcomes = [
      ['start', 'Stopped', {}, 'Starting'],
      ['stop', 'Running', { force: true }, 'Stopped'],
      ['pause', 'Running', {}, 'Paused'],
      ['unpause', 'Paused', {}, 'Running'],
      // The guest decides when it ends, or there is nothing to do.
      ['stop', 'Running', {}, 'Running'],
      ['start', 'Running', {}, 'Running'],
      ['restart', 'Running', {}, 'Running'],
    ] as const;
    for (const [action, before, options, after] of outcomes) {
      const { power, tag, known, done, waits } = house();
      known.push(buildVm({ status: before, uid: 'uid-web' }));
      const reported = Promise.withResolvers<void>();
      waits(async (isMet) => {
        while (!isMet(known[0])) await reported.promise;
      });
      const first = power.run(web, action, options, ann);
      const second = tag.run(web, 'prod', true, ann);
      // After all work that needs no timer.
      await new Promise(setImmediate);
      expect([action, before, done.length]).toEqual([action, before, after === before ? 2 : 1]);
      known[0] = buildVm({ status: after, uid: 'uid-web', tags: ['prod'] });
      reported.resolve();
      await Promise.all([first, second]);
      expect(done.at(-1)).toBe('+prod lab/default/web');
    }
  });

  test('change nothing in a dry run', async () => {
    const { power, tag, migrate, known, done } = house();
    known.push(buildVm({ status: 'Running', tags: ['prod'] }));
    await power.plan(web, 'start', {});
    expect((await tag.plan(web, 'prod', true)).steps).toEqual([]);
    expect((await tag.plan(web, 'prod', false)).steps).toHaveLength(1);
    await migrate.plan(web, undefined);
    expect(done).toEqual([]);
  });

  test('refuse an unavailable ability with its reason, and the migration of a stopped VM', async () => {
    const { migrate, known } = house();
    known.push(buildVm(), buildVm({ status: 'Running', ref: { context: 'local', namespace: 'local' } }));
    await expect(migrate.run(web, undefined, ann)).rejects.toEqual(code('WRONG_STATE'));
    await expect(migrate.run({ ...web, namespace: 'local' }, undefined, ann)).rejects.toEqual(code('NOT_SUPPORTED'));
  });
});

describe('CreateContainer, ApplyContainerPower and DeleteContainer', () => {
  const box = { kind: 'ct', namespace: 'default', name: 'box' } as const;
  const request = { name: 'box', image: 'debian:12', namespace: 'default' };

  test('create, stop, start and delete, and leave a VM of the same name alone', async () => {
    const { createContainer, containerPower, deleteContainer, known, done, entries } = house();
    known.push(buildVm({ ref: { name: 'box' } }));
    await createContainer.run(request, ann);
    known.push(buildContainer());
    await containerPower.run(box, 'stop', ann);
    await containerPower.run(box, 'start', ann);
    await deleteContainer.run(box, ann);
    const acts = ['create', 'stop', 'start', 'delete'];
    expect(done).toEqual(acts.map((act) => `${act} lab/default/box`));
    expect(entries).toEqual(acts.map((action) => expect.objectContaining({ action, caller: 'ann', outcome: 'ok' })));
  });

  test('change nothing in a dry run', async () => {
    const { createContainer, containerPower, deleteContainer, known, done, entries } = house();
    await createContainer.plan(request);
    known.push(buildContainer());
    expect((await containerPower.plan(box, 'stop')).steps).toEqual([{ name: 'stop', detail: 'box' }]);
    await deleteContainer.plan(box);
    expect([done, entries]).toEqual([[], []]);
  });

  test('put a new container into a folder, with a step in the plan', async () => {
    const { createContainer, waits, known, joined } = house();
    const inFolder = { ...request, folder: 'prod' };
    const { steps } = await createContainer.plan(inFolder);
    expect(steps.at(-1)).toEqual({ name: 'folder', detail: 'Put box into the folder prod.' });
    waits(async () => void known.push(buildContainer()));
    const { ref, warnings } = await createContainer.run(inFolder, ann);
    expect([ref.name, warnings, joined]).toEqual(['box', undefined, [`${buildContainer().uid} prod member`]]);
  });

  test('refuse a folder that does not exist, and create nothing', async () => {
    const { createContainer, done, joined } = house();
    const lost = { ...request, folder: 'gone' };
    expect((await createContainer.plan(lost)).refusals).toEqual([code('FOLDER_NOT_FOUND')]);
    await expect(createContainer.run(lost, ann)).rejects.toEqual(code('FOLDER_NOT_FOUND'));
    expect([done, joined]).toEqual([[], []]);
  });

  test('create a container although its folder is removed meanwhile, with a warning', async () => {
    const { createContainer, waits, known, joined, paths } = house();
    waits(async () => {
      known.push(buildContainer());
      paths.delete('prod');
    });
    const { warnings } = await createContainer.run({ ...request, folder: 'prod' }, ann);
    expect([warnings, joined]).toEqual([['box was not put into the folder prod: There is no folder prod.'], []]);
  });

  test('refuse the name of another container', async () => {
    const { createContainer, known } = house();
    known.push(buildContainer());
    await expect(createContainer.run(request, ann)).rejects.toEqual(code('ALREADY_EXISTS'));
  });
});

describe('Audit', () => {
  test('does not report a change as failed when only its audit entry could not be written', async () => {
    const outcomes: string[] = [];
    const log = new MemoryAuditLog();
    log.append = ({ outcome }) => {
      outcomes.push(outcome);
      throw new Error('The disk is full.');
    };
    const done = new Audit(log, new FixedClock()).of(ann, 'stop', buildVm().ref, async () => undefined);
    await expect(done).rejects.toThrow('The disk is full.');
    expect(outcomes).toEqual(['ok']);
  });

  test('reserves the space of the entry before the work, and gives it back with the entry or the error', async () => {
    const log = new MemoryAuditLog();
    const seen: string[] = [];
    log.reserve = () => {
      seen.push('reserved');
      return () => void seen.push(`given back with ${log.entries.length}`);
    };
    const audit = new Audit(log, new FixedClock());
    await audit.of(ann, 'stop', buildVm().ref, async () => void seen.push('stopped'));
    const failure = audit.of(ann, 'stop', buildVm().ref, () => Promise.reject(new Error('No.')));
    await expect(failure).rejects.toThrow('No.');
    expect(seen).toEqual(['reserved', 'stopped', 'given back with 1', 'reserved', 'given back with 2']);
  });

  test('does not begin a change whose entry would have no space', async () => {
    const log = new MemoryAuditLog();
    const full = new DomainError('REGISTRY_FULL', 'The disk is full.');
    log.reserve = () => {
      throw full;
    };
    let begun = 0;
    const audit = new Audit(log, new FixedClock());
    await expect(audit.of(ann, 'stop', buildVm().ref, async () => void begun++)).rejects.toBe(full);
    expect([begun, log.entries, audit.hasSpace()]).toEqual([0, [], false]);
  });
});
