import { apiError, notFound, type SubresourceResponse } from '@headgate/kube-sandbox';
import { RESOURCES } from '../resources.js';
import type { SimulationContext } from '../simulation-context.js';
import type { Pod } from '../types/core-kinds.js';
import type { VirtualMachineInstance } from '../types/virtual-machine-instance.js';
import { exposition, EXPOSITION_TYPE, type Point, type Series } from './exposition.js';
import { GuestTraffic, type Direction } from './guest-traffic.js';

const PORT = '8443';
/** A pod behind the proxy of the API server: a scheme, a name and a port. */
const TARGET = /^(?:(https?):)?([^:]+)(?::(\w+))?$/;

/** The Prometheus endpoints of virt-handler, behind the proxy of the API server. Other pods listen on no port. */
export function serveHandlerMetrics(context: SimulationContext): void {
  const traffic = new GuestTraffic(context);
  context.subresources.handle({ group: '', resource: 'pods', subresource: 'proxy' }, ['GET'], (request) => {
    const [, scheme, name = '', port] = TARGET.exec(request.name) ?? [];
    const pod = context.find<Pod>(RESOURCES.pod, request.namespace, name);
    if (!pod) throw notFound({ group: '', resource: 'pods', name });
    if (pod.metadata.labels?.['kubevirt.io'] !== 'virt-handler' || port !== PORT) throw refused(pod, port);
    if (scheme !== 'https') return { code: 400, body: 'Client sent an HTTP request to an HTTPS server.\n' };
    if (request.rest.join('/') !== 'metrics') return { code: 404, body: '404: Page Not Found' };
    return metricsOf(context, traffic, pod);
  });
}

const refused = ({ status }: Pod, port = '80') =>
  apiError(
    503,
    'ServiceUnavailable',
    `error trying to reach service: dial tcp ${status?.podIP ?? ''}:${port}: connect: connection refused`,
  );

function metricsOf(context: SimulationContext, traffic: GuestTraffic, { spec }: Pod): SubresourceResponse {
  const node = spec.nodeName ?? '';
  const guests = context.store.list<VirtualMachineInstance>(RESOURCES.vmi, {
    where: ({ status }) => status?.phase === 'Running' && status.nodeName === node,
  });
  const body = exposition([...processSeries(context), ...guestSeries(guests, traffic)]);
  return { code: 200, body: Buffer.from(body), headers: { 'Content-Type': EXPOSITION_TYPE } };
}

function processSeries({ release }: SimulationContext): Series[] {
  const info = { goversion: 'go1.24.7', kubeversion: release.tag };
  return [
    { name: 'go_goroutines', help: 'Number of goroutines that currently exist.', type: 'gauge', points: [{ labels: {}, value: 212 }] }, // prettier-ignore
    { name: 'kubevirt_info', help: 'Version information.', type: 'gauge', points: [{ labels: info, value: 1 }] },
  ];
}

function guestSeries(guests: readonly VirtualMachineInstance[], traffic: GuestTraffic): Series[] {
  const counter = (name: string, help: string, devicesOf: DevicesOf, direction: Direction, unit = 1): Series => ({
    name,
    help,
    type: 'counter',
    points: guests.flatMap((vmi) =>
      devicesOf(vmi).map((device): Point => {
        const value = Math.floor(traffic.bytes(vmi, Object.values(device)[0] ?? '', direction) / unit);
        return { labels: { ...labelsOf(vmi), ...device }, value };
      }),
    ),
  });
  return [
    counter('kubevirt_vmi_network_receive_bytes_total', 'Total network traffic received in bytes.', interfacesOf, 'receive'), // prettier-ignore
    counter('kubevirt_vmi_network_transmit_bytes_total', 'Total network traffic transmitted in bytes.', interfacesOf, 'transmit'), // prettier-ignore
    counter('kubevirt_vmi_storage_iops_read_total', 'Total number of I/O read operations.', drivesOf, 'read', 16_384),
    counter('kubevirt_vmi_storage_read_traffic_bytes_total', 'Total number of bytes read from storage.', drivesOf, 'read'), // prettier-ignore
    counter('kubevirt_vmi_storage_write_traffic_bytes_total', 'Total number of written bytes.', drivesOf, 'write'),
  ];
}

type DevicesOf = (vmi: VirtualMachineInstance) => readonly Record<string, string>[];

const interfacesOf: DevicesOf = ({ spec }) =>
  (spec.domain.devices.interfaces ?? []).map(({ name }) => ({ interface: name }));

const drivesOf: DevicesOf = ({ spec }) => (spec.domain.devices.disks ?? []).map(({ name }) => ({ drive: name }));

/** Labels of the VMI become labels of its series, with their names adapted to the format. */
const labelsOf = ({ metadata, status }: VirtualMachineInstance): Record<string, string> => ({
  node: status?.nodeName ?? '',
  namespace: metadata.namespace ?? '',
  name: metadata.name,
  ...Object.fromEntries(
    Object.entries(metadata.labels ?? {}).map(([name, value]) => [
      `kubernetes_vmi_label_${name.replace(/[^a-zA-Z0-9_]/g, '_')}`,
      value,
    ]),
  ),
});
