import {
  displayUrl,
  IMAGE_PHASE,
  type BackgroundWork,
  type CatalogEntry,
  type ImageOrigin,
  type ImageRef,
  type ImportedImage,
  type ImportedImages,
} from '@headgate/domain-contracts';
import type { InventoryRecorder } from '../inventory-recorder.js';
import type { BackendHarness, ContractOptions, OpenHarness } from './backend-harness.js';
import { contractTests } from './contract-tests.js';
import { createdVm } from './created-vm.js';
import { recordingReporter } from './recording-reporter.js';

export interface ImagesContractOptions {
  /**
   * Whether the disk of a VM is a full copy of the image that it was created from. Default false: the VM needs the
   * image.
   */
  readonly copies?: boolean;
}

/** VMs that are created from the images have disks of the same size. */
const bytesOf = ({ diskBytes }: BackendHarness): number => diskBytes ?? 1024 ** 3;

/** The rules for every `ImportedImages`. */
export function importedImagesContract(
  adapter: string,
  open: OpenHarness,
  { timeoutMs = 30_000, copies = false }: ContractOptions & ImagesContractOptions = {},
): void {
  describe(`ImportedImages, ${adapter}`, () => {
    let harness: BackendHarness;
    let images: ImportedImages;
    let recorder: InventoryRecorder;
    const { inTime, afterTest } = contractTests(open, timeoutMs, async (opened) => {
      ({ harness } = opened);
      images = harness.backend.require('images');
      recorder = await opened.recorder();
    });

    const freshImage = (): ImageRef => {
      const { context, namespace, name } = harness.freshRef();
      return { context, namespace, name };
    };
    const origin = async (): Promise<ImageOrigin> =>
      (await harness.imageOrigin?.()) ?? { kind: 'url', url: 'https://images.example/disk.qcow2?key=hidden' };
    const begin = async (ref = freshImage()): Promise<BackgroundWork> =>
      images.import({ ref, bytes: bytesOf(harness), origin: await origin() });
    const imported = async (ref = freshImage()): Promise<ImageRef> => {
      await (
        await begin(ref)
      )(recordingReporter());
      return ref;
    };
    const hold = (ref: ImageRef): (() => void) => {
      const release = harness.holdImport?.(ref) ?? (() => undefined);
      afterTest(release);
      return release;
    };
    const find = async (ref: ImageRef): Promise<ImportedImage | undefined> =>
      (await images.list()).find(
        (image) =>
          image.ref.name === ref.name && image.ref.namespace === ref.namespace && image.ref.context === ref.context,
      );
    const entryOf = (ref: ImageRef): CatalogEntry => ({
      name: ref.name,
      description: '',
      containerDisk: '',
      defaultUser: '',
      imported: true,
    });
    const vmFrom = (ref: ImageRef) =>
      createdVm(harness, recorder, { start: true, source: { kind: 'image', entry: entryOf(ref) } });

    inTime('lists an image from the moment its import begins', async () => {
      const ref = freshImage();
      const release = hold(ref);
      const work = await begin(ref);
      const running = await find(ref);
      expect(running).toBeDefined();
      expect([IMAGE_PHASE.ready as string, IMAGE_PHASE.failed]).not.toContain(running?.phase);
      release();
      await work(recordingReporter());
      expect(await find(ref)).toMatchObject({ ref, bytes: bytesOf(harness), phase: IMAGE_PHASE.ready, progress: 1 });
      const from = await origin();
      const source = (await find(ref))?.source;
      expect(source).toBe(from.kind === 'upload' ? 'upload' : displayUrl(from.url));
      expect(source).not.toContain('hidden');
    });

    inTime('refuses a name that an image has, and leaves that image alone', async () => {
      const ref = await imported();
      const before = await find(ref);
      const again = { ref, bytes: bytesOf(harness), origin: await origin() };
      expect((await images.planImport(again)).refusals.map(({ code }) => code)).toContain('ALREADY_EXISTS');
      await expect(images.import(again)).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
      expect(await find(ref)).toEqual(before);
    });

    inTime('plans without changing anything', async () => {
      const ref = freshImage();
      const { steps, refusals } = await images.planImport({ ref, bytes: bytesOf(harness), origin: await origin() });
      expect([steps.length > 0, refusals]).toEqual([true, []]);
      expect(await find(ref)).toBeUndefined();
      await imported(ref);
      expect((await images.planDelete(ref)).steps.length).toBeGreaterThan(0);
      expect(await find(ref)).toBeDefined();
    });

    inTime('deletes an image and no other', async () => {
      const [one, other] = [await imported(), await imported()];
      await images.delete(one);
      expect(await find(one)).toBeUndefined();
      expect(await find(other)).toMatchObject({ phase: IMAGE_PHASE.ready });
      await imported(one);
      expect(await find(one)).toMatchObject({ phase: IMAGE_PHASE.ready });
    });

    inTime('cancels a running import by deleting its image', async () => {
      const ref = freshImage();
      hold(ref);
      const work = await begin(ref);
      await images.delete(ref);
      await expect(work(recordingReporter())).rejects.toBeDefined();
      expect(await find(ref)).toBeUndefined();
    });

    inTime('starts VMs that are created from an image', async () => {
      const ref = await imported();
      const [first, second] = [await vmFrom(ref), await vmFrom(ref)];
      expect([first.status, second.status]).toEqual(['Running', 'Running']);
      expect(await find(ref)).toMatchObject({ phase: IMAGE_PHASE.ready });
    });

    inTime(
      copies
        ? 'deletes an image without the VMs that were created from it'
        : 'does not delete an image that a VM needs',
      async () => {
        const ref = await imported();
        const vm = await vmFrom(ref);
        if (copies) {
          await images.delete(ref);
        } else {
          expect((await images.planDelete(ref)).refusals.map(({ code }) => code)).toContain('BUSY');
          await expect(images.delete(ref)).rejects.toMatchObject({ code: 'BUSY' });
          expect(await find(ref)).toMatchObject({ phase: IMAGE_PHASE.ready });
        }
        expect(recorder.vm(vm.ref)).toMatchObject({ uid: vm.uid, status: 'Running' });
        if (copies) return;
        await harness.backend.require('provisioning').delete(vm.ref);
        await recorder.until(() => recorder.vm(vm.ref) === undefined);
        await images.delete(ref);
        expect(await find(ref)).toBeUndefined();
      },
    );

    inTime('does not list or delete the disks of VMs', async () => {
      const before = (await images.list()).map(({ ref }) => ref.name);
      const vm = await createdVm(harness, recorder);
      expect((await images.list()).map(({ ref }) => ref.name)).toEqual(before);
      const { context, namespace, name } = vm.ref;
      await expect(images.delete({ context, namespace, name })).rejects.toMatchObject({ code: 'IMAGE_NOT_FOUND' });
      expect(recorder.vm(vm.ref)?.uid).toBe(vm.uid);
    });

    inTime('knows no image that does not exist', async () => {
      const missing = freshImage();
      for (const attempt of [() => images.planDelete(missing), () => images.delete(missing)])
        await expect(attempt()).rejects.toMatchObject({ code: 'IMAGE_NOT_FOUND' });
    });
  });
}
