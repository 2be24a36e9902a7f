import { DomainError, messageOf, type ErrorCode } from '@headgate/domain-contracts';
import type { ProgramResult } from './run-program.js';

/**
 * Translates the error output of a libvirt or QEMU program into a domain error. The only place that parses these
 * messages.
 */
export function translateFailure(program: string, result: ProgramResult): DomainError {
  if (result.missing) return missingProgram(program);
  if (result.ended === 'aborted') return new DomainError('CONFLICT', 'The operation was canceled.');
  if (result.ended === 'too-much-output') {
    return new DomainError('BACKEND_FAILED', `${program} printed more output than the service reads.`);
  }
  const text = result.stderr;
  for (const [pattern, code, message] of TRANSLATIONS) {
    const match = pattern.exec(text);
    if (match) return new DomainError(code, typeof message === 'string' ? message : message(match));
  }
  if (result.ended === 'timeout') {
    return new DomainError(
      'BACKEND_TIMEOUT',
      'libvirt did not respond in time: check whether libvirtd hangs, and restart it.',
    );
  }
  return new DomainError(
    'BACKEND_FAILED',
    `libvirt: ${lastErrorLine(text) || `${program} exited with code ${result.code}`}`,
  );
}

/** Whether libvirt was not reached, or closed the connection. */
export const isDisconnected = (stderr: string): boolean =>
  /failed to (?:re)?connect to the hypervisor|client socket is closed|due to end of file/i.test(stderr);

/** Whether QEMU has refused a block node because it has one of that name. */
export const namesTakenNode = (error: unknown): boolean => /Duplicate nodes with node-name=/.test(messageOf(error));

const missingProgram = (program: string): DomainError =>
  new DomainError(
    'BACKEND_UNREACHABLE',
    `${program} is not installed: \`npm start -- --local\` installs QEMU and libvirt.`,
  );

type Message = string | ((match: RegExpExecArray) => string);

const STOPPED_DAEMON =
  'libvirt is not responding: libvirtd is stopped. Start it (`systemctl start libvirtd`, or `npm start -- --local`).';

export const isStoppedDaemon = ({ message }: DomainError): boolean => message === STOPPED_DAEMON;

/** In order of precedence: the more specific patterns come first. */
const TRANSLATIONS: readonly (readonly [RegExp, ErrorCode, Message])[] = [
  // connection
  [
    /ssh: (.*?)(?:: Connection reset by peer)?$/m,
    'BACKEND_UNREACHABLE',
    ([, why]) => `libvirt's machine can't be reached over ssh: ${why}.`,
  ],
  [
    /Host key verification failed/,
    'BACKEND_UNREACHABLE',
    "libvirt's machine can't be reached over ssh: its host key is unknown. Connect to it once manually.",
  ],
  [
    /Permission denied \(publickey/,
    'BACKEND_FORBIDDEN',
    "libvirt's machine refuses this user's ssh key: add it to that machine's authorized keys.",
  ],
  [/^error: TLS: (.*)$/m, 'BACKEND_UNREACHABLE', ([, why]) => `libvirt's machine can't be reached over TLS: ${why}.`],
  [
    /no polkit agent available|authentication (?:unavailable|failed)|access denied by policy/i,
    'BACKEND_FORBIDDEN',
    'This user may not use libvirt: add it to the group libvirt and log in again, or run the service as root.',
  ],
  [
    /Failed to connect socket to '[^']*': Permission denied/,
    'BACKEND_FORBIDDEN',
    'This user may not use libvirt: add it to the group libvirt and log in again, or run the service as root.',
  ],
  [
    /Failed to connect socket to '[^']*libvirt[^']*sock[^']*': (?:No such file|Connection refused)/,
    'BACKEND_UNREACHABLE',
    STOPPED_DAEMON,
  ],
  [
    /Failed to connect socket to '[^']*virtlogd[^']*'/,
    'BACKEND_FAILED',
    "virtlogd is stopped, and VMs can't start without it: start it (`systemctl start virtlogd`, or `npm start -- --local`).",
  ],
  [
    /Unable to (?:read from|write to) monitor|End of file from (?:qemu )?monitor|domain is no longer running/,
    'WRONG_STATE',
    'The VM is not running: QEMU ended during the operation.',
  ],
  [
    /client socket is closed|due to end of file|due to keepalive timeout|Cannot (?:recv|write) data|End of file while reading data|Broken pipe/,
    'BACKEND_UNREACHABLE',
    STOPPED_DAEMON,
  ],
  [/failed to connect to the hypervisor/, 'BACKEND_UNREACHABLE', STOPPED_DAEMON],
  [
    /Cannot check QEMU binary|could not find (?:any emulator|capabilities for arch)|no emulator for domain|unable to find any emulator/i,
    'BACKEND_UNREACHABLE',
    'QEMU is not installed: `npm start -- --local` installs QEMU and libvirt.',
  ],
  // space and memory
  [
    /No space left on device|Disk quota exceeded/,
    'INSUFFICIENT_STORAGE',
    'The disk of this machine is full: free some space, then try again.',
  ],
  [
    /cannot set up guest memory|Cannot allocate memory/,
    'BACKEND_FAILED',
    'This machine does not have enough free memory for the VM: stop another VM or give this one less memory.',
  ],
  // the accelerator
  [
    /Could not access KVM kernel module|failed to initialize kvm|domaintype=kvm|domain type 'kvm'|KVM is not available|requires (?:KVM|hardware virtualization)/i,
    'BACKEND_FAILED',
    'KVM does not work on this machine: check the doctor, and recreate the VM so that it uses software emulation.',
  ],
  // missing objects
  [
    /(?:failed to get domain|Domain not found)[^']*(?:'([^']*)')?/,
    'INSTANCE_NOT_FOUND',
    ([, name]) => (name ? `There is no domain ${name}.` : 'There is no such domain.'),
  ],
  [
    /Cannot access (?:storage file|backing file) '([^']+)'.*: No such file/,
    'VOLUME_NOT_FOUND',
    ([, path]) => `The disk ${path} is missing: restore it, or delete the VM.`,
  ],
  [
    /Could not open '([^']+)': No such file/,
    'VOLUME_NOT_FOUND',
    ([, path]) => `The disk ${path} is missing: restore it, or delete the VM.`,
  ],
  [
    /Cannot access (?:storage|backing) file '([^']+)'.*Permission denied/,
    'BACKEND_FORBIDDEN',
    ([, path]) => `QEMU is not allowed to read the disk ${path}: grant its user access to the file and its folders.`,
  ],
  [
    /no storage vol with matching (?:path|name) '([^']*)'/,
    'VOLUME_NOT_FOUND',
    ([, name]) => `There is no volume ${name}.`,
  ],
  [
    /no storage pool with matching (?:name|uuid) '([^']*)'/,
    'VOLUME_NOT_FOUND',
    ([, name]) => `There is no storage pool ${name}.`,
  ],
  // conflicts
  [
    /domain '([^']*)' already exists/,
    'ALREADY_EXISTS',
    ([, name]) => `A domain named ${name} already exists: choose another name.`,
  ],
  [/pool '([^']*)' already exists/, 'ALREADY_EXISTS', ([, name]) => `A storage pool named ${name} already exists.`],
  [
    /storage vol(?:ume)? (?:name )?'([^']*)' (?:exists already|already in use)/,
    'ALREADY_EXISTS',
    ([, name]) => `A volume named ${name} already exists.`,
  ],
  [
    /pool '([^']+)' has asynchronous jobs running/,
    'BUSY',
    ([, pool]) => `The storage pool ${pool} is busy with a transfer: try again when it has ended.`,
  ],
  [
    /Failed to get "?(?:write|shared "write"|consistent read)"? lock|Is another process using the image/,
    'BUSY',
    'The disk is in use by another VM or program: stop it first.',
  ],
  [
    /cannot acquire state change lock|another migration job|domain has active block job/,
    'BUSY',
    'The VM is busy with another operation: try again when it has finished.',
  ],
  [/no job is active on the domain/, 'WRONG_STATE', 'The VM has no operation in progress.'],
  [/is marked for auto destroy/, 'WRONG_STATE', 'The VM belongs to another program, which will destroy it.'],
  [/domain is already (?:running|active)/, 'WRONG_STATE', 'The VM is already running.'],
  [/domain is not running|is not active|domain is not paused/, 'WRONG_STATE', 'The VM is not running.'],
  [
    /Refusing to undefine|cannot undefine/i,
    'WRONG_STATE',
    'libvirt refuses to remove the VM while something depends on it.',
  ],
  // backups
  [/no domain backup job present/, 'TASK_NOT_FOUND', 'No backup of the VM is running.'],
  [
    /no domain checkpoint with matching name|Checkpoint '[^']*' for incremental backup/,
    'CHECKPOINT_NOT_FOUND',
    'There is no such checkpoint.',
  ],
  [
    /missing or broken bitmap|bitmap '[^']*' not found in backing chain/,
    'CHECKPOINT_INCONSISTENT',
    'The record of the changes since the checkpoint is lost: delete it, and export the whole disk with a new checkpoint.',
  ],
  [
    /Cannot store dirty bitmaps in qcow2 v2 files/,
    'WRONG_STATE',
    'The disk is a qcow2 image of version 2, which can not record changes: stop the VM and convert the disk with `qemu-img amend -f qcow2 -o compat=1.1 DISK`.',
  ],
  [/another backup job is already running/, 'BUSY', 'The VM is being backed up: wait until that has ended.'],
  [/cannot perform disk backup for inactive domain/, 'WRONG_STATE', 'The VM is not running.'],
  // the guest
  [
    /[Gg]uest agent is not (?:responding|connected)|QEMU guest agent is not (?:connected|configured|available)/,
    'GUEST_AGENT_UNREACHABLE',
    'The guest agent does not respond.',
  ],
  // rejected input
  [
    /^error: (XML error: .*|unsupported configuration: .*|invalid argument: .*|.*XML document failed to validate.*)$/m,
    'REJECTED_BY_BACKEND',
    ([, why]) => `libvirt rejected the configuration: ${why}.`,
  ],
  [
    /[Oo]peration not supported|this function is not supported/,
    'NOT_SUPPORTED',
    'This version of libvirt does not support the operation.',
  ],
];

/** virsh prints the failed command first and the cause last. */
function lastErrorLine(stderr: string): string {
  const lines = stderr.split('\n').filter((line) => line.startsWith('error: '));
  return (lines.at(-1)?.slice('error: '.length) ?? stderr.trim().split('\n').at(-1) ?? '').slice(0, 300);
}
