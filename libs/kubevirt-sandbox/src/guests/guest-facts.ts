import type { GuestProfile } from './guest-profile.js';

/** What a simulated guest knows about the machine it runs on. */
export interface GuestFacts {
  name: string;
  hostname: string;
  profile: GuestProfile;
  cpus: number;
  memoryBytes: number;
  interfaces: readonly { name: string; address: string; mac: string }[];
  disks: readonly { device: string; bytes: number; serial: string }[];
  /** When it was switched on, epoch milliseconds. */
  bootedAt: number;
}
