import { Controller, Get, Param, Query } from '@nestjs/common';
import { ContextQuery, InstancePath, PortsView } from '@headgate/api-contracts';
import { BackendDirectory, findInstance, InstanceDirectory, type InstanceSources } from '@headgate/domain-contracts';
import { instanceQuery } from '../instances/instance-request.js';
import { answer, Describe } from '../platform/answers.decorator.js';
import { Needs } from '../platform/needs.decorator.js';
import { PORTS } from './ports-need.js';

/** What a client needs before it connects to a port. */
@Controller('api/ext/vms/:ns/:name')
export class PortsController {
  private readonly sources: InstanceSources;

  constructor(directory: InstanceDirectory, backends: BackendDirectory) {
    this.sources = { directory, backends };
  }

  @Needs(PORTS)
  @Get('ports')
  @Describe('How the ports of a VM are connected to, and which VM has the name.', answer(200, PortsView))
  view(@Param() path: InstancePath, @Query() query: ContextQuery): PortsView {
    const { uid, ability } = findInstance(this.sources, instanceQuery('vm', path, query), 'guestPorts');
    return { uid, passesEnd: ability.passesEnd };
  }
}
