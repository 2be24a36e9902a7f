import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { LookupFunction } from 'node:net';
import type { Readable } from 'node:stream';
import {
  DiskExport,
  DomainError,
  releaseOnDestroy,
  type ExportFormat,
  type InstanceRef,
} from '@headgate/domain-contracts';
import { instanceNotFound } from '../api/kube-api-error.js';
import { conditionOf, type Condition, type KubeObject } from '../api/kube-object.js';
import type { VmiObject, VmObject } from '../api/object-types.js';
import { CLAIMS, EXPORTS, pathOf, SECRETS, SERVICES, VIRTUAL_MACHINES, VM_INSTANCES } from '../api/resources.js';
import type { ClusterDiscovery } from '../discovery/cluster-discovery.js';
import { bootDiskOf } from '../inventory/boot-disk.js';
import { LABEL } from '../labels.js';
import { followObject } from '../watch/follow-object.js';
import type { WatchDeps } from '../watch/kind-watch.js';
import { connectToExporter } from './exporter-connection.js';

interface ExportObject extends KubeObject {
  readonly status?: {
    readonly phase?: string;
    readonly serviceName?: string;
    readonly conditions?: readonly Condition[];
    readonly links?: { readonly internal?: ExportLink };
  };
}

interface ExportLink {
  readonly cert: string;
  readonly volumes?: readonly {
    readonly name: string;
    readonly formats?: readonly { readonly format: string; readonly url: string }[];
  }[];
}

const TOKEN_HEADER = 'x-kubevirt-export-token';
const TOKEN_BYTES = 24;
/** How long the exporter's pod may take to start. */
const READY_TIMEOUT_MS = 180_000;
/** How long the exporter may take to send the first byte. */
const RESPONSE_TIMEOUT_MS = 60_000;
/** Removes an export that this service could not remove. No export may take longer. */
const TIME_TO_LIVE = '12h';
/** Phases and conditions of an export that will not become ready. Source: KubeVirt's VirtualMachineExport API */
const HOPELESS_PHASES = ['Skipped', 'Terminated'];

export interface KubeExportOptions {
  /** Replaces the name resolution in tests. */
  readonly lookup?: LookupFunction;
}

/** Exports disks with a VirtualMachineExport of their own, which exists as long as the stream. */
export class KubeExport extends DiskExport {
  constructor(
    private readonly deps: WatchDeps,
    private readonly discovery: ClusterDiscovery,
    private readonly options: KubeExportOptions = {},
  ) {
    super();
  }

  override async check(ref: InstanceRef, format: ExportFormat): Promise<void> {
    await this.claimOf(ref, format);
  }

  override async open(ref: InstanceRef, format: ExportFormat, signal: AbortSignal): Promise<Readable> {
    return this.openClaim(ref, await this.claimOf(ref, format), signal);
  }

  /** Opens a claim of a VM, compressed with gzip. @throws DomainError like `open` */
  async openClaim(ref: InstanceRef, claim: string, signal: AbortSignal): Promise<Readable> {
    await this.expectExports();
    signal.throwIfAborted();
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    const created = await this.create(ref, claim, token);
    const remove = async (): Promise<void> => {
      const { namespace, name, uid } = created.metadata;
      await this.deps.api.delete(EXPORTS, { namespace, name }, { uid });
    };
    try {
      const ready = await this.whenReady(ref, created, signal);
      return releaseOnDestroy(await this.connect(ready, claim, token, signal), remove);
    } catch (error) {
      // Its time to live ends an export that can't be removed now.
      await remove().catch(() => undefined);
      throw error;
    }
  }

  private async claimOf(ref: InstanceRef, format: ExportFormat): Promise<string> {
    const { api } = this.deps;
    const [vm, vmi] = await Promise.all([
      api.find<VmObject>(VIRTUAL_MACHINES, ref),
      api.find<VmiObject>(VM_INSTANCES, ref),
    ]);
    if (!vm) throw instanceNotFound(ref);
    if (vmi && !['Succeeded', 'Failed'].includes(vmi.status?.phase ?? '')) throw isRunning(ref);
    if (format === 'qcow2') {
      throw new DomainError(
        'NOT_SUPPORTED',
        'A cluster exports raw images only: leave out the format, and convert the image with qemu-img.',
      );
    }
    await this.expectExports();
    const { claim } = bootDiskOf(vm);
    if (claim !== undefined && (await api.find(CLAIMS, { namespace: ref.namespace, name: claim }))) return claim;
    throw new DomainError('NOT_SUPPORTED', `The boot disk of ${ref.name} is not a volume, so it can't be exported.`);
  }

  /** @throws DomainError NOT_SUPPORTED */
  async expectExports(): Promise<void> {
    const facts = await this.discovery.facts();
    if (facts.serves(EXPORTS.apiVersion) && (facts.isAtLeast(1, 9) || facts.isGateEnabled('VMExport'))) return;
    throw new DomainError('NOT_SUPPORTED', 'The cluster has no exports: enable the feature gate VMExport of KubeVirt.');
  }

  /** The Secret belongs to the export, so that the cluster removes both together. The service may not read Secrets. */
  private async create({ namespace, name: vm }: InstanceRef, claim: string, token: string): Promise<ExportObject> {
    const { api } = this.deps;
    // A short name, because the name of the Service contains it.
    const name = `hg-${randomBytes(6).toString('hex')}`;
    const labels = { [LABEL.vm]: vm };
    const created = await api.create<ExportObject>(EXPORTS, {
      metadata: { name, namespace, labels },
      spec: {
        source: { apiGroup: '', kind: 'PersistentVolumeClaim', name: claim },
        tokenSecretRef: name,
        ttlDuration: TIME_TO_LIVE,
      },
    } as KubeObject);
    const owner = { apiVersion: EXPORTS.apiVersion, kind: EXPORTS.kind, name, uid: created.metadata.uid ?? '' };
    try {
      await api.create(SECRETS, {
        metadata: { name, namespace, labels, ownerReferences: [owner] },
        type: 'Opaque',
        data: { token: Buffer.from(token).toString('base64') },
      } as KubeObject);
      return created;
    } catch (error) {
      await api.delete(EXPORTS, { namespace, name }).catch(() => undefined);
      throw error;
    }
  }

  private async whenReady(ref: InstanceRef, created: ExportObject, signal: AbortSignal): Promise<ExportObject> {
    const late = new AbortController();
    let waitsFor = 'its exporter has not started';
    const cancel = this.deps.clock.after(READY_TIMEOUT_MS, () =>
      late.abort(new DomainError('BACKEND_TIMEOUT', `The export of ${ref.name} did not become ready: ${waitsFor}.`)),
    );
    let ready = created;
    try {
      await followObject<ExportObject>({
        ...this.deps,
        resource: EXPORTS,
        object: created,
        signal: AbortSignal.any([signal, late.signal]),
        onChange: (version) => {
          const { phase = '', conditions } = version.status ?? {};
          const condition = conditionOf(conditions, 'Ready');
          if (condition?.reason === 'InUse') throw isRunning(ref);
          if (HOPELESS_PHASES.includes(phase)) {
            throw new DomainError('BACKEND_FAILED', `The cluster does not export the disk of ${ref.name}: ${phase}.`);
          }
          if (condition?.message) waitsFor = condition.message.replace(/\.$/, '');
          ready = version;
          return phase === 'Ready' && version.status?.links?.internal !== undefined;
        },
        onRemoved: () => {
          throw new DomainError('BACKEND_FAILED', `The export of ${ref.name} was removed.`);
        },
      });
      return ready;
    } finally {
      cancel();
    }
  }

  /** Directly when the service runs in the cluster, otherwise through the API server. */
  private async connect(
    { metadata, status }: ExportObject,
    claim: string,
    token: string,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const { api, clock } = this.deps;
    const { cert = '', volumes = [] } = status?.links?.internal ?? {};
    const format = volumes
      .find(({ name }) => name === claim)
      ?.formats?.find((candidate) => candidate.format === 'gzip');
    if (!format) throw new DomainError('NOT_SUPPORTED', `The cluster does not export the volume ${claim} as an image.`);
    const headers = { [TOKEN_HEADER]: token };
    const url = new URL(format.url);
    const direct = await connectToExporter(clock, {
      url,
      certificate: cert,
      headers,
      signal,
      lookup: this.options.lookup,
    });
    if (direct) return direct;
    const service = status?.serviceName ?? `virt-export-${metadata.name}`;
    const proxy = pathOf(SERVICES, {
      namespace: metadata.namespace,
      name: `https:${service}:443`,
      subresource: `proxy${url.pathname}`,
    });
    return api.stream(proxy, { headers, signal, timeoutMs: RESPONSE_TIMEOUT_MS });
  }
}

const isRunning = ({ name }: InstanceRef): DomainError =>
  new DomainError('WRONG_STATE', `${name} runs, or its disk is in use: stop it before exporting its disk.`);
