import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { matchesNameRule, SystemClock, type DomainError } from '@headgate/domain-contracts';
import { LIBVIRT_TRAITS, LibvirtBackend } from '@headgate/libvirt-adapter';
import { libvirtKind } from '@headgate/libvirt-adapter/kind';

async function main(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'libvirt-'));
  const uri = `qemu:///system?socket=${join(dataDir, 'absent')}`;
  const backend = LibvirtBackend.open({ context: 'local', uri, dataDir, clock: new SystemClock() });
  const unexpected = (): void => undefined;
  const error = await new Promise<DomainError>((lost) => {
    backend.require('inventory').watch({ listed: unexpected, changed: unexpected, removed: unexpected, lost });
  });
  const power = await backend
    .require('power')
    .apply({ kind: 'vm', context: 'local', namespace: 'local', name: 'web' }, 'start')
    .catch(({ code }: DomainError) => code);
  await backend.close();
  rmSync(dataDir, { recursive: true, force: true });
  console.log(
    JSON.stringify({
      kind: backend.kind,
      isName: matchesNameRule(LIBVIRT_TRAITS.instanceNames, 'web'),
      lost: error.code,
      power,
      isKind: libvirtKind.traits === LIBVIRT_TRAITS,
    }),
  );
}

void main();
