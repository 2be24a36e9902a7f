import type { SimulationContext } from '../simulation-context.js';
import { type ContainerSeed, seedContainer } from './seed-container.js';
import { FOLDER_LABEL } from './seed-fleet.js';
import { seedVm } from './seed-vm.js';
import type { VmSeed } from './vm-seed.js';

const DEMO_IMAGES = [
  'https://images.example/fedora-cloud-42.qcow2',
  'https://images.example/debian-12-generic.qcow2',
  'https://images.example/ubuntu-24.04-server.img',
  'https://images.example/centos-stream-10.qcow2',
  'https://images.example/windows-2022.qcow2',
] as const;

const DEMO_VMS: readonly VmSeed[] = [
  { name: 'web', image: DEMO_IMAGES[0], labels: { stage: 'prod' }, annotations: { [FOLDER_LABEL]: 'prod/web' } },
  {
    name: 'database',
    cpu: 4,
    memory: '8Gi',
    disk: '100Gi',
    image: DEMO_IMAGES[1],
    labels: { stage: 'prod', critical: 'true' },
  },
  { name: 'build', status: 'Stopped', image: DEMO_IMAGES[2] },
  { name: 'frozen', status: 'Paused', image: DEMO_IMAGES[3] },
  { name: 'desktop', image: DEMO_IMAGES[4], memory: '8Gi' },
  { name: 'lost', status: 'ErrorUnschedulable' },
  { name: 'broken', status: 'DataVolumeError' },
];

const DEMO_CONTAINERS: readonly ContainerSeed[] = [
  { name: 'tools' },
  { name: 'workshop', privileged: true },
  { name: 'asleep', running: false },
];

/** A handful of VMs and containers, one in every state: for a first look. */
export function seedDemo(context: SimulationContext): void {
  // One at a time, so that each counts in its node's load when the next is placed.
  for (const seed of DEMO_VMS) context.store.load(seedVm(context, seed));
  for (const seed of DEMO_CONTAINERS) context.store.load(seedContainer(context, seed));
}
