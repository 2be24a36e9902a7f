import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { SPACE_WATERMARK_BYTES } from '@headgate/downloads';
import {
  buildPlan,
  formatBytes,
  InstanceCloning,
  matchesNameRule,
  throwFirstRefusal,
  type AcceptedClone,
  type BackgroundWork,
  type InstanceRef,
  type OperationKey,
  type OperationState,
  type Plan,
  type Refusal,
} from '@headgate/domain-contracts';
import type { InstanceMetadata, OwnedVolume, VolumeRole } from '../domain-xml/instance-metadata.js';
import type { DiskVolume } from '../domain-xml/snapshot-metadata.js';
import { element, elements, parseXml, text } from '../xml/xml.js';
import type { DomainFinder, DomainId } from '../domains/domain-finder.js';
import { instanceNameOf, LOCAL_NAMESPACE } from '../domains/instance-name.js';
import { isRemote } from '../host/host.js';
import { LIBVIRT_TRAITS } from '../libvirt-traits.js';
import type { EditableDomain } from '../domains/domain-editor.js';
import type { DomainRemover } from '../removal/domain-remover.js';
import { NO_DISC_WRITER, type writeSeedIso } from '../seeds/seed-iso.js';
import type { WorkInProgress } from '../work-in-progress/work-in-progress.js';
import { DiskChanges, withRole, type DiskChangesDeps } from '../snapshots/disk-changes.js';
import { busyRefusal, type DiskHolds } from '../locks/disk-holds.js';
import { findDisks, type FoundDisks } from '../snapshots/snapshot-disks.js';
import type { BaseImages } from '../storage/base-images.js';
import { cloneDomainXml } from './clone-xml.js';
import { readUserData } from './read-seed.js';

export interface LibvirtCloningDeps extends DiskChangesDeps {
  readonly finder: DomainFinder;
  readonly holds: DiskHolds;
  readonly progress: WorkInProgress;
  readonly remover: DomainRemover;
  readonly bases: Pick<BaseImages, 'hold'>;
  readonly writeSeed: typeof writeSeedIso;
  readonly findDiscWriter: () => Promise<string | undefined>;
}

/** An overlay without data has a header, two tables of references and one of its first level, each of 64 KiB. */
const EMPTY_OVERLAY_BYTES = 4 * 64 * 1024;

interface Prepared {
  readonly domain: EditableDomain;
  readonly found: FoundDisks;
  /** The cloud-init disc that the source has not read yet. */
  readonly seed?: OwnedVolume;
  readonly hasDiscWriter: boolean;
  readonly plan: Plan;
}

/** The identity and the volumes of a clone. */
interface Draft {
  readonly name: string;
  readonly uuid: string;
  readonly disks: readonly DiskVolume[];
  readonly seed?: string;
  readonly nvram?: { readonly name: string; readonly source: string };
  readonly serialLog: string;
}

/**
 * Clones as overlays: the present files of the source become layers that both VMs share and nothing writes to. No data
 * is copied.
 */
export class LibvirtCloning extends InstanceCloning {
  private readonly changes: DiskChanges;
  /** The UUIDs of the domains that this service clones at the moment. Another clone of them waits for its turn. */
  private readonly sources = new Map<string, symbol>();

  constructor(private readonly deps: LibvirtCloningDeps) {
    super();
    this.changes = new DiskChanges(deps);
  }

  override async planClone(source: InstanceRef, target: InstanceRef): Promise<Plan> {
    return (await this.prepare(await this.deps.finder.find(source), target)).plan;
  }

  override async clone(source: InstanceRef, target: InstanceRef, key?: OperationKey): Promise<AcceptedClone> {
    const { finder, lock, progress } = this.deps;
    const id = await finder.find(source);
    const uuid = randomUUID();
    await this.hold(id, key, () =>
      lock.run(id.uuid, async () => {
        const prepared = await this.prepare(id, target, true);
        throwFirstRefusal(prepared.plan);
        progress.begin(uuid);
        try {
          await progress.track(uuid, this.copy(prepared, { name: target.name, uuid, key }));
        } finally {
          progress.end(uuid);
        }
      }),
    );
    return {};
  }

  override async stateOf(_source: InstanceRef, target: InstanceRef, key: OperationKey): Promise<OperationState> {
    const metadata = (await this.cloneOf(target, key))?.description.metadata;
    if (!metadata) return { state: 'absent' };
    // A creation that was interrupted is marked as failed when the domain is found.
    return { state: metadata.provisioning === undefined && metadata.failure === undefined ? 'done' : 'running' };
  }

  /** An incomplete clone has no content of its own: it is removed and created again. */
  override async resume(source: InstanceRef, target: InstanceRef, key: OperationKey): Promise<BackgroundWork> {
    return async (report) => {
      report.log(`The incomplete VM ${target.name} is removed and created again.`);
      await this.discard(source, target, key);
      await this.clone(source, target, key);
    };
  }

  override async discard(_source: InstanceRef, target: InstanceRef, key: OperationKey): Promise<void> {
    const found = await this.cloneOf(target, key);
    if (!found) return;
    const { uuid, metadata } = found.description;
    if (metadata.provisioning === undefined && metadata.failure === undefined) return;
    await this.deps.lock.run(uuid, () => this.deps.remover.remove(uuid));
  }

  /** The VM of an operation; one of this name that others have created is not. */
  private async cloneOf(target: InstanceRef, { id }: OperationKey): Promise<EditableDomain | undefined> {
    const { finder, editor } = this.deps;
    const found = (await finder.all()).find((one) => instanceNameOf(one.name, one.uuid) === target.name);
    const domain = found && (await editor.read(found.uuid));
    return domain?.description.metadata.lastOperation === id ? domain : undefined;
  }

  /**
   * Waits for other clones of the source. An interrupted one is undone first, if an earlier process has begun this one.
   */
  private async hold<T>(id: DomainId, key: OperationKey | undefined, work: () => Promise<T>): Promise<T> {
    const { holds } = this.deps;
    while ((key || this.sources.has(id.uuid)) && holds.has(id.uuid)) await holds.whenFree(id.uuid);
    const mark = Symbol();
    try {
      return await holds.run(id, () => {
        this.sources.set(id.uuid, mark);
        return work();
      });
    } finally {
      // The next clone may have begun.
      if (this.sources.get(id.uuid) === mark) this.sources.delete(id.uuid);
    }
  }

  override async planTemplate(ref: InstanceRef, on: boolean): Promise<Plan> {
    const { uuid, name } = await this.deps.finder.find(ref);
    const { description, isActive } = await this.deps.editor.read(uuid);
    const { isTemplate, provisioning } = description.metadata;
    const refusals: Refusal[] = [];
    if (on && isActive)
      refusals.push({
        code: 'WRONG_STATE',
        reason: `${name} runs.`,
        remedy: 'Stop it, then mark it as a template.',
      });
    if (on && provisioning !== undefined)
      refusals.push({ code: 'BUSY', reason: `${name} is still being created.`, remedy: 'Wait until it is ready.' });
    const steps = [
      { name: on ? 'mark' : 'unmark', detail: `${on ? 'Mark' : 'Stop marking'} ${name} as a template.` },
      ...(on ? [{ name: 'autostart', detail: `Do not start ${name} with its host.` }] : []),
    ];
    return buildPlan(isTemplate === on ? [] : steps, { refusals });
  }

  override async setTemplate(ref: InstanceRef, on: boolean): Promise<void> {
    const { finder, lock, editor, connection } = this.deps;
    const { uuid } = await finder.find(ref);
    await lock.run(uuid, async () => {
      const plan = await this.planTemplate(ref, on);
      throwFirstRefusal(plan);
      if (plan.steps.length === 0) return;
      if (on) await connection.domains.setAutostart(uuid, false);
      await editor.updateMetadata(uuid, (metadata) => ({ ...metadata, isTemplate: on }));
    });
  }

  private async prepare(id: DomainId, target: InstanceRef, isHolder = false): Promise<Prepared> {
    const { editor, pool, finder, holds, connection, findDiscWriter } = this.deps;
    const [domain, domains, space] = await Promise.all([editor.read(id.uuid), finder.all(), pool.space()]);
    const folder = await pool.path().catch(() => '');
    const found = findDisks(domain, folder);
    const { metadata, document } = domain.description;
    const refusals: Refusal[] = [];
    const refuse = (code: Refusal['code'], reason: string, remedy: string): void =>
      void refusals.push({ code, reason, remedy });
    if (domains.some((one) => one.name === target.name || instanceNameOf(one.name, one.uuid) === target.name))
      refuse('ALREADY_EXISTS', `A VM named ${target.name} already exists.`, 'Choose another name.');
    const { instanceNames } = LIBVIRT_TRAITS;
    if (!matchesNameRule(instanceNames, target.name))
      refuse('INVALID_NAME', `The name must ${instanceNames.description}.`, 'Choose another name.');
    if (target.namespace !== LOCAL_NAMESPACE)
      refuse('INVALID_INPUT', `The only namespace is ${LOCAL_NAMESPACE}.`, `Use ${LOCAL_NAMESPACE}.`);
    if (metadata.provisioning !== undefined)
      refuse('BUSY', `${id.name} is still being created.`, 'Wait until its disk is ready.');
    if (domain.isActive) refuse('WRONG_STATE', `${id.name} runs.`, 'Stop it first.');
    const waits = !isHolder && this.sources.has(id.uuid);
    if (!waits && (metadata.pending !== undefined || (holds.has(id.uuid) && !isHolder)))
      refusals.push(busyRefusal(id.name));
    const seed = metadata.volumes.find(({ role }) => role === 'seed');
    const hasDiscWriter = (await findDiscWriter()) !== undefined;
    if (seed && isRemote(connection.uri))
      refuse(
        'NOT_SUPPORTED',
        `${id.name} has a cloud-init disc on another machine, which can't be read from here.`,
        'Start it once, so that it reads the disc, and stop it again.',
      );
    if (seed && !hasDiscWriter) refuse('NOT_SUPPORTED', NO_DISC_WRITER, 'Install xorriso.');
    if (space?.isActive && space.availableBytes < SPACE_WATERMARK_BYTES)
      refuse(
        'INSUFFICIENT_STORAGE',
        `The storage pool ${pool.name} has only ${formatBytes(space.availableBytes)} free.`,
        'Free some space on this machine.',
      );
    const hasHostDevices = elements(element(document, 'devices'), 'hostdev').length > 0;
    const warnings = [
      ...(found.hasTpm ? ['The clone gets an empty TPM: what the TPM of the source protects is not readable.'] : []),
      ...(hasHostDevices ? [`The devices of this host that ${id.name} has are not passed through to the clone.`] : []),
    ];
    const steps = [
      { name: 'define', detail: `Define the VM ${target.name} in libvirt, with new MAC addresses and a new UUID.` },
      ...found.disks.map((disk) => ({
        name: 'overlay',
        detail: `Share the content of the disk ${disk.target}, with an overlay for each of the two VMs.`,
      })),
      ...(found.nvram === undefined ? [] : [{ name: 'nvram', detail: 'Copy the variables of the firmware.' }]),
      ...(hasDiscWriter
        ? [{ name: 'seed', detail: 'Write a cloud-init disc with a new instance ID and the new host name.' }]
        : []),
    ];
    return {
      domain,
      found,
      ...(seed && { seed }),
      hasDiscWriter,
      plan: buildPlan(steps, { warnings, refusals: [...refusals, ...found.refusals] }),
    };
  }

  private async copy(
    prepared: Prepared,
    { name, uuid, key }: { readonly name: string; readonly uuid: string; readonly key: OperationKey | undefined },
  ): Promise<void> {
    const { editor, log, remover, lock } = this.deps;
    const { domain } = prepared;
    const draft = await this.draft(prepared, name, uuid);
    await this.define(prepared, draft, key);
    try {
      await this.fill(prepared, draft);
      await editor.updateMetadata(uuid, ({ provisioning: _done, ...metadata }) => metadata);
    } catch (error) {
      await lock.run(uuid, () => remover.remove(uuid));
      throw error;
    }
    log.info({ domain: name, source: domain.description.name }, 'cloned a VM');
  }

  private async draft({ found, hasDiscWriter }: Prepared, name: string, uuid: string): Promise<Draft> {
    const base = `${name}-${uuid.slice(0, 8)}`;
    const present = found.nvram === undefined ? [] : await this.deps.pool.volumes();
    const source = found.nvram !== undefined && present.includes(found.nvram) ? found.nvram : undefined;
    return {
      name,
      uuid,
      disks: found.disks.map(({ target }, i) => ({
        target,
        name: i === 0 ? `${base}.qcow2` : `${base}-${target}.qcow2`,
      })),
      ...(hasDiscWriter && { seed: `${base}-seed.iso` }),
      ...(source !== undefined && { nvram: { name: `${base}-nvram.fd`, source } }),
      serialLog: `${base}-serial.log`,
    };
  }

  /**
   * Defines the clone first, which reserves its name, and lists its volumes. A service removes the disks of a marked
   * domain after an interruption.
   */
  private async define(
    { domain, found }: Prepared,
    { name, uuid, disks, seed, nvram, serialLog }: Draft,
    key: OperationKey | undefined,
  ): Promise<void> {
    const { connection, pool, progress, clock } = this.deps;
    const { description } = domain;
    const folder = await pool.path();
    const own = (volume: string, role: VolumeRole): OwnedVolume => ({ pool: pool.name, name: volume, role });
    const hasNvram = found.nvram !== undefined;
    const metadata: InstanceMetadata = {
      owner: uuid,
      createdAt: clock.iso(),
      ...(description.metadata.os !== undefined && { os: description.metadata.os }),
      tags: [],
      isTemplate: false,
      isProtected: false,
      provisioning: progress.mark(),
      ...(key && { lastOperation: key.id }),
      volumes: [
        ...disks.map((disk) => own(disk.name, 'disk')),
        ...(seed === undefined ? [] : [own(seed, 'seed')]),
        ...(hasNvram ? [own(nvram?.name ?? `${name}-${uuid.slice(0, 8)}-nvram.fd`, 'nvram')] : []),
        own(serialLog, 'serial-log'),
      ],
      snapshots: [],
    };
    const owned = new Set(description.metadata.volumes.map((volume) => volume.name));
    const others = description.disks.filter(({ target }) => found.others.includes(target));
    const nameOf = (path: string | undefined): string => basename(path ?? '');
    const isDrive = (device: string): boolean => device === 'cdrom' || device === 'floppy';
    // The discs of the source are deleted with it.
    const dropped = others.filter(({ device, path }) => !isDrive(device) && owned.has(nameOf(path)));
    const ejected = others.filter(({ device, path }) => isDrive(device) && owned.has(nameOf(path)));
    const xml = cloneDomainXml(await connection.domains.xml(description.uuid, { withSecrets: true }), description, {
      name,
      uuid,
      metadata,
      disks: new Map(disks.map((disk) => [disk.target, `${folder}/${disk.name}`])),
      dropped: new Set(dropped.map(({ target }) => target)),
      ejected: new Set(ejected.map(({ target }) => target)),
      ...(hasNvram && { nvram: `${folder}/${nvram?.name ?? `${name}-${uuid.slice(0, 8)}-nvram.fd`}` }),
      serialLog: `${folder}/${serialLog}`,
      ...(seed !== undefined && { seed: `${folder}/${seed}` }),
    });
    await connection.domains.define(xml);
  }

  private async fill({ domain, found, seed }: Prepared, draft: Draft): Promise<void> {
    const { pool, progress, writeSeed, bases } = this.deps;
    const bottoms = await this.share(domain, found);
    for (const { target, name } of draft.disks) {
      const base = bottoms.get(target) ?? '';
      await bases.hold(basename(base), async () => {
        const { bytes } = await pool.describe(found.disks.find((disk) => disk.target === target)?.name ?? '');
        await pool.createOverlay(name, bytes, { path: base, format: 'qcow2' });
      });
    }
    if (draft.nvram) await pool.copy(draft.nvram.name, draft.nvram.source);
    if (draft.seed === undefined) return;
    const folder = await progress.createFolder();
    try {
      const userData = seed && (await readUserData(`${await pool.path()}/${seed.name}`));
      const { uuid, name: hostname } = draft;
      const file = await writeSeed({ uuid, hostname, ...(userData !== undefined && { userData }) }, folder);
      await pool.createFrom(draft.seed, file);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  /**
   * The files on which the disks of the clone are based, by target. A disk to which nothing was written since the last
   * clone has the same base; otherwise its file becomes a layer, and the source gets an overlay of it.
   */
  private async share(domain: EditableDomain, { disks }: FoundDisks): Promise<Map<string, string>> {
    const { connection, pool } = this.deps;
    const { uuid, name } = domain.description;
    const folder = await pool.path();
    const bases = new Map<string, string>();
    const frozen: DiskVolume[] = [];
    for (const disk of disks) {
      const volume = element(
        parseXml(await connection.storage.volumeXml({ pool: pool.name, name: disk.name })),
        'volume',
      );
      const below = text(element(volume, 'backingStore'), 'path');
      const physical = Number(text(volume, 'physical') ?? Infinity);
      const isEmpty = below !== undefined && physical <= EMPTY_OVERLAY_BYTES;
      bases.set(disk.target, isEmpty ? below : `${folder}/${disk.name}`);
      if (!isEmpty) frozen.push(disk);
    }
    if (frozen.length === 0) return bases;
    const overlays = frozen.map((disk) => ({
      target: disk.target,
      base: disk.name,
      replaced: disk.name,
      name: this.changes.freshName(name, uuid, '.qcow2'),
    }));
    await this.changes.begin(
      uuid,
      { kind: 'clone', snapshot: '', wasRunning: false, disks: overlays },
      overlays.map((overlay) => ({ name: overlay.name, role: 'disk' })),
    );
    try {
      await this.changes.createOverlays(overlays);
      await this.changes.redefine(uuid, {
        disks: overlays,
        metadata: ({ pending: _done, ...metadata }) => ({
          ...metadata,
          volumes: withRole(metadata.volumes, new Set(frozen.map((disk) => disk.name)), 'layer'),
        }),
      });
    } catch (error) {
      await this.changes.undo(
        uuid,
        overlays.map((overlay) => overlay.name),
      );
      throw error;
    }
    return bases;
  }
}
