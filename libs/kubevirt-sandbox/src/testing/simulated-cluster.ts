import {
  AdmissionChain,
  builtInResources,
  ManualClock,
  type EventObject,
  EventRecorder,
  type KubeObject,
  ObjectStore,
  ResourceRegistry,
  SubresourceRegistry,
} from '@headgate/kube-sandbox';
import { KubevirtSimulation, type SimulationOptions } from '../kubevirt-simulation.js';
import { RESOURCES } from '../resources.js';
import type { VirtualMachineInstance } from '../types/virtual-machine-instance.js';
import type { VirtualMachine } from '../types/virtual-machine.js';

/** The simulation on a bare store, with a clock that the test drives; no HTTP. */
export function simulatedCluster(options: SimulationOptions = {}, clock = new ManualClock()) {
  const registry = new ResourceRegistry();
  for (const definition of builtInResources) registry.register(definition);
  const store = new ObjectStore({ registry, clock });
  const admission = new AdmissionChain();
  const subresources = new SubresourceRegistry();
  const events = new EventRecorder(store, clock);
  const simulation = new KubevirtSimulation({
    onError: (error, key) => {
      throw new Error(`the simulation failed at ${key}`, { cause: error });
    },
    ...options,
  });
  simulation.install({ store, registry, admission, subresources, clock, events });
  // Imitates the API server's garbage collector: an object without its last owner is deleted.
  store.subscribe(
    '*',
    ({ type, object }) => {
      if (type !== 'DELETED') return;
      for (const key of store.dependentsOf(object.metadata.uid!)) {
        if (store.get(key.resource, key)) store.delete(key.resource, key);
      }
    },
    { atRest: 'never' },
  );
  clock.advance(1000);
  const find = <T extends KubeObject>(resource: string, name: string, namespace = 'tailvm') =>
    store.get<T>(resource, { namespace, name });
  return {
    clock,
    store,
    admission,
    subresources,
    simulation,
    find,
    vm: (name: string) => find<VirtualMachine>(RESOURCES.vm, name),
    vmi: (name: string) => find<VirtualMachineInstance>(RESOURCES.vmi, name),
    /** Reasons of the events of an object, oldest first. */
    eventReasons: (kind: string, name: string) =>
      store
        .list<EventObject>('events', {
          where: ({ involvedObject }) => involvedObject.kind === kind && involvedObject.name === name,
        })
        .map(({ reason }) => reason),
    /** Creates as a client does, with defaults and admission. */
    create: <T extends KubeObject>(object: T): T => {
      const resource = registry.resourceOf(object);
      const request = {
        operation: 'CREATE' as const,
        resource,
        namespace: object.metadata.namespace,
        name: object.metadata.name,
        object: structuredClone(object),
        user: { username: 'test', groups: [] },
        dryRun: false,
      };
      admission.mutate(request);
      admission.validate(request);
      return store.create<T>(resource, request.object);
    },
  };
}

export type SimulatedCluster = ReturnType<typeof simulatedCluster>;

/** A VM with a container disk, as a client writes it. */
export function buildVirtualMachine(name: string, overrides: Partial<VirtualMachine['spec']> = {}): VirtualMachine {
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { name, namespace: 'tailvm' },
    spec: {
      runStrategy: 'Always',
      template: {
        spec: {
          domain: {
            cpu: { sockets: 2, cores: 1, threads: 1 },
            memory: { guest: '4Gi' },
            devices: {
              disks: [{ name: 'root', disk: { bus: 'virtio' } }],
              interfaces: [{ name: 'default', masquerade: {} }],
            },
          },
          networks: [{ name: 'default', pod: {} }],
          volumes: [{ name: 'root', containerDisk: { image: 'registry.example.org/containerdisks/fedora:42' } }],
        },
      },
      ...overrides,
    },
  };
}
