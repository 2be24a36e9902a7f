import type { GuestProfile } from './guest-profile.js';

/** The facts that a simulated guest knows about its machine. */
export interface GuestFacts {
  name: string;
  hostname: string;
  profile: GuestProfile;
  cpus: number;
  memoryBytes: number;
  interfaces: readonly { name: string; address: string; mac: string }[];
  disks: readonly { device: string; bytes: number; serial: string }[];
  /** The time of power-on in epoch milliseconds. */
  bootedAt: number;
}
