import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  BootProof,
  DomainError,
  isProofId,
  messageOf,
  RunningProofs,
  throwFirstRefusal,
  type BootOutcome,
  type BootRequest,
  type BootSign,
  type BootSpec,
  type Clock,
  type Log,
  type Plan,
} from '@headgate/domain-contracts';
import { connectSocket } from '../consoles/connect-socket.js';
import { buildDomainXml } from '../domain-xml/build-domain-xml.js';
import { variablesTemplate } from '../host/firmware-descriptions.js';
import { variablesMismatch } from '../moves/firmware-variables.js';
import { NbdExportServer } from '../nbd/nbd-export-server.js';
import { MAX_SCREEN_BYTES, toPng } from './picture.js';
import { PROOF_SOCKETS, proofNames } from '../domains/proof-names.js';
import { ProofMarks } from './proof-marks.js';
import { planProof, type PlannedProof, type ProofPlanDeps } from './proof-plan.js';
import { waitForBoot } from './wait-for-boot.js';

export interface LibvirtBootProofDeps extends ProofPlanDeps {
  /** The private folder of this context. */
  readonly folder: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly createTemporaryFolder: () => Promise<string>;
}

/** Boots disks that this process serves over NBD, as transient domains with overlays in the storage pool. */
export class LibvirtBootProof extends BootProof {
  private readonly running = new RunningProofs();
  private readonly marks: ProofMarks;

  constructor(private readonly deps: LibvirtBootProofDeps) {
    super();
    this.marks = new ProofMarks(deps.folder);
  }

  override async plan(request: BootRequest): Promise<Plan> {
    return (await this.planned(request)).plan;
  }

  override async boot(spec: BootSpec, signal: AbortSignal): Promise<BootOutcome> {
    return this.running.run(spec, signal, (either) => this.planAndBoot(spec, either));
  }

  override async discard(id: string): Promise<void> {
    if (!isProofId(id)) return;
    await this.running.whenEnded(id);
    const diskCount = (await this.marks.all()).get(id);
    if (diskCount !== undefined) await this.remove(id, diskCount);
  }

  /** Removes what earlier processes of this service have left. */
  async sweep(): Promise<void> {
    for (const [id, diskCount] of await this.marks.all()) {
      if (this.running.has(id)) continue;
      await this.remove(id, diskCount).catch((error: unknown) =>
        this.deps.log.warn({ proof: id, reason: messageOf(error) }, 'the rest of a proof could not be removed'),
      );
    }
  }

  /** Ends all proofs, and waits until nothing is left of them. */
  close(): Promise<void> {
    return this.running.close();
  }

  private planned(request: BootRequest): Promise<PlannedProof> {
    return planProof(request, this.deps, this.running);
  }

  private async planAndBoot(spec: BootSpec, signal: AbortSignal): Promise<BootOutcome> {
    const planned = await this.planned(spec);
    throwFirstRefusal(planned.plan);
    signal.throwIfAborted();
    return this.bootAndRemove(spec, planned, signal);
  }

  private async bootAndRemove(spec: BootSpec, planned: PlannedProof, signal: AbortSignal): Promise<BootOutcome> {
    const { pool } = this.deps;
    await pool.ensure();
    await this.marks.add(spec.id, spec.disks.length);
    const names = proofNames(spec.id);
    const folder = `${await pool.path()}/${names.folder}`;
    const damaged = new AbortController();
    const server = new NbdExportServer({
      path: join(folder, PROOF_SOCKETS.disks),
      exports: new Map(spec.disks.map((disk, index) => [`disk${index}`, disk])),
      onFailure: (name, error) => {
        const disk = spec.disks[Number(name.slice(4))]?.name ?? name;
        const reason = `The disk ${disk} of the backup can't be read: ${messageOf(error)}`;
        damaged.abort(new DomainError('BACKEND_FAILED', reason, { cause: error }));
      },
    });
    try {
      await pool.createPrivateFolder(names.folder, planned.owner);
      await server.listen();
      for (const [index, { sizeBytes }] of spec.disks.entries()) {
        signal.throwIfAborted();
        await pool.createBlank(names.overlay(index), sizeBytes);
      }
      await this.placeVariables(spec, planned);
      signal.throwIfAborted();
      await this.deps.connection.domains.createPaused(await this.xmlOf(spec, planned, folder));
      const outcome = await this.observe(spec, folder, AbortSignal.any([signal, damaged.signal]), signal);
      const { reason } = damaged.signal as { readonly reason?: DomainError };
      return {
        ...outcome,
        readBytes: server.readBytes,
        ...(reason && outcome.problem === undefined && { problem: reason.message }),
      };
    } finally {
      // The guest first: QEMU would wait for its disks otherwise.
      await this.destroy(spec.id).catch(() => undefined);
      await server.close();
      await this.remove(spec.id, spec.disks.length).catch((error: unknown) =>
        // The mark stays, so that the next start of the service tries again.
        this.deps.log.warn({ proof: spec.id, reason: messageOf(error) }, 'a proof could not be removed completely'),
      );
    }
  }

  /** @param canceled aborted when the caller no longer wants the proof */
  private async observe(
    spec: BootSpec,
    folder: string,
    signal: AbortSignal,
    canceled: AbortSignal,
  ): Promise<Omit<BootOutcome, 'readBytes'>> {
    const { connection, clock } = this.deps;
    // Before the guest prints anything.
    const serial = await connectSocket({ path: join(folder, PROOF_SOCKETS.serial) });
    serial.on('error', () => undefined);
    const started = clock.now();
    let sign: BootSign | undefined;
    let problem: string | undefined;
    try {
      await connection.domains.resume(spec.id);
      const { command, timeLimitMs, id: uuid } = spec;
      sign = await waitForBoot({
        uuid,
        guests: connection.guests,
        clock,
        serial,
        timeLimitMs,
        signal,
        ...(command && { command }),
      });
      if (sign.kind === 'command' && sign.exitCode !== 0)
        problem = `The command has exited with ${sign.exitCode} in the guest.`;
    } catch (error) {
      canceled.throwIfAborted();
      problem = messageOf(error);
    }
    const bootMs = clock.now() - started;
    const picture = await this.takePicture(spec.id).catch(() => undefined);
    serial.destroy();
    canceled.throwIfAborted();
    return { bootMs, ...(sign && { sign }), ...(problem !== undefined && { problem }), ...(picture && { picture }) };
  }

  private async takePicture(id: string): Promise<Buffer> {
    const folder = await this.deps.createTemporaryFolder();
    try {
      const file = join(folder, 'screen');
      await this.deps.connection.domains.screenshot(id, file, MAX_SCREEN_BYTES);
      return toPng(await readFile(file));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  /** Those of another build of the firmware would keep it from starting. */
  private async placeVariables({ id, vm, firmwareVariables }: BootSpec, { host }: PlannedProof): Promise<void> {
    if (vm.firmware === 'bios' || !firmwareVariables) return;
    const template = await variablesTemplate({ arch: host.arch, isSecure: vm.firmware === 'uefi-secure' });
    if ((await variablesMismatch(firmwareVariables.length, template)) !== undefined) return;
    const folder = await this.deps.createTemporaryFolder();
    try {
      const file = join(folder, 'variables');
      await writeFile(file, firmwareVariables, { mode: 0o600 });
      await this.deps.pool.createFrom(proofNames(id).variables, file);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  private async xmlOf({ id, vm, disks }: BootSpec, { host, platform }: PlannedProof, folder: string): Promise<string> {
    const names = proofNames(id);
    const pool = await this.deps.pool.path();
    const [disk, ...dataDisks] = disks.map(({ name }, index) => ({
      path: `${pool}/${names.overlay(index)}`,
      format: 'qcow2',
      bus: vm.disks.find((one) => one.name === name)?.bus,
      backing: { socket: join(folder, PROOF_SOCKETS.disks), exportName: `disk${index}` },
    }));
    if (!disk) throw new DomainError('NOT_SUPPORTED', 'The VM has no disk.');
    return buildDomainXml({
      name: names.domain,
      uuid: id,
      cpu: vm.cpu,
      maxCpu: vm.cpu,
      memoryBytes: vm.memoryBytes,
      arch: host.arch,
      accelerator: host.accelerator,
      features: host.features,
      guest: platform.guest,
      firmware: platform.firmware,
      tpm: platform.tpm,
      disk,
      dataDisks,
      diskIo: { cache: 'unsafe' },
      ...(platform.firmware !== 'bios' && { nvram: `${pool}/${names.variables}` }),
      nics: [],
      serial: { socket: join(folder, PROOF_SOCKETS.serial) },
      vnc: 'socket',
      metadata: {
        owner: id,
        createdAt: this.deps.clock.iso(),
        tags: [],
        isTemplate: false,
        isProtected: false,
        volumes: [],
        snapshots: [],
      },
    });
  }

  /** Only the domain of this proof, never another one of its name or UUID. */
  private async destroy(id: string): Promise<void> {
    const { domains } = this.deps.connection;
    const found = await domains.lookUp(proofNames(id).domain);
    if (found?.uuid !== id) return;
    try {
      await domains.destroy(id);
    } catch (error) {
      if (!DomainError.is(error, 'INSTANCE_NOT_FOUND', 'WRONG_STATE')) throw error;
    }
  }

  private async remove(id: string, diskCount: number): Promise<void> {
    const { pool } = this.deps;
    const names = proofNames(id);
    await this.destroy(id);
    if ((await pool.state())?.isActive) {
      for (let index = 0; index < diskCount; index++) await pool.remove(names.overlay(index));
      await pool.remove(names.variables);
      const folder = `${await pool.path()}/${names.folder}`;
      for (const socket of Object.values(PROOF_SOCKETS)) await rm(join(folder, socket), { force: true });
      await pool.remove(names.folder);
    }
    await this.marks.remove(id);
  }
}
