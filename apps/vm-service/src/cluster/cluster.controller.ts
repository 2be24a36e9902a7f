import { Controller, Get, Res } from '@nestjs/common';
import { CapabilitiesView, CatalogEntryView, InstancetypesView, NodeView } from '@headgate/api-contracts';
import { BackendDirectory, ImageCatalog } from '@headgate/domain-contracts';
import type { FastifyReply } from 'fastify';
import { AskBackends } from './ask-backends.js';
import { ReadCapabilities } from './read-capabilities.js';
import { answer, answerList, Describe } from '../platform/answers.decorator.js';

/** What the backends consist of and what they can do. */
@Controller('api')
export class ClusterController {
  constructor(
    private readonly ask: AskBackends,
    private readonly capabilitiesOf: ReadCapabilities,
    private readonly backends: BackendDirectory,
    private readonly catalog: ImageCatalog,
  ) {}

  @Get('nodes')
  @Describe('The machines that guests run on.', answerList(200, NodeView))
  async nodes(@Res({ passthrough: true }) reply: FastifyReply): Promise<NodeView[]> {
    const answers = await this.ask.all(reply, async (backend) => {
      const nodes = await backend.require('cluster').nodes();
      return nodes.map((node) => ({ ...node, context: backend.context }));
    });
    return answers.flat();
  }

  @Get('capabilities')
  @Describe('What each context can do, and why not.', answer(200, CapabilitiesView))
  capabilities(): Promise<CapabilitiesView> {
    return this.capabilitiesOf.read();
  }

  @Get('instancetypes')
  @Describe('Cluster instancetypes and preferences.', answer(200, InstancetypesView))
  async instancetypes(@Res({ passthrough: true }) reply: FastifyReply): Promise<InstancetypesView> {
    const answers = await this.ask.all(reply, async (backend) => backend.require('cluster').instancetypes());
    return {
      instancetypes: merged(answers.map((answer) => answer.instancetypes)),
      preferences: merged(answers.map((answer) => answer.preferences)),
    };
  }

  @Get('images')
  @Describe('The image catalog.', answerList(200, CatalogEntryView))
  images(): CatalogEntryView[] {
    const canTakeTiny = this.backends.all().some(({ kind }) => kind === 'libvirt');
    return this.catalog
      .entries()
      .filter(({ builtLocally }) => builtLocally === undefined || canTakeTiny)
      .map(({ name, description, containerDisk, defaultUser, custom }) => ({
        name,
        description,
        containerDisk,
        defaultUser,
        custom,
      }));
  }
}

const merged = (lists: readonly (readonly string[])[]): string[] => [...new Set(lists.flat())].sort();
