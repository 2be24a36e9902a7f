import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { mergeSettings, SettingError, type AddedKind, type BackendKind } from '@headgate/domain-contracts';
import { buildVm, MEMORY_TRAITS, MemoryBackend, withStatus } from '@headgate/testing';
import { IsInt, IsOptional, IsString } from 'class-validator';

export class AddedMemorySettings {
  @IsInt() port!: number;
  /** The value `run` is refused like a setting that names a program. */
  @IsString() token!: string;
  @IsOptional() @IsString() file?: string;
  @IsOptional() @IsString() host?: string;
  /** The engine behind the port, and the name of its VM. */
  @IsOptional() @IsString() engine?: string;
  /** A secret for the first connection only. */
  @IsOptional() @IsString() ticket?: string;
}

/** A kind of backends in memory that can be added. Each one has a running VM. */
export class AddedMemory {
  /** Every backend that was opened, in order. */
  readonly opened: MemoryBackend[] = [];
  /** Their settings. */
  readonly settings: AddedMemorySettings[] = [];
  /** The keys that were in their folders when they were opened. */
  readonly keys: (string | undefined)[] = [];
  /** Opening a backend waits for it. */
  gate: Promise<void> = Promise.resolve();
  /** Changes a backend before it is used. */
  prepare: (backend: MemoryBackend) => void = () => undefined;

  get kind(): BackendKind<object> {
    return {
      traits: MEMORY_TRAITS,
      settings: AddedMemorySettings,
      open: () => Promise.reject(new Error('only added')),
      added: this.added as AddedKind,
    };
  }

  private readonly added: AddedKind<AddedMemorySettings> = {
    settings: AddedMemorySettings,
    usualPaths: [],
    reduce: (context, settings) => {
      if (settings.token === 'run') throw new SettingError(context, 'token must not run a program');
      return settings;
    },
    merge: (context, before, change) => {
      const merged = mergeSettings(before, change);
      const isElsewhere = merged['port'] !== before.port || merged['host'] !== before.host;
      if (change['token'] === undefined && isElsewhere) {
        throw new SettingError(context, 'token must be given again');
      }
      return merged;
    },
    engineOf: ({ engine = 'far' }) => engine,
    withoutUsedSecrets: ({ ticket: _used, ...others }) => others as AddedMemorySettings,
    identityFile: () => 'keys/key',
    targets: ({ port, file, host = '127.0.0.1' }) => [{ host, port }, ...(file === undefined ? [] : [{ path: file }])],
    describe: ({ port }) => ({ port: String(port) }),
    open: async ({ context, settings, dataDir, log }) => {
      log.warn({ context }, 'memory opened');
      await this.gate;
      const backend = new MemoryBackend(context, { nodeCount: 1 });
      const { engine: name = 'far' } = settings;
      backend.engine.put(withStatus(buildVm({ ref: { context, name }, uid: `uid-${name}` }), 'Running'));
      const key = join(dataDir, 'keys/key');
      this.prepare(backend);
      this.opened.push(backend);
      this.settings.push(settings);
      this.keys.push(existsSync(key) ? readFileSync(key, 'utf8') : undefined);
      return { backend };
    },
  };
}
