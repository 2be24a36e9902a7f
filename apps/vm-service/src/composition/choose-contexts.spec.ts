import 'reflect-metadata';
import { MemoryBackend } from '@headgate/testing';
import { pino } from 'pino';
import { parseCommandLine } from '../config/command-line.js';
import { loadSettings, type Settings } from '../config/load-config.js';
import type { ContextSection } from '../config/service-config.js';
import { BACKEND_KINDS, type BackendKinds } from './backend-kinds.js';
import { chooseContexts } from './choose-contexts.js';

const log = pino({ level: 'silent' });
const options = parseCommandLine([]);
const settingsWith = (...contexts: ContextSection[]): Settings => ({ ...loadSettings(options, {}), contexts });

describe('chooseContexts', () => {
  const kinds: BackendKinds = {
    ...BACKEND_KINDS,
    memory: async ({ section }) => ({ backend: new MemoryBackend(section.name), isSimulated: true }),
  };

  test('opens the contexts of the configuration in their order, with the factories of their kinds', async () => {
    const contexts = [
      { name: 'b', kind: 'memory' },
      { name: 'a', kind: 'memory' },
    ];
    const chosen = await chooseContexts({ options, settings: settingsWith(...contexts), log, kinds });
    expect(chosen.backends.map(({ context }) => context)).toEqual(['b', 'a']);
    expect([...chosen.simulated]).toEqual(['b', 'a']);
    expect(chosen.notes).toEqual([expect.stringContaining('simulated')]);
    await chosen.close();
  });

  test('refuses an unknown kind with the list of known ones, before it opens anything', async () => {
    const settings = settingsWith({ name: 'b', kind: 'memory' }, { name: 'a', kind: 'proxmox' });
    await expect(chooseContexts({ options, settings, log })).rejects.toThrow(
      'contexts[0].kind must be kubevirt, libvirt or sandbox; contexts[1].kind must be kubevirt, libvirt or sandbox',
    );
    await expect(chooseContexts({ options, settings, log, kinds })).rejects.toThrow(
      'contexts[1].kind must be kubevirt, libvirt, sandbox or memory',
    );
    await expect(
      chooseContexts({ options, settings: settingsWith({ name: 'a', kind: 'toString' }), log }),
    ).rejects.toThrow('contexts[0].kind must be');
  });
});
