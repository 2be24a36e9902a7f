import { ApiError, type KubeObject, type ObjectKey } from '@headgate/kube-sandbox';
import { refuseOverQuota } from '../../admission/claim-quota.js';
import { GIB } from '../../quantity.js';
import { suffers } from '../../inherited-faults.js';
import { RESOURCES } from '../../resources.js';
import type { PersistentVolumeClaim, Pod, StorageClass } from '../../types/core-kinds.js';
import type { DataVolume, DataVolumeSource } from '../../types/data-volume.js';
import { isControlledBy, type SimulationContext } from '../../simulation-context.js';
import { Controller } from '../controller.js';
import { BIND_IMMEDIATELY, isPopulated, SELECTED_NODE } from './claim-markers.js';
import { claimFor, requestedBytes, sourceOf, UnusableRequest } from './data-volume-claim.js';
import { reportTransfer, reportUnusable, type TransferReport } from './data-volume-status.js';
import { Population, populationSource, transferKind } from './population.js';

/** How the content of a DataVolume reaches its claim. */
interface Transfer {
  readonly source: DataVolumeSource;
  /** Whether the claim is bound while it is filled. */
  readonly bound: boolean;
  /** Whether the transfer has begun; otherwise the reason why not. */
  readonly started: boolean;
  readonly obstacle?: { reason?: string; message?: string };
  /** Gives the filled volume to the claim. */
  complete(): void;
}

const PREPOPULATED = 'cdi.kubevirt.io/storage.prePopulated';

/**
 * CDI: fills the volumes of DataVolumes from their sources. Nothing is downloaded; the duration depends on the size.
 */
export class DataVolumeController extends Controller<DataVolume> {
  /** DataVolumes that wait for an object with this name: a source to copy, or a class. */
  private readonly stuck = new Map<string, ObjectKey>();

  constructor(context: SimulationContext) {
    super(context, RESOURCES.dataVolume, 'datavolume-import-controller');
  }

  protected override watchRelated(): void {
    this.watchOwned(RESOURCES.claim, 'DataVolume');
    // The claim of a DataVolume has its name, and owns the claim through which it is filled.
    this.watchOwned(RESOURCES.claim, 'PersistentVolumeClaim');
    this.watch<Pod>(RESOURCES.pod, ({ object }) => {
      const [owner] = object.metadata.ownerReferences ?? [];
      if (owner?.kind !== 'PersistentVolumeClaim') return;
      const claim = this.context.find<KubeObject>(RESOURCES.claim, object.metadata.namespace, owner.name);
      for (const { name } of claim?.metadata.ownerReferences ?? [])
        this.enqueue({ namespace: object.metadata.namespace, name });
    });
    this.watchFaults((target) => {
      this.enqueue(target);
      const vm = this.context.store.get(RESOURCES.vm, target);
      const owned = vm ? this.context.store.ownedBy<DataVolume>(RESOURCES.dataVolume, vm.metadata.uid!) : [];
      for (const { metadata } of owned) this.enqueue(metadata);
    });
    const { without } = this.context;
    for (const resource of [
      RESOURCES.claim,
      RESOURCES.storageProfile,
      RESOURCES.dataSource,
      RESOURCES.quota,
      ...(without.has('snapshots') ? [] : [RESOURCES.volumeSnapshot]),
    ]) {
      this.watch(resource, () => {
        for (const key of this.stuck.values()) this.enqueue(key);
      });
    }
  }

  protected override reconcile(dataVolume: DataVolume): void {
    if (dataVolume.metadata.deletionTimestamp) return;
    const { phase = '' } = dataVolume.status ?? {};
    if (phase === 'Succeeded' || phase === 'Failed') return void this.stuck.delete(dataVolume.metadata.uid!);
    const { namespace, name } = dataVolume.metadata;
    const claim = this.context.find<PersistentVolumeClaim>(RESOURCES.claim, namespace, name);
    if (claim && !isControlledBy(claim, dataVolume)) return this.adopt(dataVolume, claim);
    const source = sourceOf(this.context, dataVolume);
    if (!this.sourceIsThere(dataVolume, source)) return;
    if (!claim) return this.makeClaim(dataVolume, source ?? {});
    this.stuck.delete(dataVolume.metadata.uid!);
    if (isPopulated(claim)) return this.populate(dataVolume, claim, source ?? {});
    if (claim.status?.phase !== 'Bound') return this.waitForBinding(dataVolume, claim);
    const started = this.took(dataVolume, 'scheduled', 'importScheduled');
    this.transfer(dataVolume, { source: source ?? {}, bound: true, started, complete: () => undefined });
  }

  private populate(dataVolume: DataVolume, claim: PersistentVolumeClaim, source: DataVolumeSource): void {
    if (claim.status?.phase === 'Bound') return this.succeed(dataVolume, transferKind(source));
    const population = new Population(this.context, claim, source);
    if (population.waitsForConsumer) {
      return this.report(dataVolume, { phase: 'PendingPopulation', bound: false, running: 'no', progress: 'N/A' });
    }
    const { running: started, ...obstacle } = population.work();
    this.transfer(dataVolume, { source, bound: false, started, obstacle, complete: () => population.complete() });
  }

  /** A claim that was filled earlier belongs to the DataVolume that claims it. */
  private adopt(dataVolume: DataVolume, claim: PersistentVolumeClaim): void {
    const populated = claim.metadata.annotations?.['cdi.kubevirt.io/storage.populatedFor'] === dataVolume.metadata.name;
    if (!populated && dataVolume.metadata.annotations?.[PREPOPULATED] !== dataVolume.metadata.name) {
      this.stuck.set(dataVolume.metadata.uid!, dataVolume.metadata);
      const message = `Resource "${claim.metadata.name}" already exists and is not managed by DataVolume`;
      if (this.first(dataVolume, 'foreign claim'))
        this.recordEvent(dataVolume, 'ErrResourceExists', message, { warning: true });
      return;
    }
    this.report(dataVolume, { phase: 'Succeeded', progress: '100.0%', bound: true, running: 'done' });
  }

  private sourceIsThere(dataVolume: DataVolume, source: DataVolumeSource | undefined): boolean {
    const origin = source?.pvc ?? source?.snapshot;
    const resource = source?.pvc ? RESOURCES.claim : RESOURCES.volumeSnapshot;
    const known = source?.pvc !== undefined || !this.context.without.has('snapshots');
    const there = origin
      ? known && this.context.find<KubeObject>(resource, origin.namespace, origin.name) !== undefined
      : true;
    const resolved = source !== undefined || !dataVolume.spec.sourceRef;
    if (there && resolved) return true;
    this.stuck.set(dataVolume.metadata.uid!, dataVolume.metadata);
    if (this.first(dataVolume, 'no source') && origin) {
      const message = `The source ${source?.pvc ? 'pvc' : 'snapshot'} ${origin.namespace}/${origin.name} doesn't exist`;
      this.recordEvent(dataVolume, 'CloneWithoutSource', message, { warning: true });
    }
    this.report(dataVolume, { phase: 'Pending', bound: false, running: 'no', progress: 'N/A' });
    return false;
  }

  private makeClaim(dataVolume: DataVolume, source: DataVolumeSource): void {
    try {
      const claim = claimFor(this.context, dataVolume, source);
      refuseOverQuota(this.context, claim);
      if (isPopulated(claim)) this.createPopulationSource(dataVolume, source);
      this.context.store.create(RESOURCES.claim, { ...claim, status: { phase: 'Pending' as const } });
      this.stuck.delete(dataVolume.metadata.uid!);
      this.report(dataVolume, { phase: 'Pending', bound: false, running: 'no' });
    } catch (error) {
      const overQuota = error instanceof ApiError;
      if (!overQuota && !(error instanceof UnusableRequest)) throw error;
      const reason = overQuota ? 'ErrExceededQuota' : error.reason;
      this.stuck.set(dataVolume.metadata.uid!, dataVolume.metadata);
      if (this.first(dataVolume, error.message)) this.recordEvent(dataVolume, reason, error.message, { warning: true });
      const obstacle = { phase: overQuota ? 'Pending' : '', reason, message: error.message };
      this.change(dataVolume, (draft) => reportUnusable(draft, obstacle, this.now));
    }
  }

  private createPopulationSource(dataVolume: DataVolume, source: DataVolumeSource): void {
    const object = populationSource(dataVolume, source);
    const resource = this.context.resourceOf(object);
    if (!this.context.find(resource, object.metadata.namespace, object.metadata.name))
      this.context.store.create(resource, object);
  }

  private waitForBinding(dataVolume: DataVolume, claim: PersistentVolumeClaim): void {
    const { storageClassName = '' } = claim.spec;
    const storageClass = this.context.find<StorageClass>(RESOURCES.storageClass, undefined, storageClassName);
    const waits = storageClass?.volumeBindingMode === 'WaitForFirstConsumer';
    const { annotations = {} } = claim.metadata;
    if (waits && annotations[BIND_IMMEDIATELY] !== undefined && !annotations[SELECTED_NODE]) {
      // The importer pod is the first consumer then.
      this.context.store.patch<PersistentVolumeClaim>(RESOURCES.claim, claim.metadata, ({ metadata }) => {
        metadata.annotations = { ...metadata.annotations, [SELECTED_NODE]: this.anyNode() };
      });
    }
    const waiting = waits && !annotations[SELECTED_NODE] && annotations[BIND_IMMEDIATELY] === undefined;
    const message = `PVC ${claim.metadata.name} Pending`;
    if (!storageClass && this.first(dataVolume, 'unbound')) this.recordEvent(dataVolume, 'Pending', message);
    this.report(dataVolume, {
      phase: waiting ? 'WaitForFirstConsumer' : 'Pending',
      bound: false,
      running: 'no',
      progress: 'N/A',
    });
  }

  private anyNode(): string {
    return this.context.store.list(RESOURCES.node)[0]?.metadata.name ?? 'node';
  }

  private transfer(dataVolume: DataVolume, transfer: Transfer): void {
    const { source, bound, started, obstacle } = transfer;
    const word = transferKind(source);
    if (!started) {
      if (this.first(dataVolume, 'report scheduled')) {
        this.recordEvent(dataVolume, `${word}Scheduled`, `${word} into ${dataVolume.metadata.name} scheduled`);
      }
      const phase = `${word}Scheduled`;
      return this.report(dataVolume, { phase, bound, running: 'no', progress: 'N/A', ...obstacle });
    }
    if (source.upload) return this.upload(dataVolume, bound);
    if (suffers(this.context, 'import-fatal', dataVolume)) return this.failForGood(dataVolume, bound);
    if (this.cannotReach(dataVolume, source)) return this.failAndRetry(dataVolume, transfer);
    this.progress(dataVolume, transfer);
  }

  private progress(dataVolume: DataVolume, { source, bound, complete }: Transfer): void {
    const word = transferKind(source);
    const { timings } = this.context;
    const size = requestedBytes(this.context, dataVolume) / GIB;
    const total = source.blank
      ? timings.ms('blankImport')
      : Math.max(timings.ms('importShortest'), size * timings.ms('importPerGiB'));
    const step = Math.max(timings.ms('importStep'), total / 20);
    const steps = step === 0 ? 0 : Math.max(1, Math.round(total / step));
    let done = 0;
    while (done < steps && this.took(dataVolume, `step ${done}`, step)) done++;
    if (done >= steps) {
      complete();
      return this.succeed(dataVolume, word);
    }
    if (this.first(dataVolume, 'report progress')) {
      this.recordEvent(dataVolume, `${word}InProgress`, `${word} into ${dataVolume.metadata.name} in progress`);
    }
    if (source.blank) return;
    const progress = done === 0 ? 'N/A' : `${((done / steps) * 100).toFixed(2)}%`;
    this.report(dataVolume, { phase: `${word}InProgress`, bound, running: 'yes', progress });
  }

  private upload(dataVolume: DataVolume, bound: boolean): void {
    if (dataVolume.status?.phase === 'UploadReady') return;
    const isHeld = suffers(this.context, 'upload-not-ready', dataVolume);
    const ready = !isHeld && this.took(dataVolume, 'upload server', 'uploadReady');
    this.report(dataVolume, {
      phase: ready ? 'UploadReady' : 'UploadScheduled',
      bound,
      running: ready ? 'yes' : 'no',
      progress: 'N/A',
    });
    if (ready) this.recordEvent(dataVolume, 'UploadReady', `Upload into ${dataVolume.metadata.name} ready`);
  }

  /** Called by the upload proxy when all bytes have arrived. */
  completeUpload(key: ObjectKey): void {
    const dataVolume = this.context.store.get<DataVolume>(RESOURCES.dataVolume, key);
    const claim = this.context.store.get<PersistentVolumeClaim>(RESOURCES.claim, key);
    if (!dataVolume || !claim) return;
    if (isPopulated(claim)) new Population(this.context, claim, { upload: {} }).complete();
    this.succeed(dataVolume, 'Upload');
  }

  private succeed(dataVolume: DataVolume, word: string): void {
    const { name } = dataVolume.metadata;
    const verb = { Import: 'imported', Clone: 'cloned', Upload: 'uploaded' }[word];
    this.recordEvent(dataVolume, `${word}Succeeded`, `Successfully ${verb} into PVC ${name}`);
    this.report(dataVolume, { phase: 'Succeeded', progress: '100.0%', bound: true, running: 'done' });
  }

  private cannotReach(dataVolume: DataVolume, { http, registry, s3, gcs }: DataVolumeSource): boolean {
    if (suffers(this.context, 'import-unreachable', dataVolume)) return true;
    const url = http?.url ?? registry?.url ?? s3?.url ?? gcs?.url ?? '';
    return /(does-not-exist|nonexistent|unreachable|\.invalid(\/|:|$))/.test(url);
  }

  /** The importer restarts repeatedly, as a pod in a crash loop. */
  private failAndRetry(dataVolume: DataVolume, { source: { http }, bound }: Transfer): void {
    const round = dataVolume.status?.restartCount ?? 0;
    if (!this.took(dataVolume, `try ${round}`, 'importShortest')) {
      return this.report(dataVolume, { phase: 'ImportInProgress', progress: 'N/A', bound, running: 'yes' });
    }
    const message = http
      ? 'Unable to process data: Unable to connect to http data source: expected status code 200, got 404. Status: 404 Not Found'
      : 'Unable to process data: Unable to transfer source data to scratch space: no such image';
    if (this.first(dataVolume, `failed ${round}`)) {
      this.recordEvent(dataVolume, 'ImportFailed', `Failed to import into PVC ${dataVolume.metadata.name}`, {
        warning: true,
      });
    }
    if (!this.took(dataVolume, `pause ${round}`, 'importRetry')) {
      return this.report(dataVolume, {
        phase: 'ImportInProgress',
        bound,
        running: 'no',
        reason: 'Error',
        message,
      });
    }
    this.change(dataVolume, (draft) => {
      draft.status!.restartCount = round + 1;
    });
  }

  private failForGood(dataVolume: DataVolume, bound: boolean): void {
    const message = `Failed to import into PVC ${dataVolume.metadata.name}`;
    this.recordEvent(dataVolume, 'ImportFailed', message, { warning: true });
    this.report(dataVolume, {
      phase: 'Failed',
      bound,
      running: 'no',
      reason: 'Error',
      message: 'checksum mismatch',
    });
  }

  private report(dataVolume: DataVolume, report: TransferReport): void {
    this.change(dataVolume, (draft) => {
      reportTransfer(draft, report, this.now);
      draft.status!.restartCount ??= 0;
    });
  }

  private get now(): string {
    return this.context.clock.timestamp();
  }

  protected override cleanUp({ namespace, name }: ObjectKey): void {
    for (const [uid, key] of this.stuck) {
      if (key.namespace === namespace && key.name === name) this.stuck.delete(uid);
    }
  }
}
