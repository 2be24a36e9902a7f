import { Controller, Get, Res } from '@nestjs/common';
import type { CapabilitiesView, CatalogEntryView, InstancetypesView, NodeView } from '@headgate/api-contracts';
import { BackendDirectory, ImageCatalog } from '@headgate/domain-contracts';
import type { FastifyReply } from 'fastify';
import { AskBackends } from './ask-backends.js';
import { ReadCapabilities } from './read-capabilities.js';

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
  async nodes(@Res({ passthrough: true }) reply: FastifyReply): Promise<NodeView[]> {
    const answers = await this.ask.all(reply, async (backend) => {
      const nodes = await backend.need('cluster').nodes();
      return nodes.map((node) => ({ ...node, context: backend.context }));
    });
    return answers.flat();
  }

  @Get('capabilities')
  capabilities(): Promise<CapabilitiesView> {
    return this.capabilitiesOf.read();
  }

  @Get('instancetypes')
  async instancetypes(@Res({ passthrough: true }) reply: FastifyReply): Promise<InstancetypesView> {
    const answers = await this.ask.all(reply, async (backend) => backend.need('cluster').instancetypes());
    return {
      instancetypes: merged(answers.map((answer) => answer.instancetypes)),
      preferences: merged(answers.map((answer) => answer.preferences)),
    };
  }

  @Get('images')
  images(): CatalogEntryView[] {
    const canTakeTiny = this.backends.all().some(({ kind }) => kind === 'libvirt');
    return this.catalog
      .entries()
      .filter(({ builtOnTheSpot }) => builtOnTheSpot === undefined || canTakeTiny)
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
