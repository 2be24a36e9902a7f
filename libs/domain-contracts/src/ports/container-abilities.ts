/**
 * The abilities that are about single instances, as the object of the refusal of a backend that does not list them in
 * `containerAbilities`. Undefined: it is about no instance, so that it is not refused. An ability that is missing here
 * does not compile, because `backend.port.ts` expects all of them.
 */
export const FOR_CONTAINERS = {
  inventory: 'the manifests of containers',
  power: 'restarts and pauses of containers',
  provisioning: 'the creation of containers from disks',
  diskBuilds: 'the creation of containers from bootable images',
  hardware: 'changes of the hardware of containers',
  diskMove: 'moves of the volumes of containers',
  hostResources: undefined,
  migration: 'migrations of containers',
  snapshots: 'snapshots of containers',
  cloning: 'clones of containers',
  images: undefined,
  containers: 'containers',
  containerLogs: 'the logs of containers',
  containerTransfer: 'moves of containers to and from other contexts',
  consoles: 'shells in containers',
  events: 'the events of containers',
  metrics: 'the resource usage of containers',
  guestInfo: 'information about what runs in containers',
  guestControl: 'programs in containers',
  guestPorts: 'connections to ports of containers',
  diskExport: 'exports of containers',
  diskSource: 'moves of containers to other contexts',
  diskIngest: 'moves of containers from other contexts',
  diskRestore: 'restores of disks of containers',
  liveDisks: 'live moves of containers',
  backups: 'checkpoints of containers',
  backupSource: 'backups of containers',
  bootProof: 'boots of backups of containers',
  diskFiles: 'the files on the disks of containers',
  cluster: undefined,
  nodeScheduling: undefined,
  diagnostics: undefined,
} as const;
