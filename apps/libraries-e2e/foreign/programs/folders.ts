import { ADMINISTRATOR, Audit, formatRef, SystemClock, type Caller } from '@headgate/domain-contracts';
import { Fleet } from '@headgate/fleet';
import { AddFolderMember, CreateFolder, Folders } from '@headgate/folders';
import { Ledger } from '@headgate/reservations';
import { buildVm, MemoryAuditLog, MemoryBackend, MemoryFolderStore } from '@headgate/testing';

const ann: Caller = { login: 'ann', name: 'Ann', grant: ADMINISTRATOR };

async function main(): Promise<void> {
  const clock = new SystemClock();
  const backend = new MemoryBackend('lab');
  const web = buildVm();
  backend.engine.put(web);
  const fleet = new Fleet({ clock, present: () => null });
  fleet.attach(backend);
  await fleet.whenSynced();

  const store = new MemoryFolderStore();
  const folders = new Folders(store);
  await folders.open();
  const log = new MemoryAuditLog();
  const audit = new Audit(log, clock);
  await new CreateFolder(folders, audit).run('prod/web', ann);
  await new AddFolderMember(folders, fleet, audit, new Ledger({ clock })).run('prod/web', formatRef(web.ref), ann);
  folders.close();
  await fleet.close();

  const restarted = new Folders(store);
  await restarted.open();
  console.log(
    JSON.stringify({
      paths: restarted.tree.paths(),
      folder: restarted.folderOf({ ref: formatRef(web.ref), uid: web.uid }),
      actions: log.entries.map(({ action }) => action),
    }),
  );
  restarted.close();
}

void main();
