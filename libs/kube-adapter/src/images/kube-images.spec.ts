import {
  DomainError,
  SystemClock,
  type ImageRef,
  type ImportedImages,
  type NewImage,
  type VmSpec,
} from '@headgate/domain-contracts';
import { recordingReporter } from '@headgate/testing';
import { KubeApi } from '../api/kube-api.js';
import { KubeCredentials } from '../api/kube-credentials.js';
import type { KubeObject } from '../api/kube-object.js';
import { DATA_VOLUMES } from '../api/resources.js';
import { ClusterDiscovery } from '../discovery/cluster-discovery.js';
import { NAMESPACE, SandboxHarness } from '../testing/sandbox-harness.contract.js';
import { Reachability } from '../watch/reachability.js';
import { ImageUploads } from './image-uploads.js';
import { KubeImages } from './kube-images.js';

const GIB = 1024 ** 3;
const DATA_VOLUME_KIND = 'datavolumes.cdi.kubevirt.io';
const CLAIM_KIND = 'persistentvolumeclaims';
const SHA256 = `sha256:${'ab'.repeat(32)}`;

describe('imported images of a cluster', () => {
  let harness: SandboxHarness;
  let images: ImportedImages;

  beforeEach(async () => {
    harness = await SandboxHarness.open();
    images = harness.backend.require('images');
  });
  afterEach(() => harness.close());

  const store = () => harness.sandbox.store;
  const names = (resource: string): string[] =>
    store()
      .list(resource, { namespace: NAMESPACE })
      .map(({ metadata }) => metadata.name);
  const stored = (ref: ImageRef) => store().get(DATA_VOLUME_KIND, ref) as (KubeObject & { spec: unknown }) | undefined;
  const freshRef = (): ImageRef => {
    const { context, namespace, name } = harness.freshRef();
    return { context, namespace, name };
  };
  const newImage = (
    ref = freshRef(),
    origin: NewImage['origin'] = { kind: 'url', url: 'https://images.example/a.qcow2' },
  ) => ({ ref, bytes: GIB, origin });
  const imported = async (): Promise<ImageRef> => {
    const image = newImage();
    await (
      await images.import(image)
    )(recordingReporter());
    return image.ref;
  };
  const listed = async () => (await images.list()).map(({ ref }) => ref.name);
  const refusals = async (image: NewImage) => (await images.planImport(image)).refusals.map(({ code }) => code);

  const putDataVolume = (metadata: object, source: object = { blank: {} }): void =>
    void store().create(DATA_VOLUME_KIND, {
      apiVersion: 'cdi.kubevirt.io/v1beta1',
      kind: 'DataVolume',
      metadata: { namespace: NAMESPACE, ...metadata },
      spec: { source, storage: { resources: { requests: { storage: '1Gi' } } } },
    } as never);

  /** Waits for a claim in the store. */
  const untilClaims = (isMet: (name: string) => boolean): Promise<void> =>
    new Promise((resolve) => {
      const look = (): boolean => names(CLAIM_KIND).some(isMet);
      if (look()) return resolve();
      const unsubscribe = store().subscribe(CLAIM_KIND, () => {
        if (!look()) return;
        unsubscribe();
        resolve();
      });
    });

  const expectUntouched = async (name: string): Promise<void> => {
    const ref = { context: 'prod', namespace: NAMESPACE, name };
    const before = stored(ref)?.metadata.uid;
    expect(before).toBeDefined();
    expect(await listed()).toEqual([]);
    for (const attempt of [() => images.planDelete(ref), () => images.delete(ref)])
      await expect(attempt()).rejects.toMatchObject({ code: 'IMAGE_NOT_FOUND' });
    expect(await refusals(newImage(ref))).toContain('ALREADY_EXISTS');
    await expect(images.import(newImage(ref))).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
    expect(stored(ref)?.metadata.uid).toBe(before);
  };

  const vmFrom = (image: string, overrides: Partial<VmSpec> = {}): VmSpec => ({
    ref: harness.freshRef(),
    cpu: 1,
    memoryBytes: GIB,
    diskBytes: GIB,
    start: false,
    source: {
      kind: 'image',
      entry: { name: image, description: '', containerDisk: '', defaultUser: '', imported: true },
    },
    ...overrides,
  });

  test('are DataVolumes with the label of this service, which do not wait for a pod that uses them', async () => {
    const ref = await imported();
    expect(stored(ref)).toMatchObject({
      metadata: {
        labels: { 'svc.dev/kind': 'image' },
        annotations: {
          'cdi.kubevirt.io/storage.bind.immediate.requested': 'true',
          'cdi.kubevirt.io/storage.deleteAfterCompletion': 'false',
        },
      },
      spec: {
        source: { http: { url: 'https://images.example/a.qcow2' } },
        storage: { resources: { requests: { storage: '1Gi' } } },
      },
    });
    expect((await images.list())[0]?.createdAt).toMatch(/^\d{4}-/);
  });

  test('report the progress of CDI to the task', async () => {
    const report = recordingReporter();
    await (
      await images.import(newImage())
    )(report);
    expect(report.steps).toEqual(['import']);
    expect(report.fractions.at(-1)).toBe(1);
  });

  test.each<[string, object]>([
    ['without the label', { name: 'foreign' }],
    ['of another kind', { name: 'foreign', labels: { 'svc.dev/kind': 'ct' } }],
    ['of a VM', { name: 'foreign', labels: { 'svc.dev/kind': 'image', 'svc.dev/vm': 'web' } }],
  ])('are not the DataVolumes %s, which are never deleted or replaced', async (_whose, metadata) => {
    putDataVolume(metadata);
    await expectUntouched('foreign');
  });

  test('are not DataVolumes with an owner, even with the label', async () => {
    const { namespace, name } = await harness.givenVm('Stopped');
    const { uid } = store().get('virtualmachines.kubevirt.io', { namespace, name })?.metadata ?? {};
    const ownerReferences = [{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', name, uid, controller: true }];
    putDataVolume({ name: 'foreign', labels: { 'svc.dev/kind': 'image' }, ownerReferences });
    await expectUntouched('foreign');
  });

  test('do not take the name of a claim', async () => {
    const ref = freshRef();
    store().create(CLAIM_KIND, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: ref.name, namespace: NAMESPACE },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    } as never);
    expect(await refusals(newImage(ref))).toEqual(['ALREADY_EXISTS']);
    expect(names(DATA_VOLUME_KIND)).toEqual([]);
  });

  test('are listed without the claims through which CDI fills them', async () => {
    const ref = freshRef();
    const release = harness.holdImport(ref);
    const work = await images.import(newImage(ref));
    await untilClaims((name) => name.startsWith('prime-'));
    expect(await listed()).toEqual([ref.name]);
    release();
    await work(recordingReporter());
  });

  test('that CDI can not import stay in the list with the reason of its condition, until they are deleted', async () => {
    const { ref } = newImage();
    harness.simulation.faults.inject('import-fatal', ref);
    const work = await images.import(newImage(ref));
    await expect(work(recordingReporter())).rejects.toMatchObject({
      code: 'BACKEND_FAILED',
      message: expect.stringContaining('checksum mismatch'),
    });
    expect(await images.list()).toEqual([
      expect.objectContaining({ ref, phase: 'Failed', reason: expect.stringContaining('checksum mismatch') }),
    ]);
    await images.delete(ref);
    expect([await listed(), names(DATA_VOLUME_KIND), names(CLAIM_KIND)]).toEqual([[], [], []]);
  });

  test('whose address does not answer fail with its problem, while CDI keeps trying', async () => {
    const image = newImage(freshRef(), { kind: 'url', url: 'https://unreachable.example/a.qcow2' });
    const work = await images.import(image);
    await expect(work(recordingReporter())).rejects.toMatchObject({
      code: 'BACKEND_FAILED',
      message: expect.stringContaining('404 Not Found'),
    });
    expect((await images.list())[0]).toMatchObject({ progress: null, reason: expect.stringContaining('404') });
    await images.delete(image.ref);
  });

  test('are not deleted while a VM uses the claim as its disk', async () => {
    const ref = await imported();
    const provisioning = harness.backend.require('provisioning');
    const vm = vmFrom(ref.name, { source: { kind: 'pvc', claim: ref.name } });
    await provisioning.create(vm);
    await expect(images.delete(ref)).rejects.toMatchObject({
      code: 'BUSY',
      message: expect.stringContaining(`the VM ${vm.ref.name}`),
    });
    expect((await provisioning.planCreate(vmFrom(ref.name))).refusals.map(({ code }) => code)).toEqual(['BUSY']);
    expect(await listed()).toEqual([ref.name]);
    await provisioning.delete(vm.ref);
    await harness.recorder.until(() => harness.recorder.vm(vm.ref) === undefined);
    await images.delete(ref);
    expect(await listed()).toEqual([]);
  });

  test('are not deleted while the disk of a VM is still to be copied from them', async () => {
    await harness.close();
    harness = await SandboxHarness.open({ simulation: { cluster: { defaultStorageClass: 'topolvm' } } });
    images = harness.backend.require('images');
    const ref = await imported();
    const vm = vmFrom(ref.name);
    await (await harness.backend.require('provisioning').create(vm)).remaining?.(recordingReporter());
    expect((await images.planDelete(ref)).refusals.map(({ code }) => code)).toEqual(['BUSY']);
    await expect(images.delete(ref)).rejects.toMatchObject({ code: 'BUSY' });
    await harness.backend.require('power').apply(vm.ref, 'start');
    await harness.recorder.untilVm(vm.ref, ({ status }) => status === 'Running');
    await images.delete(ref);
    expect(harness.recorder.vm(vm.ref)?.status).toBe('Running');
  });

  test('become the disk of a VM only if they are ready and fit', async () => {
    const provisioning = harness.backend.require('provisioning');
    const ref = await imported();
    const codes = async (spec: VmSpec) => (await provisioning.planCreate(spec)).refusals.map(({ code }) => code);
    expect(await codes(vmFrom(ref.name))).toEqual([]);
    expect(await codes(vmFrom(ref.name, { diskBytes: GIB - 1 }))).toEqual(['INVALID_QUANTITY']);
    putDataVolume({ name: 'foreign' });
    for (const name of ['missing', 'foreign', 'Not a name']) {
      const spec = vmFrom(name);
      expect(await codes(spec)).toEqual(['UNKNOWN_CATALOG_ENTRY']);
      await expect(provisioning.create(spec)).rejects.toMatchObject({ code: 'UNKNOWN_CATALOG_ENTRY' });
    }
    expect(names('virtualmachines.kubevirt.io')).toEqual([]);
  });

  test('show the place of their source, and neither its password nor its query', async () => {
    const url = 'https://ann:secret@images.example/a.qcow2?token=hidden';
    const image = newImage(freshRef(), { kind: 'url', url });
    const plan = await images.planImport(image);
    expect(plan.warnings).toEqual([expect.stringContaining('password')]);
    await images.import(image);
    expect(JSON.stringify([plan, await images.list()])).not.toMatch(/secret|hidden/);
    expect((await images.list())[0]?.source).toBe('https://images.example/a.qcow2');
  });

  test('offered by an administrator keep their source and size', async () => {
    const labels = { 'svc.dev/kind': 'image' };
    putDataVolume({ name: 'a', labels }, { registry: { url: 'docker://registry.example.org/fedora:42' } });
    putDataVolume({ name: 'b', labels }, { upload: {} });
    putDataVolume({ name: 'c', labels }, { pvc: { namespace: 'golden', name: 'debian' } });
    const sources = (await images.list()).map(({ ref, source, bytes }) => [ref.name, source, bytes]);
    expect(sources).toEqual([
      ['a', 'docker://registry.example.org/fedora:42', GIB],
      ['b', 'upload', GIB],
      ['c', 'PVC golden/debian', GIB],
    ]);
  });

  test.each(['ftp://images.example/a.qcow2', 'file:///etc/passwd', 'not a URL'])(
    'are not imported from %s',
    async (url) => {
      const image = newImage(freshRef(), { kind: 'url', url });
      expect(await refusals(image)).toEqual(['INVALID_SOURCE']);
      await expect(images.import(image)).rejects.toMatchObject({ code: 'INVALID_SOURCE' });
      expect(names(DATA_VOLUME_KIND)).toEqual([]);
    },
  );

  test('create a missing namespace, but not in the plan', async () => {
    const ref = { ...freshRef(), namespace: 'fresh' };
    expect((await images.planImport(newImage(ref))).steps.map(({ name }) => name)).toContain('namespace');
    expect(store().get('namespaces', { name: 'fresh' })).toBeUndefined();
    await (
      await images.import(newImage(ref))
    )(recordingReporter());
    expect((await images.list()).map((image) => image.ref)).toEqual([ref]);
  });

  test('need CDI', async () => {
    await harness.close();
    harness = await SandboxHarness.open({ simulation: { without: ['cdi', 'snapshots'] } });
    await harness.backend.require('cluster').storage();
    expect(() => harness.backend.require('images')).toThrow(/CDI/);
  });

  test.each([
    ['of the request', 'https://images.example/a.qcow2', SHA256],
    ['of the URL', `https://images.example/a.qcow2#${SHA256}`, undefined],
  ])('have the checksum %s verified by CDI', async (_where, url, checksum) => {
    const image = newImage(freshRef(), { kind: 'url', url, checksum });
    await images.import(image);
    expect(stored(image.ref)?.spec).toMatchObject({
      source: { http: { url: 'https://images.example/a.qcow2', checksum: SHA256 } },
    });
  });

  describe('over an API that', () => {
    let credentials: KubeCredentials;
    afterEach(() => credentials.close());

    /** Images over the sandbox, with some methods of the API replaced. */
    const imagesOver = (replace: (api: KubeApi) => Partial<KubeApi>): KubeImages => {
      const clock = new SystemClock();
      credentials = new KubeCredentials({ text: harness.sandbox.kubeconfig() });
      const real = new KubeApi('prod', credentials, clock);
      const api: KubeApi = Object.assign(Object.create(real) as KubeApi, replace(real));
      const discovery = new ClusterDiscovery(real, clock);
      return new KubeImages({
        api,
        clock,
        discovery,
        context: 'prod',
        uploads: new ImageUploads({ api, clock, discovery }),
        reachability: new Reachability(async () => undefined, clock),
      });
    };

    test('drops the checksum, nothing is imported unverified', async () => {
      const old = imagesOver((api) => ({
        create: async <T extends KubeObject>(...[resource, object, options]: Parameters<KubeApi['create']>) => {
          const created = structuredClone(
            await api.create<T & { spec: { source: { http: object } } }>(resource, object, options),
          );
          if ('checksum' in created.spec.source.http) delete created.spec.source.http.checksum;
          return created;
        },
      }));
      const image = newImage(freshRef(), { kind: 'url', url: 'https://images.example/a.qcow2', checksum: SHA256 });
      await expect(old.import(image)).rejects.toMatchObject({
        code: 'NOT_SUPPORTED',
        message: expect.stringContaining('1.65'),
      });
      expect(names(DATA_VOLUME_KIND)).toEqual([]);
      expect((await old.planImport(newImage())).refusals).toEqual([]);
    });

    test('does not answer the creation, the image of this call is followed', async () => {
      const lossy = imagesOver((api) => ({
        create: async <T extends KubeObject>(...[resource, object, options]: Parameters<KubeApi['create']>) => {
          const created = await api.create<T>(resource, object, options);
          if (!options?.dryRun && resource === DATA_VOLUMES) throw new DomainError('BACKEND_TIMEOUT', 'No answer.');
          return created;
        },
      }));
      const image = newImage();
      await (
        await lossy.import(image)
      )(recordingReporter());
      expect((await lossy.list())[0]).toMatchObject({ ref: image.ref, phase: 'Succeeded' });
    });

    test('sends the creation again after its response was lost, the image of this call is followed', async () => {
      const resending = imagesOver((api) => ({
        create: async <T extends KubeObject>(...[resource, object, options]: Parameters<KubeApi['create']>) => {
          if (!options?.dryRun && resource === DATA_VOLUMES) {
            await api.create(resource, object, options);
            await untilClaims((claim) => claim === object.metadata.name);
          }
          return api.create<T>(resource, object, options);
        },
      }));
      const image = newImage();
      await (
        await resending.import(image)
      )(recordingReporter());
      expect(await listed()).toEqual([image.ref.name]);
    });

    test.each([false, true])(
      'has an image of another client in the meantime, that one is not taken for its own (claim: %s)',
      async (hasClaim) => {
        const late = imagesOver((api) => ({
          create: async <T extends KubeObject>(...[resource, object, options]: Parameters<KubeApi['create']>) => {
            if (!options?.dryRun) {
              putDataVolume({ name: object.metadata.name, labels: { 'svc.dev/kind': 'image' } });
              if (hasClaim) await untilClaims((claim) => claim === object.metadata.name);
            }
            return api.create<T>(resource, object, options);
          },
        }));
        const image = newImage();
        await expect(late.import(image)).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
        expect(stored(image.ref)?.spec).toMatchObject({ source: { blank: {} } });
      },
    );

    test('replaces the image before the deletion, the new one stays', async () => {
      const ref = await imported();
      const replaced = imagesOver((api) => ({
        delete: async (...[resource, path, options]: Parameters<KubeApi['delete']>) => {
          await images.delete(ref);
          putDataVolume({ name: ref.name, labels: { 'svc.dev/kind': 'image' } });
          return api.delete(resource, path, options);
        },
      }));
      await replaced.delete(ref);
      expect(stored(ref)?.spec).toMatchObject({ source: { blank: {} } });
    });
  });
});
