import { PassThrough, pipeline, type Readable } from 'node:stream';
import { ContainerLogs, DomainError, type Clock, type InstanceRef, type LogRequest } from '@headgate/domain-contracts';
import { instanceNotFound, isNotFound, KubeApiError } from '../api/kube-api-error.js';
import type { KubeApi } from '../api/kube-api.js';
import type { PodObject } from '../api/object-types.js';
import { CLAIMS, pathOf, PODS } from '../api/resources.js';
import { containerSelector } from '../labels.js';
import { CONTAINER } from './container-manifest.js';

/** A kubelet answers a reader that follows a quiet log only with the first line, which may come at any time. */
const FIRST_LINE_TIMEOUT_MS = 2 ** 31 - 1;
/** Refusals come sooner than this. */
const QUIET_MS = 2_000;
/** Texts of the kubelet and of the API server in a refusal with the status 400. */
const NO_PREVIOUS = /previous terminated container .* not found/;
const NOT_STARTED = /is waiting to start|does not have a host assigned|is not available/;

/** The output of the pods of containers. Pods are found by their labels, so no other pod can be read. */
export class KubeContainerLogs extends ContainerLogs {
  constructor(
    private readonly api: Pick<KubeApi, 'list' | 'stream'>,
    private readonly clock: Clock,
  ) {
    super();
  }

  override async open(ref: InstanceRef, request: LogRequest, signal: AbortSignal): Promise<Readable> {
    signal.throwIfAborted();
    const { namespace, name } = await this.podOf(ref);
    const { tailLines, since, follow = false, previous = false, timestamps = false } = request;
    const query = {
      container: CONTAINER,
      tailLines,
      sinceTime: since,
      follow: follow || undefined,
      previous: previous || undefined,
      timestamps: timestamps || undefined,
    };
    const path = pathOf(PODS, { namespace, name, subresource: 'log' });
    const explained = (error: unknown): never => {
      throw explain(error, ref);
    };
    if (!follow) return this.api.stream(path, { query, signal }).catch(explained);
    const opening = this.api.stream(path, { query, signal, timeoutMs: FIRST_LINE_TIMEOUT_MS }).catch(explained);
    return (await this.unlessQuiet(opening, signal)) ?? passedOn(opening);
  }

  /** The log, or undefined if it has not begun after a moment. */
  private async unlessQuiet(opening: Promise<Readable>, signal: AbortSignal): Promise<Readable | undefined> {
    const isOpen = new AbortController();
    const quiet = this.clock.delay(QUIET_MS, AbortSignal.any([signal, isOpen.signal])).then(
      () => undefined,
      () => opening,
    );
    try {
      return await Promise.race([opening, quiet]);
    } finally {
      isOpen.abort();
    }
  }

  private async podOf(ref: InstanceRef): Promise<PodObject['metadata']> {
    const selection = { namespace: ref.namespace, labelSelector: containerSelector(ref.name) };
    const pods = await this.api.list<PodObject>(PODS, selection);
    const pod = pods.find(({ metadata }) => metadata.deletionTimestamp === undefined) ?? pods[0];
    if (pod) return pod.metadata;
    if ((await this.api.list(CLAIMS, selection)).length === 0) throw instanceNotFound(ref);
    throw stopped(ref);
  }
}

/** A log that begins later. */
function passedOn(opening: Promise<Readable>): Readable {
  const later = new PassThrough();
  opening.then(
    (stream) => pipeline(stream, later, () => undefined),
    (error: unknown) => later.destroy(error as Error),
  );
  return later;
}

/** Kubernetes deletes the log with the pod. */
const stopped = ({ name }: InstanceRef, cause?: unknown): DomainError =>
  new DomainError('WRONG_STATE', `The container ${name} is stopped, and its log is gone. Start it first.`, { cause });

function explain(error: unknown, ref: InstanceRef): unknown {
  if (isNotFound(error)) return stopped(ref, error);
  if (!KubeApiError.has(error, 400)) return error;
  const { text } = error.response;
  if (NO_PREVIOUS.test(text)) {
    const message = `${ref.name} has no previous log: it was not restarted since it was started.`;
    return new DomainError('WRONG_STATE', message, { cause: error });
  }
  if (!NOT_STARTED.test(text)) return error;
  const message = `${ref.name} has not started yet, so it has no log: ${text}`;
  return new DomainError('WRONG_STATE', message, { cause: error });
}
