import { UnavailableAbility, type Abilities, type AbilityName } from '@headgate/domain-contracts';
import { IncusCloning } from './cloning/incus-cloning.js';
import { openCluster } from './cluster/open-cluster.js';
import { openConsoles } from './consoles/open-consoles.js';
import { IncusDiagnostics } from './diagnostics/incus-diagnostics.js';
import type { IncusEngine } from './engine/incus-engine.js';
import { EventHistory } from './events/event-history.js';
import { IncusEvents } from './events/incus-events.js';
import { IncusHardware } from './hardware/incus-hardware.js';
import { Restarts } from './hardware/restarts.js';
import { IncusInventory } from './inventory/incus-inventory.js';
import { openMetrics } from './metrics/open-metrics.js';
import { IncusContainerTransfer } from './moves/incus-container-transfer.js';
import { IncusContainers } from './provisioning/incus-containers.js';
import { IncusSnapshots } from './snapshots/incus-snapshots.js';

interface OpenedAbilities {
  /** An ability that is missing here does not compile. */
  readonly abilities: { readonly [K in AbilityName]: Abilities[K] | UnavailableAbility };
  /** Ends all work, and closes the engine. */
  readonly close: () => Promise<void>;
}

/** Opens each ability, and connects those that need each other. */
export function openAbilities(engine: IncusEngine): OpenedAbilities {
  const { finder } = engine;
  const history = new EventHistory();
  const restarts = new Restarts(engine);
  const inventory = new IncusInventory({
    ...engine,
    onEvent: (event) => history.record(event),
    onListed: (instances) => restarts.resume(instances),
  });
  const abilities = {
    inventory,
    power: ofVms('started and stopped'),
    provisioning: ofVms('created'),
    diskBuilds: new UnavailableAbility('Containers of Incus and LXD have no disks to build.'),
    hardware: new IncusHardware(engine, restarts),
    diskMove: new UnavailableAbility(
      'Incus and LXD move the volumes of a container between pools with their own tools.',
    ),
    hostResources: new UnavailableAbility('Containers of Incus and LXD have no devices of the host here.'),
    migration: new UnavailableAbility(
      'Incus and LXD migrate running containers with CRIU only, which this service does not use.',
    ),
    snapshots: new IncusSnapshots(engine),
    cloning: new IncusCloning(engine),
    images: new UnavailableAbility('The images of Incus and LXD are managed with their own tools.'),
    containers: new IncusContainers(engine),
    containerLogs: new UnavailableAbility(
      'Incus and LXD have no logs of containers: to read what a console has kept takes it away from other readers.',
    ),
    containerFiles: new UnavailableAbility(
      'Incus and LXD read a pipe like a file, and a read of one does not end: use the terminal of the container.',
    ),
    containerTransfer: new IncusContainerTransfer(engine),
    consoles: openConsoles(engine),
    events: new IncusEvents(finder, history),
    metrics: openMetrics(engine),
    guestInfo: new UnavailableAbility('Containers of Incus and LXD have no guest agent.'),
    guestControl: new UnavailableAbility('Containers of Incus and LXD have no guest agent: use a shell.'),
    guestPorts: new UnavailableAbility(
      'This service does not connect to ports of containers of Incus and LXD: use a proxy device of the server (incus config device add).',
    ),
    diskExport: ofVms('exported'),
    diskSource: ofVms('moved'),
    diskIngest: ofVms('moved'),
    liveDisks: ofVms('moved'),
    backups: ofVms('backed up'),
    backupSource: ofVms('backed up'),
    bootProof: ofVms('booted from backups'),
    diskFiles: new UnavailableAbility(
      'This service reads files on the disks of VMs only: use a shell in the container of Incus and LXD.',
    ),
    diskRestore: ofVms('restored from backups'),
    instantRestore: ofVms('restored from backups'),
    cluster: openCluster(engine),
    nodeScheduling: new UnavailableAbility('Members of Incus and LXD are evacuated with their own tools.'),
    diagnostics: new IncusDiagnostics(engine),
    twin: new UnavailableAbility('This service has no simulation of Incus and LXD, so they have no twin.'),
  };
  const close = async (): Promise<void> => {
    await inventory.close();
    engine.api.close();
  };
  return { abilities, close };
}

/** @param participle completes "VMs can't be …" */
const ofVms = (participle: string): UnavailableAbility =>
  new UnavailableAbility(`This service runs containers on Incus and LXD: VMs can't be ${participle} there.`);
