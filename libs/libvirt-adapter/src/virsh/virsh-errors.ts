import { DomainError, type ErrorCode } from '@headgate/domain-contracts';
import type { ProgramResult } from './run-program.js';

/** What a program of libvirt or QEMU said when it failed, as the service's own error. The one place that reads their messages. */
export function translateFailure(program: string, result: ProgramResult): DomainError {
  if (result.missing) return missingProgram(program);
  if (result.ended === 'aborted') return new DomainError('CONFLICT', 'The operation was cancelled.');
  if (result.ended === 'too-much-output') {
    return new DomainError('BACKEND_FAILED', `${program} answered more than the service reads.`);
  }
  const text = result.stderr;
  for (const [pattern, code, message] of TRANSLATIONS) {
    const match = pattern.exec(text);
    if (match) return new DomainError(code, typeof message === 'string' ? message : message(match));
  }
  if (result.ended === 'timeout') {
    return new DomainError(
      'BACKEND_TIMEOUT',
      'libvirt did not answer in time: see whether libvirtd hangs, and restart it.',
    );
  }
  return new DomainError(
    'BACKEND_FAILED',
    `libvirt: ${lastSentence(text) || `${program} ended with code ${result.code}`}`,
  );
}

const missingProgram = (program: string): DomainError =>
  new DomainError(
    'BACKEND_UNREACHABLE',
    `${program} is not installed: \`npm start -- --local\` installs QEMU and libvirt.`,
  );

type Message = string | ((match: RegExpExecArray) => string);

const STOPPED_DAEMON =
  'libvirt does not answer: libvirtd is stopped. Start it (`systemctl start libvirtd`, or `npm start -- --local`).';

/** Read from the top: what says more about the cause stands before what says less. */
const TRANSLATIONS: readonly (readonly [RegExp, ErrorCode, Message])[] = [
  // the way to libvirt
  [
    /ssh: (.*?)(?:: Connection reset by peer)?$/m,
    'BACKEND_UNREACHABLE',
    ([, why]) => `libvirt's machine can't be reached over ssh: ${why}.`,
  ],
  [
    /Host key verification failed/,
    'BACKEND_UNREACHABLE',
    "libvirt's machine can't be reached over ssh: its host key is not known. Connect to it once by hand.",
  ],
  [
    /Permission denied \(publickey/,
    'BACKEND_FORBIDDEN',
    "libvirt's machine refuses this user's ssh key: add it to that machine's authorized keys.",
  ],
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
    'virtlogd is stopped, and no guest starts without it: start it (`systemctl start virtlogd`, or `npm start -- --local`).',
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
    'This machine has not enough free memory for the VM: stop another VM or give this one less.',
  ],
  // the accelerator
  [
    /Could not access KVM kernel module|failed to initialize kvm|domaintype=kvm|domain type 'kvm'|KVM is not available|requires (?:KVM|hardware virtualization)/i,
    'BACKEND_FAILED',
    'KVM does not work on this machine: see the doctor, and make the VM anew so that it is emulated in software.',
  ],
  // what is not there
  [
    /(?:failed to get domain|Domain not found)[^']*(?:'([^']*)')?/,
    'INSTANCE_NOT_FOUND',
    ([, name]) => (name ? `There is no domain ${name}.` : 'There is no such domain.'),
  ],
  [
    /Cannot access (?:storage file|backing file) '([^']+)'.*: No such file/,
    'VOLUME_NOT_FOUND',
    ([, path]) => `The disk ${path} is gone: put it back, or delete the VM.`,
  ],
  [
    /Could not open '([^']+)': No such file/,
    'VOLUME_NOT_FOUND',
    ([, path]) => `The disk ${path} is gone: put it back, or delete the VM.`,
  ],
  [
    /Cannot access (?:storage|backing) file '([^']+)'.*Permission denied/,
    'BACKEND_FORBIDDEN',
    ([, path]) => `QEMU may not read the disk ${path}: give its user access to the file and its folders.`,
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
  // what stands in the way
  [
    /domain '([^']*)' already exists/,
    'ALREADY_EXISTS',
    ([, name]) => `There is a domain ${name} already: choose another name.`,
  ],
  [
    /storage vol(?:ume)? (?:name )?'([^']*)' (?:exists already|already in use)/,
    'ALREADY_EXISTS',
    ([, name]) => `There is a volume ${name} already.`,
  ],
  [
    /Failed to get "?(?:write|shared "write"|consistent read)"? lock|Is another process using the image/,
    'BUSY',
    'The disk is in use by another VM or program: stop that one first.',
  ],
  [
    /cannot acquire state change lock|another migration job|domain has active block job/,
    'BUSY',
    'The VM is busy with another operation: try again when that is done.',
  ],
  [/is marked for auto destroy/, 'WRONG_STATE', 'The VM belongs to another program that will destroy it.'],
  [/domain is already (?:running|active)/, 'WRONG_STATE', 'The VM runs already.'],
  [/domain is not running|is not active|domain is not paused/, 'WRONG_STATE', 'The VM does not run.'],
  [
    /Refusing to undefine|cannot undefine/i,
    'WRONG_STATE',
    'libvirt refuses to remove the VM as long as something depends on it.',
  ],
  // the guest
  [
    /[Gg]uest agent is not (?:responding|connected)|QEMU guest agent is not (?:connected|configured|available)/,
    'GUEST_AGENT_UNREACHABLE',
    'The guest agent does not answer.',
  ],
  // what libvirt does not take
  [
    /^error: (XML error: .*|unsupported configuration: .*|invalid argument: .*|.*XML document failed to validate.*)$/m,
    'REJECTED_BY_BACKEND',
    ([, why]) => `libvirt refuses this: ${why}.`,
  ],
  [/[Oo]peration not supported|this function is not supported/, 'NOT_SUPPORTED', 'This libvirt can not do that.'],
];

/** virsh says what it wanted to do first, and why it failed last. */
function lastSentence(stderr: string): string {
  const lines = stderr.split('\n').filter((line) => line.startsWith('error: '));
  return (lines.at(-1)?.slice('error: '.length) ?? stderr.trim().split('\n').at(-1) ?? '').slice(0, 300);
}
