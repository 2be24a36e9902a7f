import { methodNotAllowed, unknownResource } from '../api-error.js';
import type { ResourceRegistry, ServedResource } from '../resource-registry.js';
import { sendPathNotFound } from './responses.js';
import type { ObjectReader } from './object-reader.js';
import type { ObjectWriter } from './object-writer.js';
import type { RequestContext } from './request-context.js';
import { handleScale } from './scale.js';
import type { SubresourceDispatch } from './subresource-dispatch.js';
import { EPHEMERAL_CONTAINERS } from '../builtin/pod.js';
import type { WritePipeline } from './write-pipeline.js';

/** Routes resource requests to their handlers. */
export class ResourceRouter {
  constructor(
    private readonly registry: ResourceRegistry,
    private readonly reader: ObjectReader,
    private readonly writer: ObjectWriter,
    private readonly pipeline: WritePipeline,
    private readonly subresources: SubresourceDispatch,
  ) {}

  async route(context: RequestContext): Promise<void> {
    const { info, warnings } = context;
    const served = this.registry.findServed(info.group, info.version, info.resource);
    if (served?.version.deprecationWarning) warnings.push(served.version.deprecationWarning);
    if (info.subresource.length > 0) return this.routeSubresource(context, served);
    if (!served) {
      // An endpoint of a group without an object, such as `/apis/subresources.kubevirt.io/v1/version`.
      if (info.name === undefined && (await this.subresources.handle(context))) return;
      return this.refuseUnknown(context);
    }
    checkScope(served, context);
    switch (info.verb) {
      case 'get':
        return this.reader.get(context, served);
      case 'list':
        return this.reader.list(context, served);
      case 'watch':
        return this.reader.watch(context, served);
      case 'create':
        if (info.name !== undefined) throw methodNotAllowed();
        return this.writer.create(context, served);
      case 'update':
        if (info.name === undefined) throw methodNotAllowed();
        return this.writer.update(context, served);
      case 'patch':
        if (info.name === undefined) throw methodNotAllowed();
        return this.writer.patch(context, served);
      case 'delete':
        return this.writer.delete(context, served);
      case 'deletecollection':
        return this.writer.deleteCollection(context, served);
      default:
        throw methodNotAllowed();
    }
  }

  private async routeSubresource(context: RequestContext, served: ServedResource | undefined): Promise<void> {
    const { info } = context;
    if (await this.subresources.handle(context)) return;
    const [subresource, ...rest] = info.subresource;
    if (!served || rest.length > 0) return this.refuseUnknown(context);
    const { statusSubresource, scale } = served.definition;
    const isStatus =
      (subresource === 'status' && statusSubresource) ||
      (subresource === 'finalize' && served.name === 'namespaces') ||
      (subresource === EPHEMERAL_CONTAINERS && served.name === 'pods');
    if (isStatus && info.verb === 'get') return this.reader.get(context, served);
    if (isStatus && info.verb === 'update') return this.writer.update(context, served, subresource);
    if (isStatus && info.verb === 'patch') return this.writer.patch(context, served, subresource);
    if (subresource === 'scale' && scale && ['get', 'update', 'patch'].includes(info.verb)) {
      return handleScale(context, served, scale, this.reader, this.pipeline);
    }
    if (isStatus || (subresource === 'scale' && scale)) throw methodNotAllowed();
    this.refuseUnknown(context);
  }

  /** A path below a built-in version gets a Status, any other one plain text. */
  private refuseUnknown(context: RequestContext): void {
    const { group, version } = context.info;
    const { resources = [] } =
      this.registry.groupVersions().find((each) => each.group === group && each.version === version) ?? {};
    if (resources.some(({ builtIn }) => builtIn)) throw unknownResource();
    sendPathNotFound(context);
  }
}

/** Only lists and watches of a namespaced resource may omit the namespace. */
function checkScope({ definition }: ServedResource, { info }: RequestContext): void {
  if (
    definition.handleCreate
      ? info.verb !== 'create'
      : definition.verbs && !(definition.verbs as string[]).includes(info.verb)
  )
    throw methodNotAllowed();
  if (definition.namespaced && info.namespace === undefined && !['list', 'watch'].includes(info.verb))
    throw methodNotAllowed();
}
