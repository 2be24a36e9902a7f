import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CheckBackends } from '@headgate/doctor';
import {
  DomainError,
  messageOf,
  plainText,
  SettingError,
  type BackendDeps,
  type BackendDirectory,
  type Clock,
  type ContextTarget,
  type DiagnosticCheck,
  type OpenedBackend,
  type PlanStep,
} from '@headgate/domain-contracts';
import type { ContextOpener } from '../composition/context-opener.js';
import type { ContextTargets } from '../composition/context-targets.js';
import type { ParsedContext } from '../fleet/added-contexts.js';
import { closeOpened } from '../fleet/close-opened.js';

/** How long the checks of the opened backend may take. */
const CHECKS_TIMEOUT_MS = 15_000;
/** Tests open connections, and each takes up to 25 seconds. */
const MAX_TESTS = 3;

export type ContextCheck = Pick<DiagnosticCheck, 'name' | 'status' | 'message' | 'remedy'>;

export interface ContextTest {
  readonly ok: boolean;
  readonly checks: readonly ContextCheck[];
}

/** A context that exists already. */
export interface KnownContext {
  readonly name: string;
  readonly kind: string;
  /** Without secrets. */
  readonly settings: Readonly<Record<string, string>>;
}

export interface ContextTestsDeps {
  readonly opener: ContextOpener | undefined;
  readonly targets: ContextTargets;
  readonly clock: Clock;
  readonly known: () => readonly KnownContext[];
}

/** Tries settings of a context. Keeps nothing, and changes nothing on the other side. */
export class ContextTests {
  private running = 0;

  constructor(private readonly deps: ContextTestsDeps) {}

  /** Removes the files of tests that a crash has interrupted. */
  async removeLeftovers(): Promise<void> {
    const { opener } = this.deps;
    if (opener) await rm(opener.testsFolder, { recursive: true, force: true });
  }

  /**
   * @param isChange whether the context exists, and has other settings: the other side knows its key
   * @throws DomainError INVALID_INPUT for a host to which no context may lead; BUSY
   */
  async run(context: ParsedContext, isChange = false): Promise<ContextTest> {
    if (this.running >= MAX_TESTS) {
      throw new DomainError('BUSY', `${MAX_TESTS} contexts are being tested; try again in a moment.`);
    }
    this.running++;
    try {
      const checks = await this.checksOf(context, isChange);
      return { ok: checks.every(({ status }) => status !== 'error'), checks };
    } finally {
      this.running--;
    }
  }

  private async checksOf(context: ParsedContext, isChange: boolean): Promise<ContextCheck[]> {
    const connections: ContextCheck[] = [];
    for (const target of context.kind.targets(context.settings))
      if ('host' in target) connections.push(await this.dial(target));
    // Everything else would only fail for the same reason, much later.
    if (connections.some(({ status }) => status === 'error')) return connections;
    return [...connections, ...(await this.checkEngine(context, isChange)), ...this.checkOthers(context, isChange)];
  }

  /** Two contexts of one engine list its instances twice, and each of them changes them. */
  private checkOthers({ name, word, kind, settings }: ParsedContext, isChange: boolean): ContextCheck[] {
    const shown = sorted(kind.describe(settings));
    const others = this.deps.known().filter((one) => !isChange || one.name !== name);
    const same = others.find((one) => one.kind === word && sorted(one.settings) === shown);
    if (!same) return [];
    const message = `${same.name} has the same settings, so its instances would be listed twice.`;
    return [{ name: 'other contexts', status: 'warning', message, remedy: `Use ${same.name}, or remove it before.` }];
  }

  private async dial(target: Extract<ContextTarget, { host: string }>): Promise<ContextCheck> {
    const { host, port } = target;
    try {
      await this.deps.targets.dial(target);
      return { name: 'address', status: 'ok', message: `${host}:${port} accepts connections.`, remedy: '' };
    } catch (error) {
      if (!DomainError.is(error, 'BACKEND_UNREACHABLE')) throw error;
      const remedy = 'Correct the address, start the server, or let the machine of the service through its firewall.';
      return { name: 'address', status: 'error', message: error.message, remedy };
    }
  }

  private async checkEngine({ name, kind, settings }: ParsedContext, isChange: boolean): Promise<ContextCheck[]> {
    const { opener } = this.deps;
    if (!opener) throw new DomainError('NOT_SUPPORTED', 'This service opens no further contexts.');
    await mkdir(opener.testsFolder, { recursive: true, mode: 0o700 });
    const dataDir = await mkdtemp(join(opener.testsFolder, 'test-'));
    const deps: BackendDeps = { ...opener.depsOf(name, settings), dataDir, mayWrite: () => false };
    let opened: OpenedBackend | undefined;
    try {
      const key = isChange ? kind.identityFile?.(name) : undefined;
      if (key !== undefined) await copyIfThere(join(opener.folderOf(name), key), join(dataDir, key));
      const probed = await kind.probe?.(deps);
      if (probed) return probed.map(plain);
      opened = await kind.open(deps);
      const { backend } = opened;
      const checks = await new CheckBackends(nothing, CHECKS_TIMEOUT_MS).of(backend);
      return checks.map(plain);
    } catch (error) {
      if (error instanceof SettingError) throw new DomainError('INVALID_INPUT', `${error.problem}.`);
      const remedy = 'Correct the settings.';
      return [{ name: 'settings', status: 'error', message: plainText(messageOf(error)), remedy }];
    } finally {
      if (opened) await closeOpened(opened, this.deps.clock);
      await rm(dataDir, { recursive: true, force: true });
    }
  }
}

/** @param action for the way out */
export function testFailed(checks: readonly ContextCheck[], action: 'add' | 'change'): DomainError {
  const failed = checks.find(({ status }) => status === 'error');
  const message = `The test of the context has failed: ${failed?.message ?? 'no check was carried out.'} Correct the settings, or ${action} it with despiteErrors.`;
  return new DomainError('CONFLICT', message, { details: { checks } });
}

/** The test in the plan of a change, without secrets. */
export function testStep({ word, kind, settings }: ParsedContext): PlanStep {
  const shown = Object.entries(kind.describe(settings)).map(([key, value]) => `${key} ${value}`);
  return { name: 'test context', detail: `${word}: ${shown.join(', ')}` };
}

/** The backend under test gets a copy, so that it changes nothing of the one in use. */
async function copyIfThere(from: string, to: string): Promise<void> {
  try {
    await mkdir(dirname(to), { recursive: true });
    await copyFile(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

const sorted = (settings: Readonly<Record<string, string>>): string =>
  JSON.stringify(Object.entries(settings).sort(([one], [other]) => (one < other ? -1 : 1)));

/** The checks are those of one backend that is in no directory. */
const nothing = { all: () => [] } as unknown as BackendDirectory;

const plain = ({ name, status, message, remedy }: DiagnosticCheck): ContextCheck => ({
  name: plainText(name),
  status,
  message: plainText(message),
  remedy: plainText(remedy),
});
