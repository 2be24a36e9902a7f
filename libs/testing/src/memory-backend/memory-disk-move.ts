import {
  buildPlan,
  deviceNotFound,
  DiskMove,
  DomainError,
  isRunningStatus,
  throwFirstRefusal,
  type BackgroundWork,
  type DiskMoveRequest,
  type InstanceRef,
  type Plan,
  type Refusal,
} from '@headgate/domain-contracts';
import type { MemoryEngine } from './memory-engine.js';
import { MEMORY_STORAGES } from './memory-instances.js';
import type { MemoryHardware } from './memory-hardware.js';

const refuse = ({ code, message }: DomainError): Refusal => ({ code, reason: message, remedy: 'Change the request.' });

export class MemoryDiskMove extends DiskMove {
  constructor(
    private readonly engine: MemoryEngine,
    private readonly hardware: MemoryHardware,
  ) {
    super();
  }

  override async plan(ref: InstanceRef, { volume, storage }: DiskMoveRequest): Promise<Plan> {
    const { status } = this.engine.vm(ref);
    const { disks } = await this.hardware.read(ref);
    const refusals: Refusal[] = [];
    if (!isRunningStatus(status)) refusals.push(refuse(new DomainError('WRONG_STATE', `${ref.name} is not running.`)));
    if (!disks.some((disk) => disk.volume === volume))
      refusals.push(refuse(deviceNotFound(ref.name, `disk ${volume}`, disks.map((disk) => disk.device)))); // prettier-ignore
    if (!MEMORY_STORAGES.includes(storage))
      refusals.push(refuse(new DomainError('VOLUME_NOT_FOUND', `There is no storage ${storage}.`)));
    if (storageOf(volume) === storage)
      refusals.push(refuse(new DomainError('WRONG_STATE', `${volume} is in ${storage} already.`)));
    return buildPlan([{ name: 'copy', detail: `${volume} to ${storage}` }], { refusals });
  }

  override async move(ref: InstanceRef, request: DiskMoveRequest): Promise<BackgroundWork> {
    throwFirstRefusal(await this.plan(ref, request));
    return async (report) => {
      report.step('copy');
      report.signal.throwIfAborted();
      report.progress(1);
      this.hardware.renameVolume(ref, request.volume, movedName(request));
    };
  }

  override async resume(ref: InstanceRef, request: DiskMoveRequest): Promise<BackgroundWork> {
    this.engine.vm(ref);
    return async () => {
      const { disks } = await this.hardware.read(ref);
      if (disks.some(({ volume }) => volume === movedName(request))) return;
      throw new DomainError('BACKEND_FAILED', `The move of ${request.volume} was interrupted: it is where it was.`);
    };
  }
}

/** A volume of the first storage is known by its name alone. */
const storageOf = (volume: string): string => (volume.includes('/') ? (volume.split('/')[0] ?? '') : 'storage-1');

const movedName = ({ volume, storage }: DiskMoveRequest): string => `${storage}/${nameOf(volume)}`;

const nameOf = (volume: string): string => volume.split('/').at(-1) ?? '';
