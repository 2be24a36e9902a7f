import {
  ConsoleSource,
  Diagnostics,
  DomainError,
  InstanceMigration,
  isRunningStatus,
  type Abilities,
  type AbilityName,
  type BackendTraits,
  type BackgroundWork,
  type ConsoleStream,
  type DiagnosticCheck,
  type InstanceRef,
  type SerialLine,
  type Shell,
  type UnavailableAbility,
} from '@headgate/domain-contracts';
import { MemoryBackend, withStatus } from '@headgate/testing';
import { DevScreen } from './dev-screen.js';

const MIGRATION_MS = 8000;
const MIGRATION_STEPS = ['Choose a node', 'Copy memory', 'Switch over'];

/** The consoles of the memory backend, with a screen that moves. */
class DevConsoles extends ConsoleSource {
  override readonly vncViewers = 'many';

  constructor(
    private readonly backend: MemoryBackend,
    private readonly plain: ConsoleSource,
  ) {
    super();
  }

  override async openVnc(ref: InstanceRef): Promise<ConsoleStream> {
    if (!isRunningStatus(this.backend.engine.vm(ref).status))
      throw new DomainError('WRONG_STATE', `${ref.name} does not run; start it to open a console.`);
    return new DevScreen();
  }

  override openSerial(ref: InstanceRef): Promise<SerialLine> {
    return this.plain.openSerial(ref);
  }

  override openShell(...args: Parameters<ConsoleSource['openShell']>): Promise<Shell> {
    return this.plain.openShell(...args);
  }
}

/** Migrations that take a few seconds. */
class DevMigration extends InstanceMigration {
  constructor(private readonly backend: MemoryBackend) {
    super();
  }

  override async migrate(ref: InstanceRef, targetNode?: string): Promise<BackgroundWork> {
    const vm = this.backend.engine.vm(ref);
    this.backend.engine.put(withStatus(vm, 'Migrating'));
    return async (report) => {
      for (const [index, step] of MIGRATION_STEPS.entries()) {
        report.step(step);
        report.progress(index / MIGRATION_STEPS.length);
        await new Promise((resolve) => setTimeout(resolve, MIGRATION_MS / MIGRATION_STEPS.length).unref());
      }
      this.backend.engine.put({ ...withStatus(vm, 'Running'), node: targetNode ?? 'node-7' });
    };
  }
}

/** A few checks, one of which can be fixed. */
class DevDiagnostics extends Diagnostics {
  private isFixed = false;

  override async checks(): Promise<readonly DiagnosticCheck[]> {
    return [
      {
        name: 'kvm',
        status: 'warning',
        message: '/dev/kvm exists but a guest does not run on it.',
        fixable: false,
        remedy: 'Enable nested virtualization on the host; until then guests are emulated in software.',
      },
      {
        name: 'namespace',
        status: this.isFixed ? 'ok' : 'error',
        message: this.isFixed ? 'The namespace tailvm exists.' : 'The namespace tailvm does not exist.',
        fixable: !this.isFixed,
        remedy: this.isFixed ? '' : 'Create it.',
      },
      { name: 'storage', status: 'ok', message: 'memory is the default storage class.', fixable: false, remedy: '' },
    ];
  }

  override async fix(): Promise<readonly string[]> {
    if (this.isFixed) return [];
    this.isFixed = true;
    return ['namespace'];
  }
}

/** A memory backend for the development of the console: it shows every part of the page. */
export class DevBackend extends MemoryBackend {
  private readonly overrides: Partial<Abilities>;

  constructor(context: string, traits: BackendTraits, { canMigrate }: { canMigrate: boolean }) {
    super(context, { traits });
    this.overrides = {
      consoles: new DevConsoles(this, super.require('consoles')),
      diagnostics: new DevDiagnostics(),
      ...(canMigrate ? { migration: new DevMigration(this) } : {}),
    };
  }

  override ability<K extends AbilityName>(name: K): Abilities[K] | UnavailableAbility {
    return this.overrides?.[name] ?? super.ability(name);
  }
}
