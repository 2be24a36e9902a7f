import {
  driverOf,
  type LibvirtCall,
  type MeetingOperation,
  type MeetingVm,
  type OperationRequest,
} from '@headgate/testing';

/** A moment during an operation on a VM of the machine `here`. */
export interface HeldOperation {
  readonly operation: MeetingOperation;
  readonly status: 'Running' | 'Stopped';
  /** A call of the operation at that moment. */
  readonly call: LibvirtCall;
  /** How often the operation makes the call before. */
  readonly skip?: number;
  /** The machine that receives the call. Default: `here`. */
  readonly machine?: 'there';
}

/** Moments during operations that continue as tasks. */
export const LONG_OPERATIONS: readonly HeldOperation[] = [
  { operation: 'move', status: 'Stopped', call: 'defineDomain', machine: 'there' },
  // The copy is complete.
  { operation: 'move', status: 'Stopped', call: 'undefineDomain' },
  { operation: 'restore', status: 'Stopped', call: 'defineDomain' },
  { operation: 'restore', status: 'Running', call: 'defineDomain' },
  { operation: 'snapshot', status: 'Stopped', call: 'createVolume' },
  { operation: 'delete-snapshot', status: 'Stopped', call: 'setMetadata', skip: 1 },
  { operation: 'delete-snapshot', status: 'Running', call: 'commitBlocks' },
  { operation: 'clone', status: 'Stopped', call: 'defineDomain' },
  { operation: 'move-disk', status: 'Running', call: 'copyBlocks' },
  { operation: 'delete', status: 'Stopped', call: 'deleteVolume' },
];

/** Requests that end with their response, and those that wait for them. */
export const BRIEF_OPERATIONS: readonly (readonly [HeldOperation, readonly MeetingOperation[]])[] = [
  [{ operation: 'start', status: 'Stopped', call: 'startDomain' }, ['delete', 'snapshot', 'scale']],
  [{ operation: 'stop', status: 'Running', call: 'destroyDomain' }, ['restart', 'delete']],
  [{ operation: 'restart', status: 'Running', call: 'startDomain' }, ['stop', 'move-disk']],
  [{ operation: 'scale', status: 'Stopped', call: 'defineDomain' }, ['delete', 'start', 'move']],
  [{ operation: 'tag', status: 'Stopped', call: 'setMetadata' }, ['delete', 'clone', 'move']],
  [{ operation: 'attach-volume', status: 'Stopped', call: 'createVolume' }, ['delete', 'restore']],
];

/** Pairs that are requested at the same moment, by the state of the VM. */
export const PAIRS: Readonly<
  Record<'Stopped' | 'Running', readonly (readonly [MeetingOperation, MeetingOperation])[]>
> = {
  Stopped: [
    ['move', 'tag'],
    ['move', 'start'],
    ['move', 'delete'],
    ['restore', 'start'],
    ['restore', 'delete-snapshot'],
    ['restore', 'delete'],
    ['delete', 'snapshot'],
    ['delete', 'clone'],
    ['delete', 'attach-volume'],
    ['delete', 'export'],
    ['delete', 'delete'],
    ['delete-snapshot', 'start'],
    ['delete-snapshot', 'snapshot'],
    ['export', 'start'],
    ['start', 'scale'],
  ],
  Running: [
    ['stop', 'restart'],
    ['stop', 'restore'],
    ['stop', 'move-disk'],
    ['delete', 'move-disk'],
  ],
};

/** The size after a request to scale. Every machine has one CPU. */
export const SCALED = '96Mi';

/** The moves delete their source, and the guests have no system that shuts down. */
export function requestOn(vm: MeetingVm, operation: MeetingOperation): OperationRequest {
  const request = driverOf(operation).request(vm);
  if (operation === 'move') return { ...request, body: { ...request.body, deleteSource: true } };
  if (operation === 'scale') return { ...request, path: `${request.path}?restart=false`, body: { mem: SCALED } };
  if (operation === 'stop' || operation === 'restart') return { ...request, path: `${request.path}?force=true` };
  return request;
}
