import 'reflect-metadata';
import type { BackendDeps, BackendKind } from '@headgate/domain-contracts';
import { ConfigError } from '@headgate/nest-kit';
import { MEMORY_TRAITS, MemoryBackend } from '@headgate/testing';
import { pino } from 'pino';
import { parseCommandLine } from '../config/command-line.js';
import { loadSettings, type Settings } from '../config/load-config.js';
import type { ContextSection } from '../config/context-section.js';
import { BACKEND_KINDS, type BackendKinds } from '../engines/backend-kinds.js';
import { chooseContexts } from './choose-contexts.js';

class NoSettings {}

class CountSettings {
  count = 3;
}

const log = pino({ level: 'silent' });
const options = parseCommandLine([]);
const settingsWith = (...contexts: ContextSection[]): Settings => ({ ...loadSettings(options, {}), contexts });

describe('chooseContexts', () => {
  const kinds: BackendKinds = {
    ...BACKEND_KINDS,
    memory: {
      traits: MEMORY_TRAITS,
      settings: NoSettings,
      open: async ({ context }) => ({ backend: new MemoryBackend(context), isSimulated: true }),
    },
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

  test('takes the invented usage of simulated contexts, and of no others', async () => {
    const pastUsage = { steps: () => [] };
    const kind = (isSimulated: boolean): BackendKind => ({
      ...kinds.memory!,
      open: async ({ context }) => ({ backend: new MemoryBackend(context), isSimulated, pastUsage }),
    });
    const settings = settingsWith({ name: 'real', kind: 'real' }, { name: 'play', kind: 'play' });
    const mixed = await chooseContexts({ options, settings, log, kinds: { real: kind(false), play: kind(true) } });
    expect([...(mixed.simulatedUsage ?? [])]).toEqual([['play', pastUsage]]);
    await mixed.close();
  });

  test('serves the containers of this machine next to its VMs', async () => {
    const opened: [string, unknown][] = [];
    const recording = (label: string) => ({
      ...kinds.memory!,
      open: async ({ context, settings }: BackendDeps) => {
        opened.push([`${label} ${context}`, { ...settings }]);
        return { backend: new MemoryBackend(context) };
      },
    });
    const engines = { libvirt: recording('libvirt'), incus: recording('incus') };
    const local = { ...options, local: true };
    await chooseContexts({ options: local, settings: settingsWith(), log, kinds: engines });
    expect(opened).toEqual([['libvirt local', {}]]);
    const both = { ...local, containers: '/run/ct.socket' };
    await chooseContexts({ options: both, settings: settingsWith(), log, kinds: engines });
    expect(opened.slice(1)).toEqual([
      ['libvirt local', {}],
      ['incus local-containers', { socket: '/run/ct.socket' }],
    ]);
  });

  test('refuses an unknown kind with the list of known ones, before it opens anything', async () => {
    const settings = settingsWith({ name: 'b', kind: 'memory' }, { name: 'a', kind: 'proxmox' });
    await expect(chooseContexts({ options, settings, log })).rejects.toThrow(
      'contexts[0].kind must be kubevirt, libvirt, incus or sandbox; contexts[1].kind must be kubevirt, libvirt, incus or sandbox',
    );
    await expect(chooseContexts({ options, settings, log, kinds })).rejects.toThrow(
      'contexts[1].kind must be kubevirt, libvirt, incus, sandbox or memory',
    );
    await expect(
      chooseContexts({ options, settings: settingsWith({ name: 'a', kind: 'toString' }), log }),
    ).rejects.toThrow('contexts[0].kind must be');
  });

  test('opens the first engine that is discovered when no context is configured', async () => {
    const opened: BackendDeps[] = [];
    const asked: string[] = [];
    const kind = (name: string, isHere: boolean): BackendKind => ({
      traits: MEMORY_TRAITS,
      settings: CountSettings,
      open: async (deps) => {
        opened.push(deps);
        return { backend: new MemoryBackend(deps.context) };
      },
      discover: async () => {
        asked.push(name);
        return isHere ? { context: `of-${name}`, settings: { count: 7 }, description: `a ${name}` } : undefined;
      },
    });
    const found = {
      memory: { ...kind('memory', true), discover: undefined },
      absent: kind('absent', false),
      here: kind('here', true),
      later: kind('later', true),
    };
    const chosen = await chooseContexts({ options, settings: settingsWith(), log, kinds: found });
    expect([asked, chosen.notes]).toEqual([['absent', 'here'], ['Found a here.']]);
    expect(opened).toMatchObject([{ context: 'of-here', settings: { count: 7 } }]);
  });

  test('opens a context without settings with the defaults of its kind', async () => {
    const opened: BackendDeps[] = [];
    const open: BackendKind['open'] = async (deps) => {
      opened.push(deps);
      return { backend: new MemoryBackend(deps.context) };
    };
    const counted = { memory: { traits: MEMORY_TRAITS, settings: CountSettings, open } };
    await chooseContexts({ options, settings: settingsWith({ name: 'a', kind: 'memory' }), log, kinds: counted });
    expect(opened).toMatchObject([{ context: 'a', settings: { count: 3 } }]);
  });

  test('reports a setting that an engine can not use as an error of the configuration', async () => {
    const settings = settingsWith({ name: 'a', kind: 'kubevirt', settings: { uploadProxyCa: '/does/not/exist.pem' } });
    const failure = await chooseContexts({ options, settings, log }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ConfigError);
    expect((failure as ConfigError).message).toMatch(
      /^\/does\/not\/exist\.pem: uploadProxyCa can't be read \(.*ENOENT/,
    );
  });
});
