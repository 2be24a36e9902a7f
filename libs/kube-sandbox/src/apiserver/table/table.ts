import type { KubeObject } from '../kube-object.js';
import type { PrinterColumn, ResourceVersion } from '../resource-definition.js';
import { age } from './human-duration.js';
import { evaluateJsonPath } from './json-path.js';

const NAME_COLUMN: PrinterColumn = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'Name of the object; it must be unique within its namespace.',
  cell: ({ metadata }) => metadata.name,
};

const AGE_COLUMN: PrinterColumn = {
  name: 'Age',
  type: 'date',
  description: 'Time since the object was created.',
  jsonPath: '.metadata.creationTimestamp',
};

export type IncludeObject = 'None' | 'Metadata' | 'Object';

export interface TableOptions {
  /** The version of meta.k8s.io: `v1`, `v1beta1`. */
  version: string;
  includeObject: IncludeObject;
  nowMs: number;
  metadata?: object;
  /** A watch sends the column definitions only once. */
  withoutColumns?: boolean;
}

/** The columns of a version; the name is the first. */
export function columnsOf({ columns = [AGE_COLUMN] }: Pick<ResourceVersion, 'columns'>): PrinterColumn[] {
  return columns.some(({ name }) => name === 'Name') ? columns : [NAME_COLUMN, ...columns];
}

/** A `Table` of objects, as printed by `kubectl get`. */
export function tableOf(
  objects: KubeObject[],
  version: Pick<ResourceVersion, 'columns'>,
  options: TableOptions,
): object {
  const columns = columnsOf(version);
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${options.version}`,
    metadata: options.metadata ?? {},
    columnDefinitions: options.withoutColumns ? [] : columns.map(describe),
    rows: objects.map((object) => ({
      cells: columns.map((column) => cellOf(column, object, options.nowMs)),
      ...(options.includeObject === 'None' ? {} : { object: shown(object, options) }),
    })),
  };
}

function describe({ name, type, format, description, priority }: PrinterColumn): object {
  return {
    name,
    type: type === 'date' ? 'string' : type,
    format: format ?? '',
    description: description ?? '',
    priority: priority ?? 0,
  };
}

function cellOf({ jsonPath, type, cell }: PrinterColumn, object: KubeObject, nowMs: number): unknown {
  if (cell) return cell(object, nowMs);
  const values = evaluateJsonPath(object, jsonPath ?? '').filter((value) => value !== null);
  if (values.length === 0)
    return type === 'date' && jsonPath === AGE_COLUMN.jsonPath ? '<unknown>' : type === 'string' ? '' : null;
  if (type === 'date') return age(String(values[0]), nowMs);
  const [value] = values;
  if (type !== 'string') return value;
  return values.map((each) => (typeof each === 'object' ? JSON.stringify(each) : String(each))).join(',');
}

function shown(object: KubeObject, { includeObject, version }: TableOptions): object {
  return includeObject === 'Object' ? object : partialMetadata(object, version);
}

export function partialMetadata({ metadata }: KubeObject, version: string): object {
  return { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${version}`, metadata };
}
