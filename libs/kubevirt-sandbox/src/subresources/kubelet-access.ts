import { suffers } from '../inherited-faults.js';
import { RESOURCES } from '../resources.js';
import type { SimulationContext } from '../simulation-context.js';
import type { Container, Node, Pod } from '../types/core-kinds.js';

const KUBELET_PORT = 10_250;
/** The names of these parameters at the kubelet, where they are 1 or absent. */
const KUBELET_FLAGS = { stdin: 'input', stdout: 'output', stderr: 'error', tty: 'tty' } as const;

export interface KubeletRequest {
  method: 'Get' | 'Post';
  /** `exec` or `containerLogs` */
  action: string;
  pod: Pod;
  container: Container;
  query?: URLSearchParams;
}

/** The API server's error when the kubelet of a pod can't be reached; undefined when it can. */
export function kubeletError(context: SimulationContext, request: KubeletRequest): string | undefined {
  const { pod, container } = request;
  const node = context.find<Node>(RESOURCES.node, undefined, pod.spec.nodeName ?? '');
  const isUnreachable = [pod, node].some((object) => object && suffers(context, 'kubelet-unreachable', object));
  if (!isUnreachable) return undefined;
  const host = `${pod.status?.hostIP ?? '192.0.2.1'}:${KUBELET_PORT}`;
  const query = kubeletQuery(request.query);
  const url = `https://${host}/${request.action}/${pod.metadata.namespace}/${pod.metadata.name}/${container.name}${query}`;
  return `${request.method} "${url}": dial tcp ${host}: connect: connection refused`;
}

function kubeletQuery(query: URLSearchParams | undefined): string {
  if (!query) return '';
  const asked = new URLSearchParams();
  for (const argument of query.getAll('command')) asked.append('command', argument);
  for (const [name, flag] of Object.entries(KUBELET_FLAGS))
    if (['1', 'true'].includes(query.get(name) ?? '')) asked.set(flag, '1');
  return `?${asked}`;
}
