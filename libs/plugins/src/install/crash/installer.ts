import { readFileSync } from 'node:fs';
import { SILENT_LOG, SystemClock } from '@headgate/domain-contracts';
import { digestOf } from '../../format/signature.js';
import { PluginFolder } from '../plugin-folder.js';

// crash.spec.ts runs this in a process of its own: it installs the archive over the installed version and ends without
// any cleanup, as a killed process does, right after a step.
const [folder = '', archiveFile = '', version = '', lastStep] = process.argv.slice(2);
const archive = readFileSync(archiveFile);
const plugins = new PluginFolder({
  folder,
  clock: new SystemClock(),
  log: SILENT_LOG,
  onStep: (step) => {
    if (step === lastStep) process.kill(process.pid, 'SIGKILL');
  },
});
await plugins.open();
const offer = { name: 'sample', version, digest: digestOf(archive, 'sha256:'), origin: 'bundled' };
const removeOld = await plugins.install(offer, archive, async () => undefined);
await removeOld();
