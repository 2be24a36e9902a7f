import { randomBytes } from 'node:crypto';
import {
  buildPlan,
  displayUrl,
  DomainError,
  formatBytes,
  imageNotFound,
  ImportedImages,
  isKubernetesName,
  throwFirstRefusal,
  type BackgroundWork,
  type ImageOrigin,
  type ImageRef,
  type ImportedImage,
  type NewImage,
  type Plan,
  type PlannedImage,
  type ResumedImage,
  type Refusal,
} from '@headgate/domain-contracts';
import { ensureNamespace, namespaceExists } from '../api/ensure-namespace.js';
import { isOutcomeUnknown, KubeApiError } from '../api/kube-api-error.js';
import type { ListOptions } from '../api/kube-api.js';
import type { KubeObject } from '../api/kube-object.js';
import type { DataVolumeObject, VmObject } from '../api/object-types.js';
import { CLAIMS, DATA_VOLUMES, VIRTUAL_MACHINES } from '../api/resources.js';
import type { ClusterDiscovery } from '../discovery/cluster-discovery.js';
import { NEEDS_CDI } from '../discovery/cluster-facts.js';
import { nameRefusals } from '../kubevirt-traits.js';
import { ANNOTATION, LABEL } from '../labels.js';
import { followDataVolume, ImportDeadline } from '../data-volumes/follow-data-volume.js';
import type { WatchDeps } from '../watch/kind-watch.js';
import { IMAGE_KIND, isImage, presentImage, userOfImage } from './image-objects.js';
import type { ImageUploads } from './image-uploads.js';

export interface KubeImagesDeps extends WatchDeps {
  readonly context: string;
  readonly discovery: Pick<ClusterDiscovery, 'facts'>;
  /** Absent: every namespace. */
  readonly namespaces?: readonly string[];
  readonly uploads: ImageUploads;
}

type UrlOrigin = Extract<ImageOrigin, { kind: 'url' }>;

const GONE_INTERVAL_MS = 250;
const FAILURE_RECORD_LIMIT_MS = 5_000;
/** How many times to look whether a deleted image still has its claim, which remains as long as a pod uses it. */
const MAX_GONE_LOOKUPS = 80;
const CREATE_ID_BYTES = 4;
/** A checksum at the end of a URL, such as `#sha256:…`. */
const FRAGMENT_CHECKSUM = /^#(sha256|sha512)[:=]([0-9a-f]+)$/i;

/**
 * Imported images are DataVolumes with a label of this service, which CDI fills inside the cluster. The disk of a VM is
 * a copy, so it does not need its image once it is filled.
 */
export class KubeImages extends ImportedImages {
  constructor(private readonly deps: KubeImagesDeps) {
    super();
  }

  override async list(): Promise<readonly ImportedImage[]> {
    const labelSelector = `${LABEL.kind}=${IMAGE_KIND},!${LABEL.vm}`;
    const found = await this.dataVolumes({ labelSelector });
    return found.filter(isImage).map((dataVolume) => presentImage(this.deps.context, dataVolume));
  }

  override async planImport(image: PlannedImage): Promise<Plan> {
    const { api, discovery } = this.deps;
    const { ref, bytes, origin } = image;
    const { namespace, name } = ref;
    const refusals: Refusal[] = nameRefusals(name);
    const refuse = (code: Refusal['code'], reason: string, remedy: string): void =>
      void refusals.push({ code, reason, remedy });
    if (!(await discovery.facts()).hasCdi) throw new DomainError('NOT_SUPPORTED', NEEDS_CDI);
    if (origin.kind === 'upload') {
      refusals.push(...(await this.deps.uploads.refusals()));
    } else if (!isHttpUrl(origin.url)) {
      refuse('INVALID_SOURCE', 'The image must be an http:// or https:// URL.', 'Correct the URL.');
    }
    const existing = isKubernetesName(name)
      ? await Promise.all([api.find(DATA_VOLUMES, { namespace, name }), api.find(CLAIMS, { namespace, name })])
      : [];
    if (existing.some((object) => object && isImage(object))) {
      const { code, message } = nameTaken(ref);
      refuse(code, message, 'Delete it first, or choose another name.');
    } else if (existing.some((object) => object !== undefined)) {
      refuse('ALREADY_EXISTS', `${namespace} has a disk with the name ${name}.`, 'Choose another name.');
    }
    const exists = await namespaceExists(api, namespace);
    if (refusals.length === 0 && exists !== false) refusals.push(...(await this.dryRun(image)));
    const fill =
      origin.kind === 'url'
        ? { name: 'import', detail: `Let CDI import ${displayUrl(origin.url)} inside the cluster.` }
        : { name: 'upload', detail: "Send the file to CDI's upload proxy." };
    const steps = [
      ...(exists === false ? [{ name: 'namespace', detail: `Create the namespace ${namespace}.` }] : []),
      { name: 'create', detail: `DataVolume ${name} of ${formatBytes(bytes)} in ${namespace}.` },
      fill,
    ];
    return buildPlan(steps, { refusals, warnings: origin.kind === 'url' ? urlWarnings(origin.url) : [] });
  }

  override async import(image: NewImage): Promise<BackgroundWork> {
    throwFirstRefusal(await this.planImport(image));
    const { ref, origin } = image;
    if (origin.kind === 'upload') await this.deps.uploads.check(origin.file);
    await ensureNamespace(this.deps.api, ref.namespace);
    const dataVolume = await this.create(image);
    return this.follow(ref, dataVolume, origin.kind === 'upload' ? origin.file : undefined);
  }

  /** The cluster has continued meanwhile. */
  override async resume({ ref, bytes, origin }: ResumedImage): Promise<BackgroundWork> {
    try {
      return this.follow(ref, await this.get(ref), undefined);
    } catch (error) {
      if (!origin || !DomainError.is(error, 'IMAGE_NOT_FOUND')) throw error;
      return this.import({ ref, bytes, origin });
    }
  }

  override async planDelete(ref: ImageRef): Promise<Plan> {
    const image = await this.get(ref);
    const isImporting = !['Succeeded', 'Failed'].includes(image.status?.phase ?? '');
    return buildPlan(
      [
        ...(isImporting ? [{ name: 'cancel', detail: `Cancel the import of ${ref.name}.` }] : []),
        { name: 'delete', detail: `DataVolume ${ref.name} and its PVC.` },
      ],
      { refusals: await this.deletionRefusals(image) },
    );
  }

  override async delete(ref: ImageRef): Promise<void> {
    const { api, clock } = this.deps;
    const image = await this.get(ref);
    throwFirstRefusal({ refusals: await this.deletionRefusals(image) });
    await api.delete(DATA_VOLUMES, ref, { uid: image.metadata.uid });
    for (let lookup = 0; lookup < MAX_GONE_LOOKUPS; lookup++) {
      const [dataVolume, claim] = await Promise.all([api.find(DATA_VOLUMES, ref), api.find(CLAIMS, ref)]);
      const isLeft = dataVolume?.metadata.uid === image.metadata.uid || (claim && isOwnedBy(claim, image));
      if (!isLeft) return;
      await clock.delay(GONE_INTERVAL_MS);
    }
  }

  /** @throws DomainError IMAGE_NOT_FOUND, also for a DataVolume that is not an image */
  private async get(ref: ImageRef): Promise<DataVolumeObject> {
    const isPossible = isKubernetesName(ref.name) && isKubernetesName(ref.namespace);
    const found = isPossible ? await this.deps.api.find<DataVolumeObject>(DATA_VOLUMES, ref) : undefined;
    if (!found || !isImage(found)) throw imageNotFound(ref);
    return found;
  }

  private async deletionRefusals(image: DataVolumeObject): Promise<Refusal[]> {
    const { namespace, name } = image.metadata;
    const { api } = this.deps;
    const [dataVolumes, vms, claims] = await Promise.all([
      this.dataVolumes({}),
      api.list<VmObject>(VIRTUAL_MACHINES, { namespace }),
      api.list(CLAIMS, { namespace }),
    ]);
    const names = new Set(claims.map(({ metadata }) => metadata.name ?? ''));
    const user = userOfImage(image, { dataVolumes, vms, claims: names });
    if (user === undefined) return [];
    return [
      {
        code: 'BUSY',
        reason: `The image ${name} is needed by ${user}.`,
        remedy: 'Wait for the copy to finish, or delete its user first.',
      },
    ];
  }

  private async dataVolumes(options: ListOptions): Promise<DataVolumeObject[]> {
    const { api, namespaces = [undefined] } = this.deps;
    try {
      const lists = namespaces.map((namespace) => api.list<DataVolumeObject>(DATA_VOLUMES, { ...options, namespace }));
      return (await Promise.all(lists)).flat();
    } catch (error) {
      // The API is not served without CDI.
      if (KubeApiError.has(error, 404)) return [];
      throw error;
    }
  }

  private async dryRun(image: PlannedImage): Promise<Refusal[]> {
    try {
      const result = await this.deps.api.create<DataVolumeObject>(DATA_VOLUMES, manifestOf(image, ''), {
        dryRun: true,
      });
      const checksum = image.origin.kind === 'url' ? checkedUrl(image.origin).checksum : undefined;
      // The API server drops a field that this release of CDI does not have, and nothing would be verified.
      if (checksum === undefined || result.spec?.source?.http?.checksum === checksum) return [];
      return [
        {
          code: 'NOT_SUPPORTED',
          reason: 'checksum: CDI verifies checksums from release 1.65 on, and that of this cluster is older.',
          remedy: 'Update CDI, or omit checksum.',
        },
      ];
    } catch (error) {
      if (!DomainError.is(error, 'REJECTED_BY_BACKEND', 'BACKEND_FORBIDDEN')) throw error;
      return [{ code: error.code, reason: error.message, remedy: 'Change what the cluster objects to.' }];
    }
  }

  private async create(image: PlannedImage): Promise<DataVolumeObject> {
    const { api } = this.deps;
    const createId = randomBytes(CREATE_ID_BYTES).toString('hex');
    try {
      return await api.create<DataVolumeObject>(DATA_VOLUMES, manifestOf(image, createId));
    } catch (error) {
      // CDI rejects a DataVolume whose claim exists before the API server finds that its name is taken.
      const mayExist = isOutcomeUnknown(error) || DomainError.is(error, 'ALREADY_EXISTS', 'REJECTED_BY_BACKEND');
      if (!mayExist) throw error;
      // An earlier attempt of this call may have created it and got no response.
      const found = await api.find<DataVolumeObject>(DATA_VOLUMES, image.ref);
      if (found?.metadata.annotations?.[ANNOTATION.createId] === createId) return found;
      if (found) throw nameTaken(image.ref);
      throw error;
    }
  }

  /** @param file sent to CDI when the DataVolume is ready for it */
  private follow(ref: ImageRef, { metadata }: DataVolumeObject, file?: string): BackgroundWork {
    const { namespace, name } = ref;
    const { uploads, clock } = this.deps;
    const failed = (reason: string): DomainError =>
      new DomainError('BACKEND_FAILED', `The import of the image ${name} failed: ${reason.replace(/\.$/, '')}.`);
    return async (report) => {
      report.step(file === undefined ? 'import' : 'prepare');
      const stop = new AbortController();
      const signal = AbortSignal.any([report.signal, stop.signal]);
      const deadline = new ImportDeadline(clock, [name], (reason) => stop.abort(failed(reason)));
      let sending: Promise<void> | undefined;
      const onUploadReady = (): void => {
        if (file !== undefined)
          sending ??= uploads.send(ref, file, { report, signal }).catch((error: unknown) => stop.abort(error));
      };
      try {
        await followDataVolume(this.deps, {
          namespace,
          name,
          uid: metadata.uid,
          subject: `The image ${name}`,
          start: true,
          report,
          signal,
          deadline,
          failed,
          onUploadReady,
        });
      } catch (error) {
        if (file !== undefined) await this.recordFailure(ref, metadata.uid, error);
        throw error;
      } finally {
        deadline.cancel();
        stop.abort();
        await sending;
      }
    };
  }

  /** CDI does not know that no file will arrive. Never fails. */
  private async recordFailure(ref: ImageRef, uid: string | undefined, error: unknown): Promise<void> {
    const { api, clock } = this.deps;
    const value = DomainError.is(error) ? error.message : 'The upload was interrupted.';
    const path = `/metadata/annotations/${ANNOTATION.uploadFailure.replace('/', '~1')}`;
    const patch = [
      { op: 'test', path: '/metadata/uid', value: uid },
      { op: 'add', path, value },
    ] as const;
    const recorded = new AbortController();
    // A lost cluster must not keep the task from ending.
    await Promise.race([
      api.jsonPatch(DATA_VOLUMES, ref, patch),
      clock.delay(FAILURE_RECORD_LIMIT_MS, recorded.signal),
    ]).catch(() => undefined);
    recorded.abort();
  }
}

const nameTaken = ({ name }: ImageRef): DomainError =>
  new DomainError('ALREADY_EXISTS', `The image ${name} already exists.`);

const isHttpUrl = (url: string): boolean => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);

const isOwnedBy = ({ metadata }: KubeObject, owner: KubeObject): boolean =>
  (metadata.ownerReferences ?? []).some(({ uid }) => uid === owner.metadata.uid);

/** The URL that CDI downloads, and the checksum that it verifies. Servers never see the part of a URL after `#`. */
function checkedUrl({ url, checksum }: UrlOrigin): { readonly url: string; readonly checksum?: string } {
  const parsed = new URL(url);
  const [, algorithm, digest] = FRAGMENT_CHECKSUM.exec(parsed.hash) ?? [];
  parsed.hash = '';
  const expected = checksum ?? (algorithm && digest ? `${algorithm}:${digest}`.toLowerCase() : undefined);
  return { url: parsed.href, ...(expected !== undefined && { checksum: expected }) };
}

function urlWarnings(url: string): string[] {
  if (!URL.canParse(url) || new URL(url).password === '') return [];
  return ['The password in the URL can be read by everyone who may read the DataVolumes of the namespace.'];
}

const manifestOf = ({ ref: { namespace, name }, bytes, origin }: PlannedImage, createId: string): KubeObject =>
  ({
    metadata: {
      namespace,
      name,
      labels: { [LABEL.kind]: IMAGE_KIND },
      annotations: {
        [ANNOTATION.createId]: createId,
        // No pod uses the image, so storage that waits for its first consumer would wait forever.
        'cdi.kubevirt.io/storage.bind.immediate.requested': 'true',
        // Older releases of CDI delete a DataVolume after its end, and with it the facts about the image.
        'cdi.kubevirt.io/storage.deleteAfterCompletion': 'false',
      },
    },
    spec: {
      source: origin.kind === 'url' ? { http: checkedUrl(origin) } : { upload: {} },
      storage: { resources: { requests: { storage: formatBytes(bytes) } } },
    },
  }) as KubeObject;
