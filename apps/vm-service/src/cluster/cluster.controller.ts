import { Controller, Get, Res } from '@nestjs/common';
import { CapabilitiesView, InstancetypesView, NodeView } from '@headgate/api-contracts';
import type { ClusterNode } from '@headgate/domain-contracts';
import { MetricsSampler, type NodeLoad } from '@headgate/metrics';
import type { FastifyReply } from 'fastify';
import { QueryBackends } from './query-backends.js';
import { ReadCapabilities } from './read-capabilities.js';
import { answer, answerList, Describe } from '../platform/answers.decorator.js';

/** The nodes and instancetypes of the backends, and their capabilities. */
@Controller('api')
export class ClusterController {
  constructor(
    private readonly backends: QueryBackends,
    private readonly readCapabilities: ReadCapabilities,
    private readonly metrics: MetricsSampler,
  ) {}

  @Get('nodes')
  @Describe('The machines that run guests, with their capacity and load.', answerList(200, NodeView))
  async nodes(@Res({ passthrough: true }) reply: FastifyReply): Promise<NodeView[]> {
    const answers = await this.backends.all(reply, async (backend) => {
      const nodes = await backend.require('cluster').nodes();
      return nodes.map((node) => presentNode(node, backend.context, this.metrics.nodeLoad(backend.context, node.name)));
    });
    return answers.flat();
  }

  @Get('capabilities')
  @Describe('The capabilities of each context, with a reason for each missing one.', answer(200, CapabilitiesView))
  capabilities(): Promise<CapabilitiesView> {
    return this.readCapabilities.read();
  }

  @Get('instancetypes')
  @Describe('Cluster instancetypes and preferences.', answer(200, InstancetypesView))
  async instancetypes(@Res({ passthrough: true }) reply: FastifyReply): Promise<InstancetypesView> {
    const answers = await this.backends.all(reply, async (backend) => backend.require('cluster').instancetypes());
    return {
      instancetypes: merged(answers.map((answer) => answer.instancetypes)),
      preferences: merged(answers.map((answer) => answer.preferences)),
    };
  }
}

const presentNode = (
  { cpuMillicores, memoryBytes, ...node }: ClusterNode,
  context: string,
  load: NodeLoad | undefined,
): NodeView => ({
  ...node,
  context,
  capacity: { cpu: cpuMillicores, memoryBytes },
  load: { cpu: load?.cpuMillicores ?? null, memoryBytes: load?.memoryUsedBytes ?? null },
});

const merged = (lists: readonly (readonly string[])[]): string[] => [...new Set(lists.flat())].sort();
