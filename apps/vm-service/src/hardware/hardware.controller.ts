import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { vm } from '@headgate/access';
import {
  AcceptedView,
  AddNicDto,
  AttachedVolumeView,
  AttachVolumeDto,
  AutostartDto,
  BootOrderDto,
  ChangeMediumDto,
  ChangeNicDto,
  ChangeQuery,
  ContextQuery,
  DetachVolumeQuery,
  DrivePath,
  EmptyBody,
  ExpandVolumeDto,
  HardwareStatusView,
  HardwareView,
  InstancePath,
  MoveDiskDto,
  NicPath,
  ScaleDto,
  ScaleQuery,
  VolumePath,
  type PlanView,
} from '@headgate/api-contracts';
import { parseDiskSize, parseMemory } from '@headgate/domain-contracts';
import { attachChange, ChangeHardware, MoveDisk, nicChange, ReadHardware, scaleChange } from '@headgate/instances';
import { instanceQuery } from '../instances/instance-request.js';
import { Needs } from '../platform/needs.decorator.js';
import { answer, Describe } from '../platform/answers.decorator.js';
import { Changing, ChangeRequest } from '../platform/change-request.js';
import { presentAttached, presentHardware, presentStatus } from './present-hardware.js';

/** The virtual hardware of VMs: the routes of the API contract. */
@Controller('api/vms/:ns/:name')
export class HardwareController {
  constructor(private readonly changeHardware: ChangeHardware) {}

  @Needs(vm('change'))
  @Post('scale')
  @Describe('Changes the CPUs and the memory of a VM.', answer(200, HardwareStatusView))
  @HttpCode(200)
  scale(
    @Param() path: InstancePath,
    @Body() { cpu, mem }: ScaleDto,
    @Query() query: ScaleQuery,
    @Changing() request: ChangeRequest,
  ): Promise<HardwareStatusView | PlanView> {
    const memoryBytes = mem === undefined ? undefined : parseMemory(mem);
    const change = scaleChange(cpu, memoryBytes, query.restart !== 'false');
    return request.answer(query, this.changeHardware, [instanceQuery('vm', path, query), change], presentStatus('ok'));
  }

  @Needs(vm('change', { also: { action: 'change', field: 'pvc' } }))
  @Post('volumes')
  @Describe('Adds a new disk, or attaches a volume that exists.', answer(200, AttachedVolumeView))
  @HttpCode(200)
  attach(
    @Param() path: InstancePath,
    @Body() { size, pvc }: AttachVolumeDto,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<AttachedVolumeView | PlanView> {
    const change = attachChange(size === undefined ? undefined : parseDiskSize(size, 'size'), pvc);
    return request.answer(query, this.changeHardware, [instanceQuery('vm', path, query), change], presentAttached);
  }

  @Needs(vm('change'))
  @Delete('volumes/:vol')
  @Describe('Detaches a disk; with delete=true also deletes its volume.', answer(200, HardwareStatusView))
  detach(
    @Param() path: VolumePath,
    @Body() _body: EmptyBody,
    @Query() query: DetachVolumeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<HardwareStatusView | PlanView> {
    const change = { kind: 'detach-volume', volume: path.vol, deleteVolume: query.delete === 'true' } as const;
    return request.answer(
      query,
      this.changeHardware,
      [instanceQuery('vm', path, query), change],
      presentStatus('removed'),
    );
  }

  @Needs(vm('change'))
  @Post('expand')
  @Describe('Makes a disk larger.', answer(200, HardwareStatusView))
  @HttpCode(200)
  expand(
    @Param() path: InstancePath,
    @Body() { pvc, size }: ExpandVolumeDto,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<HardwareStatusView | PlanView> {
    const change = { kind: 'expand-volume', volume: pvc, sizeBytes: parseDiskSize(size, 'size') } as const;
    return request.answer(query, this.changeHardware, [instanceQuery('vm', path, query), change], presentStatus('ok'));
  }

  @Needs(vm('change'))
  @Post('nics')
  @Describe('Adds a NIC.', answer(200, HardwareStatusView))
  @HttpCode(200)
  addNic(
    @Param() path: InstancePath,
    @Body() { nad, iface, mac }: AddNicDto,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<HardwareStatusView | PlanView> {
    const change = { kind: 'add-nic', nic: iface, network: nad, mac } as const;
    return request.answer(query, this.changeHardware, [instanceQuery('vm', path, query), change], presentStatus('ok'));
  }
}

/** The virtual hardware of VMs: the routes that the API contract does not have. */
@Controller('api/ext/vms/:ns/:name')
export class HardwareExtensionsController {
  constructor(
    private readonly changeHardware: ChangeHardware,
    private readonly readHardware: ReadHardware,
    private readonly moveDisk: MoveDisk,
  ) {}

  @Needs(vm('read'))
  @Get('hardware')
  @Describe('CPUs, memory, disks, NICs, boot order, and what waits for the next start.', answer(200, HardwareView))
  async read(@Param() path: InstancePath, @Query() query: ContextQuery): Promise<HardwareView> {
    return presentHardware(await this.readHardware.read(instanceQuery('vm', path, query)));
  }

  @Needs(vm('change'))
  @Post('volumes/:vol/move')
  @Describe('Moves a disk of a running VM to another storage. The VM keeps running.', answer(202, AcceptedView))
  @HttpCode(202)
  move(
    @Param() path: VolumePath,
    @Body() { storage }: MoveDiskDto,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<AcceptedView | PlanView> {
    const disk = { volume: path.vol, storage };
    return request.answer(query, this.moveDisk, [instanceQuery('vm', path, query), disk], (task) => ({
      task,
      status: 'ok',
    }));
  }

  @Needs(vm('change'))
  @Post('nics/:iface')
  @Describe('Moves a NIC to another network, or plugs or unplugs its cable.', answer(200, HardwareStatusView))
  @HttpCode(200)
  changeNic(
    @Param() path: NicPath,
    @Body() { nad, link }: ChangeNicDto,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<HardwareStatusView | PlanView> {
    const change = nicChange(path.iface, nad, link === undefined ? undefined : link === 'up');
    return request.answer(query, this.changeHardware, [instanceQuery('vm', path, query), change], presentStatus('ok'));
  }

  @Needs(vm('change'))
  @Delete('nics/:iface')
  @Describe('Removes a NIC.', answer(200, HardwareStatusView))
  removeNic(
    @Param() path: NicPath,
    @Body() _body: EmptyBody,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<HardwareStatusView | PlanView> {
    const change = { kind: 'remove-nic', nic: path.iface } as const;
    return request.answer(
      query,
      this.changeHardware,
      [instanceQuery('vm', path, query), change],
      presentStatus('removed'),
    );
  }

  @Needs(vm('change', { also: { action: 'change', field: 'pvc' } }))
  @Post('drives/:drive')
  @Describe('Inserts a volume into a CD-ROM drive, or ejects the one in it.', answer(200, HardwareStatusView))
  @HttpCode(200)
  changeMedium(
    @Param() path: DrivePath,
    @Body() { pvc }: ChangeMediumDto,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<HardwareStatusView | PlanView> {
    const change = { kind: 'change-medium', drive: path.drive, volume: pvc } as const;
    return request.answer(query, this.changeHardware, [instanceQuery('vm', path, query), change], presentStatus('ok'));
  }

  @Needs(vm('change'))
  @Post('boot-order')
  @Describe('Sets the devices that the VM boots from, in their order.', answer(200, HardwareStatusView))
  @HttpCode(200)
  setBootOrder(
    @Param() path: InstancePath,
    @Body() { devices }: BootOrderDto,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<HardwareStatusView | PlanView> {
    const change = { kind: 'set-boot-order', devices } as const;
    return request.answer(query, this.changeHardware, [instanceQuery('vm', path, query), change], presentStatus('ok'));
  }

  @Needs(vm('change'))
  @Post('autostart')
  @Describe('Decides whether the VM is started with its host.', answer(200, HardwareStatusView))
  @HttpCode(200)
  setAutostart(
    @Param() path: InstancePath,
    @Body() { on }: AutostartDto,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<HardwareStatusView | PlanView> {
    const change = { kind: 'set-autostart', isOn: on } as const;
    return request.answer(query, this.changeHardware, [instanceQuery('vm', path, query), change], presentStatus('ok'));
  }
}
