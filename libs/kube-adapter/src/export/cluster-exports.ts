import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { LookupFunction } from 'node:net';
import { DomainError } from '@headgate/domain-contracts';
import { conditionOf, type Condition, type KubeObject, type OwnerReference } from '../api/kube-object.js';
import { EXPORTS, pathOf, SECRETS, SERVICES } from '../api/resources.js';
import { followObject } from '../watch/follow-object.js';
import type { WatchDeps } from '../watch/kind-watch.js';
import { connectToExporter } from './exporter-connection.js';

export interface ExportObject extends KubeObject {
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

/** An export of this service. It can be read with the token only, which is nowhere else in this process. */
export interface OwnExport {
  readonly object: ExportObject;
  readonly token: string;
}

export interface NewExport {
  readonly namespace: string;
  /** A claim, or a snapshot of a VM. */
  readonly source: { readonly apiGroup: string; readonly kind: string; readonly name: string };
  readonly labels: Readonly<Record<string, string>>;
  /** The object with which the cluster removes the export. */
  readonly owner?: OwnerReference;
}

/** A volume of an export that is ready. */
export interface ExportedVolume {
  readonly claim: string;
  readonly format: 'gzip' | 'raw';
  /** The bytes that are wanted, of the format `raw`: from the first one to the last one, or to the end. */
  readonly range?: { readonly from: number; readonly to?: number };
}

export interface ClusterExportsOptions {
  /** Replaces the name resolution in tests. */
  readonly lookup?: LookupFunction;
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

/** Creates, reads and removes the VirtualMachineExports of this service. */
export class ClusterExports {
  constructor(
    private readonly deps: WatchDeps,
    private readonly options: ClusterExportsOptions = {},
  ) {}

  /** The Secret belongs to the export, so that the cluster removes both together. The service may not read Secrets. */
  async create({ namespace, source, labels, owner }: NewExport): Promise<OwnExport> {
    const { api } = this.deps;
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    // A short name, because the name of the Service contains it.
    const name = `hg-${randomBytes(6).toString('hex')}`;
    const object = await api.create<ExportObject>(EXPORTS, {
      metadata: { name, namespace, labels, ...(owner && { ownerReferences: [owner] }) },
      spec: { source, tokenSecretRef: name, ttlDuration: TIME_TO_LIVE },
    } as KubeObject);
    const exportOwner = { apiVersion: EXPORTS.apiVersion, kind: EXPORTS.kind, name, uid: object.metadata.uid ?? '' };
    try {
      await api.create(SECRETS, {
        metadata: { name, namespace, labels, ownerReferences: [exportOwner] },
        type: 'Opaque',
        data: { token: Buffer.from(token).toString('base64') },
      } as KubeObject);
      return { object, token };
    } catch (error) {
      await this.remove({ object }).catch(() => undefined);
      throw error;
    }
  }

  async remove({ object: { metadata } }: Pick<OwnExport, 'object'>): Promise<void> {
    const { namespace, name, uid } = metadata;
    await this.deps.api.delete(EXPORTS, { namespace, name }, { uid });
  }

  /**
   * @param wait.subject in errors, such as the name of the VM
   * @param wait.inUse the error while a disk is used; absent: waits until it is free
   * @throws DomainError BACKEND_TIMEOUT, BACKEND_FAILED; ExportRemoved
   */
  async whenReady(
    { object }: Pick<OwnExport, 'object'>,
    {
      subject,
      inUse,
      signal,
    }: { readonly subject: string; readonly inUse?: () => Error; readonly signal: AbortSignal },
  ): Promise<ExportObject> {
    const late = new AbortController();
    let waitsFor = 'its exporter has not started';
    const cancel = this.deps.clock.after(READY_TIMEOUT_MS, () =>
      late.abort(new DomainError('BACKEND_TIMEOUT', `The export of ${subject} did not become ready: ${waitsFor}.`)),
    );
    let ready = object;
    try {
      await followObject<ExportObject>({
        ...this.deps,
        resource: EXPORTS,
        object,
        signal: AbortSignal.any([signal, late.signal]),
        onChange: (version) => {
          const { phase = '', conditions } = version.status ?? {};
          const condition = conditionOf(conditions, 'Ready');
          if (condition?.reason === 'InUse' && inUse) throw inUse();
          if (HOPELESS_PHASES.includes(phase)) {
            throw new DomainError('BACKEND_FAILED', `The cluster does not export the disk of ${subject}: ${phase}.`);
          }
          if (condition?.message) waitsFor = condition.message.replace(/\.$/, '');
          ready = version;
          return phase === 'Ready' && version.status?.links?.internal !== undefined;
        },
        onRemoved: () => {
          throw new ExportRemoved(`The export of ${subject} was removed.`);
        },
      });
      return ready;
    } finally {
      cancel();
    }
  }

  /** Directly when the service runs in the cluster, otherwise through the API server. */
  async open(
    { metadata, status }: ExportObject,
    token: string,
    { claim, format: wanted, range }: ExportedVolume,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const { api, clock } = this.deps;
    const { cert = '', volumes = [] } = status?.links?.internal ?? {};
    // Restored from a snapshot, a claim has the name of the export before its own in some releases.
    const names = [claim, `${metadata.name}-${claim}`];
    const format = volumes
      .find(({ name }) => names.includes(name))
      ?.formats?.find((candidate) => candidate.format === wanted);
    if (!format) throw new DomainError('NOT_SUPPORTED', `The cluster does not export the volume ${claim} as an image.`);
    const headers = { [TOKEN_HEADER]: token, ...(range && { range: `bytes=${range.from}-${range.to ?? ''}` }) };
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

/** The export no longer exists: its time to live has passed, or it was deleted. */
export class ExportRemoved extends DomainError {
  constructor(message: string) {
    super('BACKEND_FAILED', message);
  }
}
