import type { Clock, Log } from '@headgate/domain-contracts';
import { FallbackConnection } from '../connection/fallback-connection.js';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import type { RunProgram } from '../programs/run-program.js';
import { RpcLibvirt } from '../rpc/rpc-libvirt.js';
import { VirshConnection } from '../virsh/virsh-connection.js';

interface ConnectDeps {
  /** https://libvirt.org/uri.html */
  readonly uri: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Replaces virsh in tests. */
  readonly run?: RunProgram;
  readonly createTemporaryFolder: () => Promise<string>;
}

/** The way to libvirt: its RPC protocol, or virsh where that is not possible. Does no I/O yet. */
export function connect({ uri, clock, log, run, createTemporaryFolder }: ConnectDeps): LibvirtConnection {
  const virsh = new VirshConnection({ uri, run, createTemporaryFolder });
  // A simulated virsh has no daemon behind it.
  if (run !== undefined) return virsh;
  return new FallbackConnection(new RpcLibvirt({ uri, timers: clock }), virsh, log);
}
