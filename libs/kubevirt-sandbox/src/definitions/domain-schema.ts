import type { StructuralSchema } from '@headgate/kube-sandbox';
import {
  anything,
  flag,
  int64,
  integer,
  labels,
  list,
  mapOf,
  marker,
  object,
  oneOf,
  quantities,
  quantity,
  text,
} from './schema-builder.js';

const target = (extra: Record<string, StructuralSchema> = {}): StructuralSchema =>
  object({ bus: text, readonly: flag, ...extra });

const disk = object({
  blockSize: anything,
  bootOrder: integer,
  cache: text,
  cdrom: target({ tray: text }),
  changedBlockTracking: flag,
  dedicatedIOThread: flag,
  disk: target({ pciAddress: text }),
  errorPolicy: text,
  io: text,
  lun: target({ reservation: flag }),
  'name!': text,
  serial: text,
  shareable: flag,
  tag: text,
});

const networkInterface = object({
  acpiIndex: integer,
  binding: object({ 'name!': text }),
  bootOrder: integer,
  bridge: marker,
  dhcpOptions: anything,
  macAddress: text,
  macvtap: marker,
  masquerade: marker,
  model: text,
  'name!': text,
  passt: marker,
  passtBinding: marker,
  pciAddress: text,
  portRanges: list(object({ 'end!': integer, 'protocol!': text, 'start!': integer })),
  ports: list(object({ name: text, 'port!': integer, protocol: text })),
  slirp: marker,
  sriov: marker,
  state: text,
  tag: text,
});

const passedThrough = list(
  object({
    claimName: text,
    deviceName: text,
    'name!': text,
    requestName: text,
    tag: text,
    virtualGPUOptions: anything,
  }),
);

const devices = object({
  autoattachGraphicsDevice: flag,
  autoattachInputDevice: flag,
  autoattachMemBalloon: flag,
  autoattachPodInterface: flag,
  autoattachSerialConsole: flag,
  autoattachVSOCK: flag,
  blockMultiQueue: flag,
  clientPassthrough: marker,
  disableHotplug: flag,
  disks: list(disk, 256),
  downwardMetrics: marker,
  filesystems: list(object({ 'name!': text, 'virtiofs!': marker })),
  gpus: passedThrough,
  hostDevices: passedThrough,
  inputs: list(object({ bus: text, 'name!': text, 'type!': text })),
  interfaces: list(networkInterface, 256),
  logSerialConsole: flag,
  networkInterfaceMultiqueue: flag,
  panicDevices: list(object({ model: text })),
  rng: marker,
  sound: object({ model: text, 'name!': text }),
  tpm: object({ enabled: flag, persistent: flag }),
  useVirtioTransitional: flag,
  video: object({ type: text }),
  watchdog: anything,
});

/** `spec.domain` of a VMI: the virtual hardware. */
export const domain = object({
  chassis: anything,
  clock: anything,
  cpu: object({
    cores: { ...integer, format: 'int32' },
    dedicatedCpuPlacement: flag,
    features: list(object({ 'name!': text, policy: text })),
    isolateEmulatorThread: flag,
    maxSockets: { ...integer, format: 'int32' },
    model: text,
    numa: anything,
    realtime: object({ mask: text }),
    sockets: { ...integer, format: 'int32' },
    threads: { ...integer, format: 'int32' },
  }),
  'devices!': devices,
  features: anything,
  firmware: object({ acpi: anything, bootloader: anything, kernelBoot: anything, serial: text, uuid: text }),
  ioThreads: object({ supplementalPoolThreadCount: integer }),
  ioThreadsPolicy: text,
  launchSecurity: anything,
  machine: object({ type: text }),
  memory: object({
    guest: quantity,
    hugepages: object({ pageSize: text }),
    maxGuest: quantity,
    reservedOverhead: anything,
  }),
  rebootPolicy: oneOf('Reboot', 'Terminate'),
  resources: object({ limits: quantities, overcommitGuestOverhead: flag, requests: quantities }),
});

const secretName = object({ name: { ...text, default: '' } });

const cloudInit = object({
  networkData: text,
  networkDataBase64: text,
  networkDataSecretRef: secretName,
  secretRef: secretName,
  userData: text,
  userDataBase64: text,
});

const claim = (extra: Record<string, StructuralSchema> = {}): StructuralSchema =>
  object({ 'claimName!': text, readOnly: flag, ...extra });

const volume = object({
  cloudInitConfigDrive: cloudInit,
  cloudInitNoCloud: cloudInit,
  configMap: object({ name: { ...text, default: '' }, optional: flag, volumeLabel: text }),
  containerDisk: object({ 'image!': text, imagePullPolicy: text, imagePullSecret: text, path: text }),
  containerPath: object({ 'path!': text, readOnly: { ...flag, default: true } }),
  dataVolume: object({ hotpluggable: flag, 'name!': text }),
  downwardAPI: anything,
  downwardMetrics: marker,
  emptyDisk: object({ 'capacity!': quantity }),
  ephemeral: object({ persistentVolumeClaim: claim() }),
  hostDisk: object({ capacity: quantity, 'path!': text, shared: flag, 'type!': text }),
  memoryDump: claim({ hotpluggable: flag }),
  'name!': text,
  persistentVolumeClaim: claim({ hotpluggable: flag }),
  secret: object({ optional: flag, secretName: text, volumeLabel: text }),
  serviceAccount: object({ serviceAccountName: text }),
  sysprep: object({ configMap: secretName, secret: secretName }),
});

const network = object({
  multus: object({ default: flag, 'networkName!': text }),
  'name!': text,
  pod: object({ vmIPv6NetworkCIDR: text, vmNetworkCIDR: text }),
  resourceClaim: object({ claimName: text, requestName: text }),
});

/** The spec of a VMI, and of the template in a VM. */
export const vmiSpec = object({
  accessCredentials: list(object({ sshPublicKey: anything, userPassword: anything }), 256),
  affinity: anything,
  architecture: text,
  dnsConfig: anything,
  dnsPolicy: text,
  'domain!': domain,
  evictionStrategy: text,
  hostname: text,
  livenessProbe: anything,
  networks: list(network, 256),
  nodeSelector: labels,
  priorityClassName: text,
  readinessProbe: anything,
  resourceClaims: list(anything),
  schedulerName: text,
  serviceAccountName: text,
  startStrategy: text,
  subdomain: text,
  terminationGracePeriodSeconds: int64,
  tolerations: list(anything),
  topologySpreadConstraints: list(anything),
  utilityVolumes: list(anything),
  volumes: list(volume, 256),
});

export const vmStateChanges = list(object({ 'action!': text, data: mapOf(text), uid: text }));
