import type { EventObject } from '../event-recorder.js';
import type { KubeObject } from '../kube-object.js';
import type { ResourceDefinition } from '../resource-definition.js';
import { integer, object, string, time } from '../schema/schema-builders.js';
import { age } from '../table/human-duration.js';
import { builtIn } from './built-in.js';
import { column } from './column.js';
import { objectReference } from './shared-schemas.js';

type CoreEvent = EventObject & {
  eventTime?: string | null;
  reportingComponent?: string;
  reportingInstance?: string;
  series?: { count: number; lastObservedTime: string };
};

const source = object({ component: string(), host: string() });
const series = object({ count: integer(), lastObservedTime: time() });

const common = {
  reason: string('The reason as a single CamelCase word.'),
  type: string('Normal or Warning.'),
  action: string(),
  eventTime: time(),
  series,
  related: objectReference,
  reportingInstance: string(),
};

const coreSchema = object(
  {
    ...common,
    involvedObject: objectReference,
    message: string('A description of the event.'),
    source,
    firstTimestamp: time(),
    lastTimestamp: time(),
    count: integer(),
    reportingComponent: string(),
  },
  [],
  'A report of an event in the cluster.',
);

const newSchema = object(
  {
    ...common,
    regarding: objectReference,
    note: string('A description of the event.'),
    deprecatedSource: source,
    deprecatedFirstTimestamp: time(),
    deprecatedLastTimestamp: time(),
    deprecatedCount: integer(),
    reportingController: string(),
  },
  [],
  'A report of an event in the cluster.',
);

const lastSeen = ({ series: repeated, lastTimestamp, eventTime, metadata }: CoreEvent): string | undefined =>
  repeated?.lastObservedTime ?? lastTimestamp ?? eventTime ?? metadata.creationTimestamp;

const columns = [
  column<CoreEvent>('Last Seen', (event, nowMs) => age(lastSeen(event), nowMs)),
  column<CoreEvent>('Type', ({ type }) => type),
  column<CoreEvent>('Reason', ({ reason }) => reason),
  column<CoreEvent>('Object', ({ involvedObject: { kind, name } }) => `${kind.toLowerCase()}/${name}`),
  column<CoreEvent>('Subobject', () => '', 1),
  column<CoreEvent>(
    'Source',
    ({ source: by, reportingComponent }) => [by?.component ?? reportingComponent, by?.host].filter(Boolean).join(', '),
    1,
  ),
  column<CoreEvent>('Message', ({ message }) => message?.trim() ?? ''),
];

const REFERENCE_FIELDS = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'] as const;

function selectable(reference: string): NonNullable<ResourceDefinition['selectableFields']> {
  const references = REFERENCE_FIELDS.map((field) => [
    `${reference}.${field}`,
    (event: KubeObject) =>
      String((event as unknown as { involvedObject?: Record<string, unknown> }).involvedObject?.[field] ?? ''),
  ]);
  return {
    ...(Object.fromEntries(references) as NonNullable<ResourceDefinition['selectableFields']>),
    reason: (event) => (event as CoreEvent).reason ?? '',
    type: (event) => (event as CoreEvent).type ?? '',
    source: (event) => (event as CoreEvent).source?.component ?? (event as CoreEvent).reportingComponent ?? '',
    reportingComponent: (event) => (event as CoreEvent).reportingComponent ?? '',
    reportingController: (event) => (event as CoreEvent).reportingComponent ?? '',
  };
}

export const events: ResourceDefinition = builtIn({
  kind: 'Event',
  shortNames: ['ev'],
  schema: coreSchema,
  columns,
  selectableFields: selectable('involvedObject'),
});

/** Old name → new name, in both directions. */
const RENAMED: [string, string][] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
];

function renamed(object: KubeObject, names: [string, string][], apiVersion: string): KubeObject {
  const map = new Map(names);
  const fields = Object.entries(object).map(([name, value]) => [map.get(name) ?? name, value as unknown]);
  return { ...(Object.fromEntries(fields) as unknown as KubeObject), apiVersion };
}

/** The same events with the field names of events.k8s.io. */
export const newEvents: ResourceDefinition = {
  ...builtIn({
    group: 'events.k8s.io',
    kind: 'Event',
    shortNames: ['ev'],
    schema: newSchema,
    selectableFields: selectable('regarding'),
    aliasOf: 'events',
  }),
  versions: [
    {
      name: 'v1',
      served: true,
      schema: newSchema,
      columns: columns.map((each) => ({
        ...each,
        cell: (event, nowMs) =>
          each.cell!(
            renamed(
              event,
              RENAMED.map(([a, b]) => [b, a]),
              'v1',
            ),
            nowMs,
          ),
      })),
      fromStorage: (event) => renamed(event, RENAMED, 'events.k8s.io/v1'),
      toStorage: (event) =>
        renamed(
          event,
          RENAMED.map(([a, b]) => [b, a]),
          'v1',
        ),
    },
  ],
};
