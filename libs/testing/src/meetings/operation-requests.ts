import type { Operation } from '@headgate/domain-contracts';

/** A request of the API. */
export interface OperationRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: object;
}

/** A VM on which operations meet, with the names that its engine has for its parts. */
export interface MeetingVm {
  readonly context: string;
  readonly namespace: string;
  readonly name: string;
  readonly bootDevice: string;
  readonly bootVolume: string;
  /** A size that the boot volume is expanded to; 9G by default. */
  readonly expandTo?: string;
  /** Of the disk that was added by the precondition `disk`. */
  readonly disk: string;
  readonly network: string;
  /** The name that the engine gave to an attached device; the name of the device by default. */
  readonly hostDevice?: string;
  /** Where its boot disk can be moved to. */
  readonly storage: string;
  readonly moveTo: { readonly kind: string; readonly context: string };
  /** The ID of a target of backups, if the service has one. */
  readonly backupTarget?: string;
}

/** Something that an operation needs besides the VM. */
export type Precondition = 'snapshot' | 'disk' | 'nic';

export interface OperationDriver {
  readonly request: (vm: MeetingVm) => OperationRequest;
  /** The state that it needs; any by default. */
  readonly needs?: 'Running' | 'Stopped';
  readonly given?: Precondition;
}

export const refOfMeeting = ({ context, namespace, name }: MeetingVm): string => `vm/${context}/${namespace}/${name}`;

const vms = ({ namespace, name }: MeetingVm, path: string): string => `/api/vms/${namespace}/${name}${path}`;
const ext = ({ namespace, name }: MeetingVm, path: string): string => `/api/ext/vms/${namespace}/${name}${path}`;
const post =
  (path: string, body?: object | ((vm: MeetingVm) => object), root = vms): OperationDriver['request'] =>
  (vm) => ({
    method: 'POST',
    path: root(vm, path),
    ...(body && { body: typeof body === 'function' ? body(vm) : body }),
  });
const remove =
  (path: string | ((vm: MeetingVm) => string), root = vms): OperationDriver['request'] =>
  (vm) => ({ method: 'DELETE', path: root(vm, typeof path === 'function' ? path(vm) : path) });
const at =
  (path: string, body: (vm: MeetingVm) => object): OperationDriver['request'] =>
  (vm) => ({ method: 'POST', path, body: body(vm) });

/** How each precondition is created. */
export const PRECONDITIONS: Readonly<Record<Precondition, OperationDriver['request']>> = {
  snapshot: post('/snapshots', ({ name }) => ({ name: `${name}-one` })),
  disk: post('/volumes', { size: '16Mi' }),
  nic: post('/nics', ({ network }) => ({ nad: network, iface: 'net1' })),
};

/** How each operation on an instance that exists is requested, for the tests of all engines. */
export const OPERATION_REQUESTS = {
  delete: { request: remove('') },
  start: { request: post('/start') },
  stop: { request: post('/stop') },
  restart: { request: post('/restart'), needs: 'Running' },
  pause: { request: post('/pause'), needs: 'Running' },
  unpause: { request: post('/unpause'), needs: 'Running' },
  tag: { request: post('/tags', { tag: 'prod', on: true }) },
  patch: {
    request: (vm) => ({ method: 'PATCH', path: ext(vm, ''), body: { labels: { 'svc.dev/tag.patched': 'true' } } }),
  },
  template: { request: post('/template', { on: true }), needs: 'Stopped' },
  folder: { request: at('/api/folders/members', (vm) => ({ path: 'all', ref: refOfMeeting(vm) })) },
  hardware: {
    request: post('/hardware', ({ network }) => ({ changes: [{ kind: 'add-nic', nad: network, iface: 'net3' }] }), ext),
  },
  scale: { request: post('/scale', { cpu: 3 }) },
  'attach-volume': { request: post('/volumes', { size: '16Mi' }) },
  'detach-volume': { request: remove(({ disk }) => `/volumes/${disk}?delete=true`), given: 'disk' },
  'expand-volume': {
    request: post('/expand', ({ bootVolume, expandTo = '9G' }) => ({ pvc: bootVolume, size: expandTo })),
  },
  'add-nic': { request: post('/nics', ({ network }) => ({ nad: network, iface: 'net2' })) },
  'change-nic': { request: post('/nics/net1', { link: 'down' }, ext), given: 'nic' },
  'remove-nic': { request: remove('/nics/net1', ext), given: 'nic' },
  'change-medium': { request: post('/drives/cd0', { pvc: null }, ext) },
  'set-boot-order': { request: post('/boot-order', ({ bootDevice }) => ({ devices: [bootDevice] }), ext) },
  'set-autostart': { request: post('/autostart', { on: true }, ext) },
  'set-placement': { request: post('/placement', { hugepages: null }, ext) },
  'attach-host-device': { request: post('/devices', { device: 'gpu' }, ext) },
  'detach-host-device': { request: remove(({ hostDevice = 'gpu' }) => `/devices/${hostDevice}`, ext) },
  // Disks are moved while the guest runs.
  'move-disk': {
    request: (vm) => ({
      method: 'POST',
      path: ext(vm, `/volumes/${vm.bootVolume}/move`),
      body: { storage: vm.storage },
    }),
    needs: 'Running',
  },
  migrate: { request: post('/migrate', {}), needs: 'Running' },
  snapshot: { request: post('/snapshots', ({ name }) => ({ name: `${name}-two` })) },
  restore: {
    request: (vm) => ({ method: 'POST', path: vms(vm, `/snapshots/${vm.name}-one/restore`) }),
    given: 'snapshot',
  },
  'delete-snapshot': { request: remove(({ name }) => `/snapshots/${name}-one`), given: 'snapshot' },
  'delete-checkpoint': { request: remove('/checkpoints/monday', ext) },
  clone: { request: post('/clone', ({ name }) => ({ target: `${name}-copy` })), needs: 'Stopped' },
  move: {
    request: at('/api/move', (vm) => ({
      ref: refOfMeeting(vm),
      toBackend: vm.moveTo.kind,
      toContext: vm.moveTo.context,
      name: `${vm.name}-moved`,
    })),
    // It shuts a running guest down, which some of the other operations need.
    needs: 'Stopped',
  },
  export: { request: (vm) => ({ method: 'GET', path: vms(vm, '/export') }), needs: 'Stopped' },
  'export-running': {
    request: (vm) => ({ method: 'GET', path: vms(vm, '/export?checkpoint=tuesday') }),
    needs: 'Running',
  },
  'guest-password': {
    request: at('/api/ext/guest/password', (vm) => ({ ref: refOfMeeting(vm), user: 'ann', password: 'new one' })),
    needs: 'Running',
  },
  'guest-command': {
    request: at('/api/ext/guest/command', (vm) => ({ ref: refOfMeeting(vm), path: '/bin/true' })),
    needs: 'Running',
  },
} as const satisfies Partial<Record<Operation, OperationDriver>>;

const backUp = post('/backup', ({ backupTarget }) => ({ target: backupTarget }), ext);

/** Those of a service with a target of backups. */
const BACKUP_REQUESTS = {
  backup: { request: backUp, needs: 'Running' },
  'backup-stopped': { request: backUp, needs: 'Stopped' },
} as const satisfies Partial<Record<Operation, OperationDriver>>;

/** An operation on an instance that exists. */
export type MeetingOperation = keyof typeof OPERATION_REQUESTS;
export type BackupOperation = keyof typeof BACKUP_REQUESTS;

export const MEETING_OPERATIONS = Object.keys(OPERATION_REQUESTS) as readonly MeetingOperation[];

export const BACKUP_OPERATIONS = Object.keys(BACKUP_REQUESTS) as readonly BackupOperation[];

export const driverOf = (operation: MeetingOperation | BackupOperation): OperationDriver =>
  ({ ...OPERATION_REQUESTS, ...BACKUP_REQUESTS })[operation];
