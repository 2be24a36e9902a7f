import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { TaskView, VmView } from '@headgate/api-contracts';
import {
  driverOf,
  PRECONDITIONS,
  type HeldCalls,
  type MeetingOperation,
  type MeetingVm,
  type OperationRequest,
} from '@headgate/testing';
import { Api, type Answer } from './api.js';
import { createImage, createRequest } from './blank-vm.js';
import { FAST_POOL, GatedMachine } from './gated-machine.js';
import { requestOn, type HeldOperation } from './likely-pairs.js';
import { RunningService } from './running-service.js';
import { until } from './until.js';

export type Reply = Answer<Record<string, unknown>>;

/** The built service over two libvirts, `here` and `there`. */
export class LibvirtLab {
  private readonly run = randomBytes(2).toString('hex');
  private readonly held: HeldCalls[] = [];
  private names = 0;

  private constructor(
    private readonly folder: string,
    readonly here: GatedMachine,
    readonly there: GatedMachine,
    private readonly service: RunningService,
    readonly api: Api,
  ) {}

  static async start(): Promise<LibvirtLab> {
    const folder = await mkdtemp(join(tmpdir(), 'hgb-'));
    const [here, there] = [await GatedMachine.open('here'), await GatedMachine.open('there')];
    const config = join(folder, 'headgate.yaml');
    const contexts = [here, there].map(({ libvirt, gate }) => ({ name: libvirt.name, kind: 'libvirt', uri: gate.uri }));
    // JSON is YAML, too.
    await writeFile(config, JSON.stringify({ contexts }));
    const image = await createImage(folder);
    const service = await RunningService.start(['--config', config, '--accelerator', 'tcg', '--tiny-guest', image]);
    return new LibvirtLab(folder, here, there, service, new Api(service.url));
  }

  async close(): Promise<void> {
    await this.service.stop();
    await this.here.close();
    await this.there.close();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** A name that no other name contains. */
  freshName(): string {
    return `m${this.run}-${(++this.names).toString().padStart(3, '0')}x`;
  }

  send({ method, path, body }: OperationRequest): Promise<Reply> {
    return this.api.send(method, path, body);
  }

  /** Requests an operation, and reads all of a disk that is exported. */
  async request(operation: MeetingOperation, vm: MeetingVm): Promise<Reply> {
    const { method, path, body } = requestOn(vm, operation);
    if (operation !== 'export') return this.api.send(method, path, body);
    const answer = await fetch(`${this.api.url}${path}`);
    const content = Buffer.from(await answer.arrayBuffer());
    return { status: answer.status, body: answer.ok ? {} : (JSON.parse(String(content)) as Reply['body']) };
  }

  /** Begins an operation, and holds it at its moment until `end()`. @throws Error if it is refused */
  async begin(vm: MeetingVm, { operation, call, skip, machine }: HeldOperation): Promise<BegunOperation> {
    const held = this[machine ?? 'here'].gate.hold(call, skip);
    this.held.push(held);
    const answered = this.request(operation, vm);
    const refused = answered.then(async (reply) => {
      if (reply.status < 300) return held.reached;
      throw new Error(`${operation} was refused: ${JSON.stringify(reply)}`);
    });
    await Promise.race([held.reached, refused]);
    refused.catch(() => undefined);
    return { answered, end: () => held.release() };
  }

  /** Lets operations go on that a failed test holds. */
  releaseAll(): void {
    for (const { release } of this.held.splice(0)) release();
  }

  /** A VM whose disk has content, but no system that boots, with the preconditions of the operations. */
  async givenVm({
    status = 'Stopped',
    name = this.freshName(),
    context = 'here',
    operations = [],
  }: GivenVm = {}): Promise<MeetingVm> {
    expect(await this.send(createRequest(name, context))).toMatchObject({ status: 201 });
    await this.untilIdle(name);
    const bootVolume = basename(await (context === 'here' ? this.here : this.there).bootFile(name));
    const vm: MeetingVm = {
      context,
      namespace: 'local',
      name,
      bootDevice: 'vda',
      bootVolume,
      disk: 'data',
      network: 'lan',
      storage: FAST_POOL,
      moveTo: { kind: 'libvirt', context: 'there' },
    };
    const hasSnapshot = operations.some((operation) => driverOf(operation).given === 'snapshot');
    if (hasSnapshot) expect(await this.send(PRECONDITIONS.snapshot(vm))).toMatchObject({ status: 200 });
    if (status === 'Running') {
      expect(await this.send({ method: 'POST', path: `/api/vms/local/${name}/start` })).toMatchObject({ status: 200 });
      await this.api.untilVm(name, 'runs', (one) => one?.status === 'Running');
    }
    return hasSnapshot ? { ...vm, bootVolume: basename(await this.here.bootFile(name)) } : vm;
  }

  async entries(prefix: string): Promise<VmView[]> {
    const { body } = await this.api.send<VmView[]>('GET', '/api/vms');
    return body.filter(({ name }) => name.startsWith(prefix));
  }

  /** The tasks about the names. */
  async tasks(prefix: string): Promise<TaskView[]> {
    const { body } = await this.api.send<TaskView[]>('GET', '/api/tasks');
    return body.filter(({ ref }) => ref.includes(`/${prefix}`));
  }

  /** Waits until every task about the names has ended, and the list agrees with libvirt. */
  async untilIdle(prefix: string): Promise<void> {
    await until(
      `${prefix} is at rest`,
      async () => [
        ...(await this.tasks(prefix)).filter(({ status }) => status === 'running').map(({ id }) => `${id} runs`),
        ...(await this.differences(prefix)),
      ],
      (unrest) => unrest.length === 0,
    );
  }

  /** How the list differs from libvirt. */
  private async differences(prefix: string): Promise<string[]> {
    const listed = (await this.entries(prefix)).map(
      ({ context, name, status, mem, busy }) => `${context} ${name} ${status} ${mem}${busy ? ` ${busy.task}` : ''}`,
    );
    const [here, there] = await Promise.all([this.here.domains(prefix), this.there.domains(prefix)]);
    const real = [...here.map((one) => `here ${one}`), ...there.map((one) => `there ${one}`)];
    return [
      ...listed.filter((one) => !real.includes(one)).map((one) => `listed: ${one}`),
      ...real.filter((one) => !listed.includes(one)).map((one) => `in libvirt: ${one}`),
    ];
  }

  /** Deletes all VMs of the names. @returns the domains and files of them that are left */
  async remove(prefix: string): Promise<string[]> {
    for (const { context, name } of await this.entries(prefix)) {
      const path = `/api/vms/local/${name}?context=${context}`;
      expect([name, await this.send({ method: 'DELETE', path })]).toMatchObject([name, { status: 200 }]);
    }
    // The service answers after three seconds even if libvirt has not reported the deletion yet.
    await until(
      `${prefix} is no longer listed`,
      () => this.entries(prefix),
      (entries) => entries.length === 0,
    );
    return (await this.contents()).filter((one) => one.includes(prefix));
  }

  /** All domains and files of both machines. */
  async contents(): Promise<string[]> {
    const [here, there] = await Promise.all([this.here.contents(), this.there.contents()]);
    return [...here.map((one) => `here ${one}`), ...there.map((one) => `there ${one}`)];
  }
}

interface GivenVm {
  readonly status?: 'Running' | 'Stopped' | undefined;
  readonly name?: string;
  readonly context?: 'here' | 'there';
  readonly operations?: readonly MeetingOperation[];
}

export interface BegunOperation {
  readonly answered: Promise<Reply>;
  end(): void;
}
