import { hash } from 'node:crypto';
import { setCondition } from '../../types/condition.js';
import type { Container, ContainerState, ContainerStatus, Pod } from '../../types/core-kinds.js';

const MAX_IMAGES = 1_000;
const digest = (text: string): string => hash('sha256', text);

/** The ids of the images that pods use, which are few. */
const imageIds = new Map<string, string>();

function imageId(image: string): string {
  const known = imageIds.get(image);
  if (known) return known;
  const id = `${image.split(/[@:](?!.*\/)/)[0]}@sha256:${digest(image)}`;
  if (imageIds.size < MAX_IMAGES) imageIds.set(image, id);
  return id;
}

export function containerStatus(pod: Pod, { name, image }: Container, state: ContainerState): ContainerStatus {
  const running = state.running !== undefined;
  return {
    name,
    image,
    imageID: state.waiting ? '' : imageId(image),
    ...(state.waiting ? {} : { containerID: `containerd://${digest(`${pod.metadata.uid}/${name}`)}` }),
    ready: running,
    started: running,
    restartCount: 0,
    state,
    lastState: {},
  };
}

/** `status.qosClass`, derived from requests and limits. */
export function qosClass({ spec }: Pod): string {
  const resources = spec.containers.map((container) => container.resources ?? {});
  if (resources.every(({ requests, limits }) => !Object.keys({ ...requests, ...limits }).length)) return 'BestEffort';
  const guaranteed = resources.every(({ requests = {}, limits = {} }) =>
    ['cpu', 'memory'].every((name) => limits[name] !== undefined && (requests[name] ?? limits[name]) === limits[name]),
  );
  return guaranteed ? 'Guaranteed' : 'Burstable';
}

/** Marks the containers as waiting with a reason, on a draft. */
export function setWaiting(
  pod: Pod,
  reason: string,
  message: string | undefined,
  now: string,
  initializing = false,
): void {
  const status = (pod.status ??= {});
  const state = { waiting: { reason, ...(message ? { message } : {}) } };
  status.phase = 'Pending';
  status.startTime ??= now;
  status.qosClass ??= qosClass(pod);
  status.containerStatuses = pod.spec.containers.map((container) => containerStatus(pod, container, state));
  const conditions = (status.conditions ??= []);
  setCondition(conditions, { type: 'Initialized', status: initializing ? 'False' : 'True' }, now);
  for (const type of ['Ready', 'ContainersReady']) {
    const unready = `containers with unready status: [${pod.spec.containers.map(({ name }) => name).join(' ')}]`;
    setCondition(conditions, { type, status: 'False', reason: 'ContainersNotReady', message: unready }, now);
  }
}

/** Marks all containers as running, on a draft. */
export function setRunning(pod: Pod, address: string, hostAddress: string, now: string): void {
  const status = (pod.status ??= {});
  status.phase = 'Running';
  status.podIP = address;
  status.podIPs = [{ ip: address }];
  status.hostIP = hostAddress;
  status.containerStatuses = pod.spec.containers.map((container) =>
    containerStatus(pod, container, { running: { startedAt: now } }),
  );
  if (pod.spec.initContainers?.length) {
    status.initContainerStatuses = pod.spec.initContainers.map((container) => ({
      ...containerStatus(
        pod,
        container,
        container.restartPolicy === 'Always'
          ? { running: { startedAt: now } }
          : { terminated: { exitCode: 0, reason: 'Completed', startedAt: now, finishedAt: now } },
      ),
      ready: true,
    }));
  }
  const conditions = (status.conditions ??= []);
  for (const type of ['Initialized', 'Ready', 'ContainersReady'])
    setCondition(conditions, { type, status: 'True' }, now);
}

/** The image of a pod that can't be pulled: its reference indicates it, or the pod has the fault. */
export function badImage(pod: Pod, isFaulty: boolean): string | undefined {
  const containers = [...(pod.spec.initContainers ?? []), ...pod.spec.containers];
  if (isFaulty) return containers[containers.length - 1]!.image;
  return containers.find(({ image }) => /(^|[/.-])(does-not-exist|nonexistent|invalid)([/:.-]|$)/.test(image))?.image;
}
