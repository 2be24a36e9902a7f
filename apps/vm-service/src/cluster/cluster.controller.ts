import { Controller, Get, Query, Res } from '@nestjs/common';
import { sharedData } from '@headgate/access';
import { CapabilitiesView, ContextQuery, InstancetypesView, NetworkView, NodeView } from '@headgate/api-contracts';
import type { ClusterNode } from '@headgate/domain-contracts';
import { MetricsSampler, type NodeLoad } from '@headgate/metrics';
import { formatBytes, type Backend } from '@headgate/domain-contracts';
import type { FastifyReply } from 'fastify';
import { QueryBackends } from '../fleet/query-backends.js';
import { ReadCapabilities } from './read-capabilities.js';
import { Needs } from '../platform/needs.decorator.js';
import { answer, answerList, Describe } from '../platform/answers.decorator.js';

/** The nodes and instancetypes of the backends, and their capabilities. */
@Controller('api')
export class ClusterController {
  constructor(
    private readonly backends: QueryBackends,
    private readonly readCapabilities: ReadCapabilities,
    private readonly metrics: MetricsSampler,
  ) {}

  @Needs(sharedData)
  @Get('nodes')
  @Describe('The machines that run guests, with their capacity and load.', answerList(200, NodeView, 'svc-partial'))
  async nodes(@Res({ passthrough: true }) reply: FastifyReply): Promise<NodeView[]> {
    return this.backends.list(reply, async (backend) => {
      const nodes = await backend.require('cluster').nodes();
      return nodes.map((node) => presentNode(node, backend.context, this.metrics.nodeLoad(backend.context, node.name)));
    });
  }

  @Needs(sharedData)
  @Get('capabilities')
  @Describe('The capabilities of each context, with a reason for each missing one.', answer(200, CapabilitiesView))
  capabilities(): Promise<CapabilitiesView> {
    return this.readCapabilities.read();
  }

  @Needs(sharedData)
  @Get('instancetypes')
  @Describe('Cluster instancetypes with their sizes, and preferences.', answer(200, InstancetypesView, 'svc-partial'))
  async instancetypes(
    @Query() { context }: ContextQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<InstancetypesView> {
    const ask = async (backend: Backend) => backend.require('cluster').instancetypes();
    const answers = await this.backends.all(reply, ask, context);
    const sizes = new Map(answers.flatMap((answer) => answer.sizes).map((size) => [size.name, size]));
    return {
      instancetypes: merged(answers.map((answer) => answer.instancetypes)),
      preferences: merged(answers.map((answer) => answer.preferences)),
      sizes: [...sizes.values()]
        .map(({ name, cpu, memoryBytes }) => ({ name, cpu, mem: formatBytes(memoryBytes) }))
        .sort((a, b) => (a.name < b.name ? -1 : 1)),
    };
  }

  @Needs(sharedData)
  @Get('nads')
  @Describe(
    'The networks that cards can be attached to: network attachment definitions, and networks of libvirt.',
    answerList(200, NetworkView, 'svc-partial'),
  )
  async networks(
    @Query() { context: wanted }: ContextQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<NetworkView[]> {
    const ask = async (backend: Backend) => {
      const { context } = backend;
      const networks = await backend.require('cluster').networks();
      return networks.map(({ namespace, name }) => ({ namespace, name, ref: `${namespace}/${name}`, context }));
    };
    return this.backends.list(reply, ask, wanted);
  }
}

const presentNode = (
  { name, ready, roles, kubelet, arch, cpuMillicores, memoryBytes }: ClusterNode,
  context: string,
  load: NodeLoad | undefined,
): NodeView => ({
  name,
  ready,
  roles,
  kubelet,
  arch,
  context,
  capacity: { cpu: cpuMillicores, memoryBytes },
  load: { cpu: load?.cpuMillicores ?? null, memoryBytes: load?.memoryUsedBytes ?? null },
});

const merged = (lists: readonly (readonly string[])[]): string[] => [...new Set(lists.flat())].sort();
