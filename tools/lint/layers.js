/**
 * Which layer may import which. A project's tags are in its package.json (`nx.tags`): one `type:` for its layer, one
 * `scope:` for the system it belongs to, one `platform:` for where it runs. journal-chain is of two layers, because the
 * service writes the chain and the command line checks it.
 */
const types = {
  'type:app': ['type:feature', 'type:adapter', 'type:driver', 'type:sandbox', 'type:nest', 'type:domain', 'type:wire'],
  'type:ui': ['type:wire'],
  'type:e2e': ['type:wire', 'type:testing', 'type:domain', 'type:sandbox'],
  'type:feature': ['type:domain'],
  'type:adapter': ['type:domain', 'type:driver'],
  'type:driver': [],
  'type:sandbox': ['type:sandbox'],
  'type:nest': ['type:nest', 'type:domain', 'type:driver'],
  'type:testing': ['type:domain', 'type:wire'],
  'type:domain': ['type:domain'],
  'type:wire': ['type:wire', 'type:domain'],
};

const scopes = {
  'scope:vm': ['scope:vm', 'scope:shared'],
  'scope:limits': ['scope:limits', 'scope:shared'],
  'scope:shared': ['scope:shared'],
};

const platforms = {
  'platform:web': ['platform:web', 'platform:any'],
  'platform:node': ['platform:node', 'platform:any'],
  'platform:any': ['platform:any'],
};

const constraints = (table, extra = []) =>
  Object.entries(table).map(([sourceTag, tags]) => ({ sourceTag, onlyDependOnLibsWithTags: [...tags, ...extra] }));

/** Nest, and the server under it, live in the applications and in `type:nest` only. */
const withoutFrameworks = (constraint) =>
  ['type:app', 'type:nest', 'type:e2e'].includes(constraint.sourceTag)
    ? constraint
    : { ...constraint, bannedExternalImports: ['@nestjs/*', 'fastify', '@fastify/*'] };

export const layers = [...constraints(types).map(withoutFrameworks), ...constraints(scopes), ...constraints(platforms)];

/** A spec may also use the contract suites and builders of `testing`, and the sandbox as the other side of the wire. */
export const layersInSpecs = [
  ...constraints(types, ['type:testing', 'type:sandbox']).map(withoutFrameworks),
  ...constraints(scopes, ['scope:vm', 'scope:limits']),
  ...constraints(platforms, ['platform:node']),
];
