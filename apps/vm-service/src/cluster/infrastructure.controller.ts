import { Controller, Get, Param, Query, Res } from '@nestjs/common';
import { sharedData } from '@headgate/access';
import {
  ContextQuery,
  NetworkDetailsView,
  NodeDetailsView,
  NodeFailureView,
  NodePath,
  NodeQuery,
  StorageView,
} from '@headgate/api-contracts';
import { BackendDirectory, type Caller } from '@headgate/domain-contracts';
import { FleetReader, nodePromises, type NodePromise } from '@headgate/fleet';
import { placeAffected } from '@headgate/instances';
import { MetricsSampler } from '@headgate/metrics';
import type { FastifyReply } from 'fastify';
import { QueryBackends } from '../fleet/query-backends.js';
import { answer, answerList, Describe } from '../platform/answers.decorator.js';
import { CurrentCaller } from '../platform/caller.decorator.js';
import { Needs } from '../platform/needs.decorator.js';
import { presentFailure, presentNetwork, presentNodeDetails, presentStorage } from './present-infrastructure.js';

/** The nodes, storages and networks of the backends with what uses them. */
@Controller('api/ext')
export class InfrastructureController {
  constructor(
    private readonly backends: QueryBackends,
    private readonly directory: BackendDirectory,
    private readonly fleet: FleetReader,
    private readonly metrics: MetricsSampler,
  ) {}

  @Needs(sharedData)
  @Get('nodes')
  @Describe(
    'The nodes with the resources that are promised to their instances.',
    answerList(200, NodeDetailsView, 'svc-partial'),
  )
  async nodes(
    @Query() { context: wanted }: ContextQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<NodeDetailsView[]> {
    await this.fleet.whenSynced();
    return this.backends.list(
      reply,
      async (backend) => {
        const { context } = backend;
        const nodes = await backend.require('cluster').nodes();
        const promised = this.promisesIn(context);
        return nodes.map((node) =>
          presentNodeDetails(node, {
            context,
            promised: promised.get(node.name),
            load: this.metrics.nodeLoad(context, node.name),
          }),
        );
      },
      wanted,
    );
  }

  @Needs(sharedData)
  @Get('nodes/:name/failure')
  @Describe(
    'Whether the running instances of a node would restart elsewhere if it failed, and the conditions that were not checked. Changes nothing.',
    answer(200, NodeFailureView),
  )
  async failure(
    @Param() { name }: NodePath,
    @Query() { context }: NodeQuery,
    @CurrentCaller() { grant }: Caller,
  ): Promise<NodeFailureView> {
    const cluster = this.directory.get(context).require('cluster');
    const [{ cpusPerCpu, instances, unchecked }, nodes] = await Promise.all([cluster.failureOf(name), cluster.nodes()]);
    const placed = placeAffected(instances, { cpusPerCpu, nodes, promised: this.promisesIn(context) });
    return presentFailure(placed, { node: name, context, unchecked, grant });
  }

  @Needs(sharedData)
  @Get('storage')
  @Describe(
    'The storage pools of libvirt and the storage classes of clusters, with their space where it is known.',
    answerList(200, StorageView, 'svc-partial'),
  )
  async storage(
    @Query() { context: wanted }: ContextQuery,
    @CurrentCaller() { grant }: Caller,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<StorageView[]> {
    return this.backends.list(
      reply,
      async (backend) => {
        const storages = await backend.require('cluster').storages();
        return storages.map((storage) => presentStorage(storage, backend.context, grant));
      },
      wanted,
    );
  }

  @Needs(sharedData)
  @Get('networks')
  @Describe(
    'The networks of libvirt and the network attachment definitions of clusters, with the instances that use them.',
    answerList(200, NetworkDetailsView, 'svc-partial'),
  )
  async networks(
    @Query() { context: wanted }: ContextQuery,
    @CurrentCaller() { grant }: Caller,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<NetworkDetailsView[]> {
    return this.backends.list(
      reply,
      async (backend) => {
        const networks = await backend.require('cluster').networkDetails();
        return networks.map((network) => presentNetwork(network, backend.context, grant));
      },
      wanted,
    );
  }

  private promisesIn(context: string): ReadonlyMap<string, NodePromise> {
    return nodePromises(context, [...this.fleet.all('vm'), ...this.fleet.all('ct')]);
  }
}
