import { Backend, UnavailableAbility, type Abilities, type AbilityName, type Clock } from '@headgate/domain-contracts';
import { __NAME___TRAITS } from './__name__-traits.js';

export interface __Name__BackendOptions {
  /** The operator's name for it. */
  readonly context: string;
  readonly clock: Clock;
  readonly address?: string;
}

/** An ability that is missing here does not compile. */
type AbilityTable = { readonly [K in AbilityName]: Abilities[K] | UnavailableAbility };

/** One __Name__ engine. */
export class __Name__Backend extends Backend {
  override readonly traits = __NAME___TRAITS;
  /** An engine with containers lists `inventory`, `containers` and what else it can do to them. */
  override readonly containerAbilities: readonly AbilityName[] = [];

  private constructor(
    override readonly context: string,
    private readonly abilities: AbilityTable,
  ) {
    super();
  }

  /** Does no I/O and never fails: the inventory reports an engine that does not answer. */
  static open({ context }: __Name__BackendOptions): __Name__Backend {
    return new __Name__Backend(context, {
      inventory: missing('inventory'),
      power: missing('power'),
      provisioning: missing('provisioning'),
      diskBuilds: missing('diskBuilds'),
      hardware: missing('hardware'),
      diskMove: missing('diskMove'),
      hostResources: missing('hostResources'),
      migration: missing('migration'),
      snapshots: missing('snapshots'),
      cloning: missing('cloning'),
      images: missing('images'),
      containers: missing('containers'),
      containerLogs: missing('containerLogs'),
      containerFiles: missing('containerFiles'),
      containerTransfer: missing('containerTransfer'),
      consoles: missing('consoles'),
      events: missing('events'),
      metrics: missing('metrics'),
      guestInfo: missing('guestInfo'),
      guestControl: missing('guestControl'),
      guestPorts: missing('guestPorts'),
      diskExport: missing('diskExport'),
      diskSource: missing('diskSource'),
      diskIngest: missing('diskIngest'),
      liveDisks: missing('liveDisks'),
      backups: missing('backups'),
      backupSource: missing('backupSource'),
      bootProof: missing('bootProof'),
      diskFiles: missing('diskFiles'),
      diskRestore: missing('diskRestore'),
      instantRestore: missing('instantRestore'),
      cluster: missing('cluster'),
      nodeScheduling: missing('nodeScheduling'),
      diagnostics: missing('diagnostics'),
      twin: missing('twin'),
    });
  }

  override ability<K extends AbilityName>(name: K): Abilities[K] | UnavailableAbility {
    return this.abilities[name];
  }

  override async close(): Promise<void> {
    // Close the connections and watches that the abilities open. Guests keep running.
  }
}

const missing = (name: AbilityName): UnavailableAbility => new UnavailableAbility(`__Name__ has no ${name} yet.`);
