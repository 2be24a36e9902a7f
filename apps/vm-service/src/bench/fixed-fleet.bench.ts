import 'reflect-metadata';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Abilities,
  type AbilityName,
  ConsoleSource,
  type ConsoleStream,
  DomainError,
  type UnavailableAbility,
  type SerialLine,
  type Shell,
  type VirtualMachine,
} from '@headgate/domain-contracts';
import { connectSocket } from '@headgate/libvirt-adapter';
import { buildVm, MemoryBackend, withStatus } from '@headgate/testing';
import { pino } from 'pino';
import { loadSettings } from '../config/load-config.js';
import { parseCommandLine } from '../config/command-line.js';
import { createService } from '../create-app.js';

// The service over a fleet in memory, for tools/bench: `fixed-fleet.bench COUNT SOCKET [CHANGES [PAGE]]`. Its consoles
// print the bytes of the socket at SOCKET, CHANGES instances change per second, and the folder PAGE has the page. It
// prints its port in one line and ends with its standard input.

const [count = '0', socket = '', changesPerSecond = '0', pageDir] = process.argv.slice(2);

class SocketConsoles extends ConsoleSource {
  override readonly screenSharing = 'none';

  override async openVnc(): Promise<ConsoleStream> {
    return connectSocket({ path: socket });
  }

  override async openSerial(): Promise<SerialLine> {
    return { stream: await connectSocket({ path: socket }), backlog: Buffer.alloc(0) };
  }

  override async openShell(): Promise<Shell> {
    throw new DomainError('NOT_SUPPORTED', 'There are no containers here.');
  }
}

class FixedFleet extends MemoryBackend {
  private readonly consoles = new SocketConsoles();

  override ability<K extends AbilityName>(name: K): Abilities[K] | UnavailableAbility {
    return name === 'consoles' ? (this.consoles as unknown as Abilities[K]) : super.ability(name);
  }
}

const backend = new FixedFleet();
const vms: VirtualMachine[] = [];
for (let index = 0; index < Number(count); index++) {
  const name = `vm-${String(index).padStart(5, '0')}`;
  const vm = buildVm({
    ref: { namespace: `team-${index % 40}`, name },
    uid: name,
    tags: ['prod', `rack-${index % 12}`],
  });
  vms.push(withStatus(vm, index % 4 === 0 ? 'Stopped' : 'Running'));
  backend.engine.put(vms[index] as VirtualMachine);
}

if (Number(changesPerSecond) > 0) {
  const beganMs = performance.now();
  let turn = 0;
  // A busy event loop delays timers; the changes that are due then happen together, so that their rate stays the same.
  setInterval(
    () => {
      const due = Math.floor(((performance.now() - beganMs) * Number(changesPerSecond)) / 1000);
      while (turn < due) {
        const vm = vms[(turn * 7919) % vms.length];
        if (vm) backend.engine.put({ ...vm, tags: [...vm.tags, `turn-${turn}`] });
        turn++;
      }
    },
    1000 / Number(changesPerSecond),
  );
}

const folder = mkdtempSync(join(tmpdir(), 'headgate-bench-'));
const service = await createService({
  settings: loadSettings(parseCommandLine(['--data-dir', folder, '--listen', '127.0.0.1:0']), {}),
  contexts: { backends: [backend], simulated: new Set(), hasTinyGuest: false, notes: [], close: async () => undefined },
  log: pino({ level: 'silent' }),
  pageDir: pageDir ?? folder,
});
await service.start();
process.stdout.write(`${service.port()}\n`);
process.stdin.resume().once('end', () => {
  void service.close().then(() => {
    rmSync(folder, { recursive: true });
    process.exit(0);
  });
});
