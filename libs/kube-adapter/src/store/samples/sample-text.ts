import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import {
  ERROR_CODES,
  type ErrorCode,
  type InstanceReading,
  type NodeReading,
  type SampleRound,
} from '@headgate/domain-contracts';

/** More than 200,000 instances. */
const MAX_JSON_BYTES = 67_108_864;

const INSTANCE_FIELDS = [
  'cpuTimeMs',
  'cpuMillicores',
  'memoryUsedBytes',
  'memoryTotalBytes',
  'diskReadBytes',
  'diskWrittenBytes',
  'networkReceivedBytes',
  'networkTransmittedBytes',
] as const satisfies readonly (keyof InstanceReading)[];
const NODE_FIELDS = ['cpuTimeMs', 'cpuMillicores', 'memoryUsedBytes'] as const satisfies readonly (keyof NodeReading)[];
const KINDS = ['vm', 'ct'] as const;

type Cell = string | number | null;

/** The JSON in the objects: rows without the names of their fields. */
interface RoundJson {
  readonly problem?: { readonly code: string; readonly message: string };
  /** Kind, namespace, name, and the values of INSTANCE_FIELDS. */
  readonly instances?: readonly (readonly Cell[])[];
  /** Name, and the values of NODE_FIELDS. */
  readonly nodes?: readonly (readonly Cell[])[];
}

/** The content of a round: JSON, compressed with gzip, in base64. About 60 bytes for each busy instance. */
export async function encodeRound({ readings, problem }: SampleRound): Promise<string> {
  const json: RoundJson = {
    problem,
    instances: readings?.instances.map((reading) => [
      reading.ref.kind,
      reading.ref.namespace,
      reading.ref.name,
      ...INSTANCE_FIELDS.map((field) => reading[field]),
    ]),
    nodes: readings?.nodes.map((reading) => [reading.name, ...NODE_FIELDS.map((field) => reading[field])]),
  };
  return (await promisify(gzip)(JSON.stringify(json))).toString('base64');
}

/** @throws Error for a text that is no round */
export async function decodeRound(text: string, context: string, time: number): Promise<SampleRound> {
  const bytes = await promisify(gunzip)(Buffer.from(text, 'base64'), { maxOutputLength: MAX_JSON_BYTES });
  const { problem, instances, nodes } = JSON.parse(bytes.toString('utf8')) as RoundJson;
  if (problem) return { context, time, problem: { code: errorCodeOf(problem.code), message: String(problem.message) } };
  if (!Array.isArray(instances) || !Array.isArray(nodes))
    throw new Error('The round has neither readings nor a problem.');
  return {
    context,
    time,
    readings: { instances: instances.map((row) => instanceOf(row, context)), nodes: nodes.map(nodeOf) },
  };
}

function instanceOf([kind, namespace, name, ...values]: readonly Cell[], context: string): InstanceReading {
  const known = KINDS.find((candidate) => candidate === kind);
  if (!known || typeof namespace !== 'string' || typeof name !== 'string') throw new Error('A row has no instance.');
  return { ref: { kind: known, context, namespace, name }, ...fieldsOf(INSTANCE_FIELDS, values) };
}

function nodeOf([name, ...values]: readonly Cell[]): NodeReading {
  if (typeof name !== 'string') throw new Error('A row has no node.');
  return { name, ...fieldsOf(NODE_FIELDS, values) };
}

function fieldsOf<K extends string>(fields: readonly K[], values: readonly Cell[]): Record<K, number | null> {
  const isValue = (value: Cell | undefined): value is number | null =>
    value === null || (typeof value === 'number' && value >= 0);
  if (values.length !== fields.length || !values.every(isValue))
    throw new Error('A row has other values than expected.');
  return Object.fromEntries(fields.map((field, index) => [field, values[index]])) as Record<K, number | null>;
}

const errorCodeOf = (code: string): ErrorCode => ERROR_CODES.find((known) => known === code) ?? 'BACKEND_FAILED';
