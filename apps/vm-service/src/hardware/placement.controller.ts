import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { everything, vm } from '@headgate/access';
import {
  AttachHostDeviceDto,
  ChangeQuery,
  ContextQuery,
  EmptyBody,
  HardwareStatusView,
  HostDevicePath,
  HostResourcesView,
  InstancePath,
  PlacementDto,
  PlacementQuery,
  type PlanView,
} from '@headgate/api-contracts';
import { ChangeHardware, placementChange } from '@headgate/instances';
import type { FastifyReply } from 'fastify';
import { QueryBackends } from '../fleet/query-backends.js';
import { instanceQuery } from '../instances/instance-request.js';
import { Needs } from '../platform/needs.decorator.js';
import { answer, Describe } from '../platform/answers.decorator.js';
import { Changing, ChangeRequest } from '../platform/change-request.js';
import { presentStatus } from './present-hardware.js';
import { placementSettings, presentHostDevice, presentTopology } from './present-placement.js';

/** Where VMs are on their hosts, and the devices of the hosts that are passed through to them. */
@Controller('api/ext/vms/:ns/:name')
export class PlacementController {
  constructor(private readonly changeHardware: ChangeHardware) {}

  // CPUs, memory and devices of the host are taken from other VMs, or from the host itself.
  @Needs(vm('change', { also: { action: 'manage' } }))
  @Post('placement')
  @Describe('Places the CPUs and the memory of a VM: pins, NUMA nodes, hugepages.', answer(200, HardwareStatusView))
  @HttpCode(200)
  place(
    @Param() path: InstancePath,
    @Body() body: PlacementDto,
    @Query() query: PlacementQuery,
    @Changing() request: ChangeRequest,
  ): Promise<HardwareStatusView | PlanView> {
    const change = placementChange(placementSettings(body), query.restart === 'true');
    return request.answer(query, this.changeHardware, [instanceQuery('vm', path, query), change], presentStatus('ok'));
  }

  @Needs(vm('change', { also: { action: 'manage' } }))
  @Post('devices')
  @Describe('Passes a device of the host through to a VM.', answer(200, HardwareStatusView))
  @HttpCode(200)
  attach(
    @Param() path: InstancePath,
    @Body() { device }: AttachHostDeviceDto,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<HardwareStatusView | PlanView> {
    const change = { kind: 'attach-host-device', device } as const;
    return request.answer(query, this.changeHardware, [instanceQuery('vm', path, query), change], presentStatus('ok'));
  }

  @Needs(vm('change', { also: { action: 'manage' } }))
  @Delete('devices/:device')
  @Describe('Takes a device of the host back from a VM.', answer(200, HardwareStatusView))
  detach(
    @Param() path: HostDevicePath,
    @Body() _body: EmptyBody,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<HardwareStatusView | PlanView> {
    const change = { kind: 'detach-host-device', name: path.device } as const;
    return request.answer(
      query,
      this.changeHardware,
      [instanceQuery('vm', path, query), change],
      presentStatus('removed'),
    );
  }
}

/** The hosts as VMs are placed on them. */
@Controller('api/ext')
export class HostResourcesController {
  constructor(private readonly backends: QueryBackends) {}

  @Needs(everything('manage', { doing: 'Listing the devices of hosts' }))
  @Get('host-resources')
  @Describe(
    'The CPUs, NUMA nodes and hugepages of the hosts, and their devices that can be passed through; for administrators.',
    answer(200, HostResourcesView),
  )
  async read(
    @Query() { context: wanted }: ContextQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<HostResourcesView> {
    const answers = await this.backends.all(
      reply,
      async (backend) => {
        const { context } = backend;
        const resources = backend.require('hostResources');
        const [hosts, devices] = await Promise.all([resources.topology(), resources.devices()]);
        return {
          hosts: hosts.map((host) => presentTopology(host, context)),
          devices: devices.map((device) => presentHostDevice(device, context)),
        };
      },
      wanted,
    );
    return { hosts: answers.flatMap(({ hosts }) => hosts), devices: answers.flatMap(({ devices }) => devices) };
  }
}
