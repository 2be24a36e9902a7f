import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { matchesNameRule, SystemClock, type DomainError } from '@headgate/domain-contracts';
import { INCUS_TRAITS, IncusBackend } from '@headgate/incus-adapter';
import { incusKind } from '@headgate/incus-adapter/kind';

async function main(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'incus-'));
  const target = { kind: 'socket', path: join(dataDir, 'absent') } as const;
  const backend = IncusBackend.open({ context: 'local', target, dataDir, clock: new SystemClock() });
  const unexpected = (): void => undefined;
  const error = await new Promise<DomainError>((lost) => {
    backend.require('inventory').watch({ listed: unexpected, changed: unexpected, removed: unexpected, lost });
  });
  const start = await backend
    .require('containers')
    .start({ kind: 'ct', context: 'local', namespace: 'default', name: 'web' })
    .catch(({ code }: DomainError) => code);
  await backend.close();
  rmSync(dataDir, { recursive: true, force: true });
  console.log(
    JSON.stringify({
      kind: backend.kind,
      isName: matchesNameRule(INCUS_TRAITS.instanceNames, 'web'),
      lost: error.code,
      start,
      isKind: incusKind.traits === INCUS_TRAITS,
    }),
  );
}

void main();
