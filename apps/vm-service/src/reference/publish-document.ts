import type { INestApplication } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import { consolePaths } from './console-paths.js';
import { journalStream, listStream, taskStream, topicStream, type StreamDescription } from './event-stream-paths.js';
import { openapiDocument, type Operation } from './openapi-document.js';
import type { ClassDescription } from './read-descriptions.js';
import { SECURITY, SECURITY_SCHEMES } from './security-schemes.js';
import { TAGS } from './tags.js';

/** Pages and scripts are no part of the API. */
const PAGE_TYPES: ReadonlySet<string> = new Set([
  'text/html',
  'text/css',
  'text/javascript',
  'application/manifest+json',
  'image/svg+xml',
]);
/** The other files of the console, some of which have types that the API has as well. */
const PAGE_FOLDER = '/api/ext/page/';

const STREAM_TYPE = 'text/event-stream';
const STREAMS: Readonly<Record<string, StreamDescription>> = {
  '/api/vms': listStream('VmView'),
  '/api/cts': listStream('ContainerView'),
  '/api/tasks/{id}': taskStream,
  '/api/ext/stream': topicStream,
  '/api/ext/journal/stream': journalStream,
};

/** Parameters of paths that no DTO class has. */
const PARAMETERS: Readonly<Record<string, string>> = {
  id: 'The ID of the task.',
  task: 'The ID of the bulk task.',
};

const SERVERS = [
  { url: '/', description: 'The service that serves this document.' },
  { url: 'http://127.0.0.1:8006', description: 'The default address, for clients on the same machine.' },
];

/** Routes that answer every client. */
const PUBLIC_PATHS: ReadonlySet<string> = new Set(['/healthz', '/readyz']);

/**
 * The API document that clients are generated from: without the pages, with the consoles, the servers, the ways to
 * authenticate and everything else that the routes do not say themselves.
 * @param descriptions the docstrings of the DTO classes
 * @throws Error when a route has no `@Describe`, or a tag or an event stream no description
 */
export function publishDocument(
  app: INestApplication,
  version: string,
  descriptions: ReadonlyMap<string, ClassDescription>,
): OpenAPIObject {
  const { paths, components, ...document } = openapiDocument(app, version, descriptions);
  const documented = {
    ...Object.fromEntries(Object.entries(paths).filter(([path, item]) => !isPage(path, item.get))),
    ...consolePaths(descriptions),
  };
  const tags = new Set<string>();
  for (const [path, item] of Object.entries(documented))
    for (const operation of Object.values(item) as Operation[]) {
      complete(path, operation);
      for (const tag of operation.tags ?? []) tags.add(tag);
    }
  return {
    ...document,
    info: { ...document.info, contact: { name: 'Headgate' } },
    servers: SERVERS,
    security: SECURITY,
    tags: [...tags].sort().map((name) => ({ name, description: descriptionOf(name) })),
    paths: sorted(documented),
    components: { ...components, securitySchemes: SECURITY_SCHEMES },
  };
}

const isPage = (path: string, operation: Operation | undefined): boolean =>
  path.startsWith(PAGE_FOLDER) ||
  (mediaOf(operation).length > 0 && mediaOf(operation).every((type) => PAGE_TYPES.has(type)));

const mediaOf = (operation: Operation | undefined): string[] => {
  const done = operation?.responses['200'];
  return done && 'content' in done ? Object.keys(done.content ?? {}) : [];
};

function complete(path: string, operation: Operation): void {
  const { summary = '', parameters = [] } = operation;
  operation.description ??= summary;
  operation.summary = firstSentence(summary);
  for (const parameter of parameters) if ('in' in parameter) parameter.description ??= PARAMETERS[parameter.name] ?? '';
  if (PUBLIC_PATHS.has(path)) operation.security = [];
  describeStream(path, operation);
  describeEtag(operation);
}

/** `Lists VMs; with …` → `Lists VMs` */
const firstSentence = (text: string): string => (/^.*?(?=[.;] |\.$|$)/.exec(text)?.[0] ?? text).trim();

/** A stream is an extension, because a generator would take it for another form of the response, and type neither. */
function describeStream(path: string, operation: Operation): void {
  const done = operation.responses['200'];
  if (!done || !('content' in done) || !done.content?.[STREAM_TYPE]) return;
  const stream = STREAMS[path];
  if (!stream) throw new Error(`${path} is an event stream without a description: add it to publish-document.ts`);
  delete done.content[STREAM_TYPE];
  Object.assign(operation, { 'x-event-stream': stream });
}

function describeEtag(operation: Operation): void {
  const done = operation.responses['200'];
  if (!done || !('headers' in done) || !done.headers?.['ETag']) return;
  operation.responses['304'] = { description: 'The body has not changed since the version of If-None-Match.' };
  (operation.parameters ??= []).push({
    name: 'If-None-Match',
    in: 'header',
    required: false,
    description: 'The ETag of the body that the client has.',
    schema: { type: 'string' },
  });
}

function descriptionOf(tag: string): string {
  const description = TAGS[tag];
  if (description === undefined) throw new Error(`The tag ${tag} has no description: add it to tags.ts`);
  return description;
}

const sorted = <T>(record: Record<string, T>): Record<string, T> =>
  Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
