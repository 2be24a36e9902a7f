import type { ServiceProcess } from '../host/service-process.js';

/** A ticket for a lock, which is a volume with this content in its name. */
export interface LockTicket {
  /** Of the locked object; 16 hexadecimal digits. */
  readonly key: string;
  /** A random number, 12 hexadecimal digits. Smaller ones come first. */
  readonly ticket: string;
  readonly process: ServiceProcess;
  readonly renewal: number;
}

const NAME = /^lock-([0-9a-f]{16})-([0-9a-f]{12})-([0-9a-f]{12})-(\d{1,15})-(\d{1,15})-(\d{1,15})\.lock$/;

export const isLockName = (name: string): boolean => NAME.test(name);

export const formatLockName = ({ key, ticket, process: { machine, pid, start }, renewal }: LockTicket): string =>
  `lock-${key}-${ticket}-${machine}-${pid}-${start}-${renewal}.lock`;

export function parseLockName(name: string): LockTicket | undefined {
  const [, key = '', ticket = '', machine = '', pid, start, renewal] = NAME.exec(name) ?? [];
  if (key === '') return undefined;
  return { key, ticket, process: { machine, pid: Number(pid), start: Number(start) }, renewal: Number(renewal) };
}
